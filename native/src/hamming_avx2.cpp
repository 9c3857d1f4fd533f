// Look-ups instead of population counts: AVX2 has no vector popcount, but vpshufb looks
// up 32 nibbles at once. For each nibble of a query there is a table of its distance to
// the 16 possible nibbles; with the codes arranged so that a register holds the same
// nibble of 32 codes, one look-up and one addition advance 32 distances by four bits.

#include <immintrin.h>

#include "hamming_rows.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kLane = 32;    // codes in a register
constexpr std::size_t kChunk = 63;   // nibbles whose distances fit into a byte
constexpr std::size_t kNarrow = 16;  // bytes up to which tiles are long, not wide

constexpr std::size_t tile_rows(std::size_t bytes) {
    return bytes <= kNarrow ? 4 * kLane : 2 * kLane;
}

/// Narrow blocks stay in L1; wide ones in L2, so that the tables of a few queries,
/// which are wide too, stay in L1 while a block streams past them.
std::size_t block_rows(std::size_t bytes) {
    const std::size_t budget = bytes <= kNarrow ? 16384 : 131072;
    const std::size_t tile = tile_rows(bytes);
    const std::size_t tiles = budget / (2 * bytes * tile);
    return tile * (tiles ? tiles : 1);
}

std::size_t block_bytes(std::size_t bytes) { return block_rows(bytes) * 2 * bytes; }

/// Transpose 16 codes by 8 bytes: out[b] holds byte b of codes 0..15.
inline void transpose_16x8(const __m128i (&codes)[16], __m128i (&out)[8]) {
    __m128i a[8], b[8];
    for (int i = 0; i < 8; ++i) a[i] = _mm_unpacklo_epi8(codes[i], codes[i + 8]);
    for (int i = 0; i < 4; ++i) {
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 4]);
    }
    // b[2 i + h]: bytes 4 h .. 4 h + 3 of codes i, i + 4, i + 8, i + 12.
    for (int i = 0; i < 2; ++i) {
        for (int h = 0; h < 2; ++h) {
            a[4 * i + 2 * h] = _mm_unpacklo_epi8(b[2 * i + h], b[2 * (i + 2) + h]);
            a[4 * i + 2 * h + 1] = _mm_unpackhi_epi8(b[2 * i + h], b[2 * (i + 2) + h]);
        }
    }
    // a[4 i + p]: bytes 2 p and 2 p + 1 of codes i, i + 2, ..., i + 14.
    for (int p = 0; p < 4; ++p) {
        out[2 * p] = _mm_unpacklo_epi8(a[p], a[4 + p]);
        out[2 * p + 1] = _mm_unpackhi_epi8(a[p], a[4 + p]);
    }
}

/// Arrange up to 8 bytes of up to 16 codes; missing codes are zero.
inline void arrange_16(Codes block, std::size_t row, std::size_t byte,
                       std::size_t stride, std::uint8_t* out) {
    const std::size_t width = block.bytes - byte < 8 ? block.bytes - byte : 8;
    __m128i codes[16], columns[8];
    for (std::size_t i = 0; i < 16; ++i) {
        std::uint64_t word = 0;
        if (row + i < block.rows) {
            const std::uint8_t* p = block.data + (row + i) * block.bytes + byte;
            word = width == 8 ? load_word(p) : load_tail(p, width);
        }
        codes[i] = _mm_cvtsi64_si128(static_cast<long long>(word));
    }
    transpose_16x8(codes, columns);
    const __m128i low = _mm_set1_epi8(15);
    for (std::size_t b = 0; b < width; ++b) {
        const __m128i high = _mm_and_si128(_mm_srli_epi16(columns[b], 4), low);
        auto* nibbles = reinterpret_cast<__m128i*>(out + 2 * b * stride);
        _mm_storeu_si128(nibbles, high);
        nibbles = reinterpret_cast<__m128i*>(out + (2 * b + 1) * stride);
        _mm_storeu_si128(nibbles, _mm_and_si128(columns[b], low));
    }
}

/// Tile by tile, nibble by nibble, one byte for each code.
void arrange(Codes block, std::uint8_t* arranged) {
    const std::size_t tile = tile_rows(block.bytes);
    for (std::size_t row = 0; row < block.rows; row += tile) {
        std::uint8_t* out = arranged + row * 2 * block.bytes;
        for (std::size_t byte = 0; byte < block.bytes; byte += 8)
            for (std::size_t i = 0; i < tile; i += 16)
                arrange_16(block, row + i, byte, tile, out + 2 * byte * tile + i);
    }
}

std::size_t query_bytes(std::size_t bytes) { return 2 * bytes * 16; }

void prepare(const std::uint8_t* query, std::size_t bytes, std::uint8_t* tables) {
    for (std::size_t n = 0; n < 2 * bytes; ++n) {
        const unsigned nibble = n % 2 ? query[n / 2] & 15u : query[n / 2] >> 4u;
        for (unsigned x = 0; x < 16; ++x)
            tables[16 * n + x] =
                static_cast<std::uint8_t>(__builtin_popcount(nibble ^ x));
    }
}

inline __m256i load(const std::uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

inline __m256i load_table(const std::uint8_t* p) {
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

/// Distances in nibbles [begin, end), at most `kChunk` of them, of V registers of codes
/// to Q queries.
template <int Q, int V>
[[gnu::always_inline]] inline void sum_nibbles(const std::uint8_t* tables, std::size_t table_stride,
                                   const std::uint8_t* tile, std::size_t begin,
                                   std::size_t end, __m256i (&out)[Q][V]) {
    __m256i sums[Q][V];
    for (auto& row : sums)
        for (auto& sum : row) sum = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (std::size_t n = begin; n < end; ++n) {
        __m256i nibbles[V];
        for (int v = 0; v < V; ++v) {
            nibbles[v] = load(tile + (n * V + v) * kLane);
            // Stay in a register: loads are scarcer here than registers.
            asm("" : "+x"(nibbles[v]));
        }
        for (int q = 0; q < Q; ++q) {
            const __m256i table = load_table(tables + q * table_stride + 16 * n);
            for (int v = 0; v < V; ++v)
                sums[q][v] = _mm256_add_epi8(
                    sums[q][v], _mm256_shuffle_epi8(table, nibbles[v]));
        }
    }
    for (int q = 0; q < Q; ++q)
        for (int v = 0; v < V; ++v) out[q][v] = sums[q][v];
}

/// Add the distances in one more nibble; the sums saturate.
template <int Q, int V>
inline void add_nibble(const std::uint8_t* tables, std::size_t table_stride,
                       const std::uint8_t* tile, std::size_t n, __m256i (&sums)[Q][V]) {
    for (int q = 0; q < Q; ++q) {
        const __m256i table = load_table(tables + q * table_stride + 16 * n);
        for (int v = 0; v < V; ++v) {
            const __m256i nibbles = load(tile + (n * V + v) * kLane);
            sums[q][v] =
                _mm256_adds_epu8(sums[q][v], _mm256_shuffle_epi8(table, nibbles));
        }
    }
}

/// The same as a function of its own, so that the compiler keeps every sum in a register
/// where there are more values around than registers: a sum that lives in memory would
/// make each step wait for the store of the step before.
template <int Q, int V>
[[gnu::noinline]] void sum_chunk(const std::uint8_t* tables, std::size_t table_stride,
                                 const std::uint8_t* tile, std::size_t begin,
                                 std::size_t end, __m256i (&out)[Q][V]) {
    sum_nibbles<Q, V>(tables, table_stride, tile, begin, end, out);
}

/// The distance of one code, from its nibbles in an arranged tile.
std::int32_t exact(const std::uint8_t* tables, const std::uint8_t* tile,
                   std::size_t nibbles, std::size_t stride) {
    std::int32_t sum = 0;
    for (std::size_t n = 0; n < nibbles; ++n) sum += tables[16 * n + tile[n * stride]];
    return sum;
}

struct Tile {
    const std::uint8_t* data;
    std::size_t nibbles;
    std::size_t rows;  // codes that are really there
    std::int64_t first;
};

/// Report the codes of one register whose bit in `near` is set.
template <int V, typename Value>
inline void report_lane(std::uint32_t near, const Value* values, Value saturated,
                        const Tile& tile, std::size_t v, const std::uint8_t* tables,
                        Sink& sink) {
    for (; near; near &= near - 1) {
        const std::size_t i = v * kLane + static_cast<std::size_t>(__builtin_ctz(near));
        if (i >= tile.rows) return;
        std::int32_t d = values[i % kLane];
        if (values[i % kLane] == saturated)
            d = exact(tables, tile.data + i, tile.nibbles, V * kLane);
        if (d < sink.tau) report(sink, d, tile.first + static_cast<std::int64_t>(i));
    }
}

template <int V>
inline void report_bytes(const __m256i (&sums)[V], const Tile& tile,
                         const std::uint8_t* tables, Sink& sink) {
    if (sink.tau <= 0) return;
    const int limit = sink.tau - 1 < 255 ? sink.tau - 1 : 255;
    const __m256i cut = _mm256_set1_epi8(static_cast<char>(limit));
    __m256i least = sums[0];
    for (int v = 1; v < V; ++v) least = _mm256_min_epu8(least, sums[v]);
    const __m256i any = _mm256_cmpeq_epi8(_mm256_min_epu8(least, cut), least);
    if (_mm256_testz_si256(any, any)) return;
    for (int v = 0; v < V; ++v) {
        const __m256i near = _mm256_cmpeq_epi8(_mm256_min_epu8(sums[v], cut), sums[v]);
        const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(near));
        if (!bits) continue;
        alignas(32) std::uint8_t values[kLane];
        _mm256_store_si256(reinterpret_cast<__m256i*>(values), sums[v]);
        report_lane<V, std::uint8_t>(bits, values, 255, tile,
                                     static_cast<std::size_t>(v), tables, sink);
    }
}

/// Sixteen-bit sums of one register of codes: unpacking bytes leaves codes 0..7 and
/// 16..23 in the first half, 8..15 and 24..31 in the second.
struct Wide {
    __m256i half[2];
};

template <int V>
inline void report_words(const Wide (&sums)[V], const Tile& tile,
                         const std::uint8_t* tables, Sink& sink) {
    if (sink.tau <= 0) return;
    const int limit = sink.tau - 1 < 65535 ? sink.tau - 1 : 65535;
    const __m256i cut = _mm256_set1_epi16(static_cast<short>(limit));
    const auto near_of = [&](__m256i x) {
        return _mm256_cmpeq_epi16(_mm256_min_epu16(x, cut), x);
    };
    for (int v = 0; v < V; ++v) {
        const __m256i first = near_of(sums[v].half[0]);
        const __m256i second = near_of(sums[v].half[1]);
        // Packing undoes the order of unpacking.
        const __m256i near = _mm256_packs_epi16(first, second);
        const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(near));
        if (!bits) continue;
        alignas(32) std::uint16_t values[kLane];
        const __m256i low = _mm256_permute2x128_si256(sums[v].half[0], sums[v].half[1], 0x20);
        const __m256i high = _mm256_permute2x128_si256(sums[v].half[0], sums[v].half[1], 0x31);
        _mm256_store_si256(reinterpret_cast<__m256i*>(values), low);
        _mm256_store_si256(reinterpret_cast<__m256i*>(values + 16), high);
        report_lane<V, std::uint16_t>(bits, values, 65535, tile,
                                      static_cast<std::size_t>(v), tables, sink);
    }
}

/// Codes of at most 32 bytes: the distances fit into bytes, all but that of a code which
/// differs in each of 256 bits; saturated, it is looked at again.
template <int Q, int V>
void scan_tile_narrow(const std::uint8_t* tables, std::size_t table_stride,
                      const Tile& tile, Sink* sinks) {
    __m256i sums[Q][V];
    const std::size_t chunk = tile.nibbles < kChunk ? tile.nibbles : kChunk;
    sum_nibbles<Q, V>(tables, table_stride, tile.data, 0, chunk, sums);
    if (tile.nibbles > kChunk)
        add_nibble<Q, V>(tables, table_stride, tile.data, kChunk, sums);
    for (int q = 0; q < Q; ++q)
        report_bytes<V>(sums[q], tile, tables + q * table_stride, sinks[q]);
}

template <int Q, int V>
void scan_tile_wide(const std::uint8_t* tables, std::size_t table_stride,
                    const Tile& tile, Sink* sinks) {
    const __m256i zero = _mm256_setzero_si256();
    Wide totals[Q][V];
    for (auto& row : totals)
        for (auto& total : row) total.half[0] = total.half[1] = zero;
    for (std::size_t begin = 0; begin < tile.nibbles; begin += kChunk) {
        const std::size_t rest = tile.nibbles - begin;
        __m256i sums[Q][V];
        sum_chunk<Q, V>(tables, table_stride, tile.data, begin,
                        begin + (rest < kChunk ? rest : kChunk), sums);
        for (int q = 0; q < Q; ++q) {
            for (int v = 0; v < V; ++v) {
                auto& half = totals[q][v].half;
                half[0] = _mm256_adds_epu16(half[0],
                                            _mm256_unpacklo_epi8(sums[q][v], zero));
                half[1] = _mm256_adds_epu16(half[1],
                                            _mm256_unpackhi_epi8(sums[q][v], zero));
            }
        }
    }
    for (int q = 0; q < Q; ++q)
        report_words<V>(totals[q], tile, tables + q * table_stride, sinks[q]);
}

template <int Q, int V>
void scan_tiles(const std::uint8_t* tables, Codes block, const std::uint8_t* arranged,
                Sink* sinks) {
    const std::size_t stride = query_bytes(block.bytes);
    constexpr std::size_t rows = V * kLane;
    for (std::size_t row = 0; row < block.rows; row += rows) {
        const Tile tile{arranged + row * 2 * block.bytes, 2 * block.bytes,
                        block.rows - row,
                        block.first + static_cast<std::int64_t>(row)};
        if (2 * block.bytes <= kChunk + 1)
            scan_tile_narrow<Q, V>(tables, stride, tile, sinks);
        else
            scan_tile_wide<Q, V>(tables, stride, tile, sinks);
    }
}

template <int Q, int V>
void scan_queries(const std::uint8_t* prepared, std::size_t n_queries, Codes block,
                  const std::uint8_t* arranged, Sink* sinks) {
    const std::size_t stride = query_bytes(block.bytes);
    std::size_t q = 0;
    for (; q + Q <= n_queries; q += Q)
        scan_tiles<Q, V>(prepared + q * stride, block, arranged, sinks + q);
    for (; q < n_queries; ++q)
        scan_tiles<1, V>(prepared + q * stride, block, arranged, sinks + q);
}

void scan_block(const std::uint8_t* prepared, std::size_t n_queries, Codes block,
                const std::uint8_t* arranged, Sink* sinks) {
    if (block.bytes <= kNarrow)
        scan_queries<2, 4>(prepared, n_queries, block, arranged, sinks);
    else
        scan_queries<4, 2>(prepared, n_queries, block, arranged, sinks);
}

/// Population count of each 64-bit word.
inline __m256i popcount_words(__m256i x) {
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i a = _mm256_shuffle_epi8(table, _mm256_and_si256(x, low));
    const __m256i b = _mm256_shuffle_epi8(
        table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
    return _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
}

/// One query against codes of 64 bits: sixteen codes a step, one branch.
void scan_words(const std::uint8_t* query, Codes codes, Sink& sink) {
    constexpr std::size_t step = 16;
    const __m256i wanted = _mm256_set1_epi64x(static_cast<long long>(load_word(query)));
    __m256i tau = _mm256_set1_epi64x(sink.tau);
    std::size_t i = 0;
    for (; i + step <= codes.rows; i += step) {
        const std::uint8_t* p = codes.data + 8 * i;
        __builtin_prefetch(p + kPrefetchBytes);
        __builtin_prefetch(p + kPrefetchBytes + 64);
        __m256i d[4];
        for (std::size_t v = 0; v < 4; ++v)
            d[v] = popcount_words(_mm256_xor_si256(load(p + 32 * v), wanted));
        const __m256i least = _mm256_min_epu16(_mm256_min_epu16(d[0], d[1]),
                                               _mm256_min_epu16(d[2], d[3]));
        if (!_mm256_movemask_epi8(_mm256_cmpgt_epi64(tau, least))) continue;
        alignas(32) std::int64_t values[step];
        for (std::size_t v = 0; v < 4; ++v)
            _mm256_store_si256(reinterpret_cast<__m256i*>(values + 4 * v), d[v]);
        for (std::size_t j = 0; j < step; ++j)
            if (values[j] < sink.tau)
                report(sink, static_cast<std::int32_t>(values[j]),
                       codes.first + static_cast<std::int64_t>(i + j));
        tau = _mm256_set1_epi64x(sink.tau);
    }
    scan_rows_by_words(query,
                       {codes.data + 8 * i, codes.rows - i, codes.bytes,
                        codes.first + static_cast<std::int64_t>(i)},
                       sink);
}

void scan_rows(const std::uint8_t* query, Codes codes, Sink& sink) {
    if (codes.bytes == 8)
        scan_words(query, codes, sink);
    else
        scan_rows_by_words(query, codes, sink);
}

}  // namespace

const HammingKernels& hamming_avx2() {
    static constexpr HammingKernels kernels{
        distances_of_rows, scan_rows, block_rows, block_bytes,
        arrange,           query_bytes, prepare,   scan_block};
    return kernels;
}

}  // namespace fewbits
