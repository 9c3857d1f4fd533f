// Vector population counts. Codes are arranged word by word, so that a register holds
// the same word of eight codes and no sum runs across a register.

#include <immintrin.h>

#include "hamming_rows.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kLane = 8;   // codes in a register
constexpr int kVectors = 4;        // registers of codes in a tile
constexpr int kQueries = 4;        // queries in a tile
constexpr std::size_t kTile = kLane * kVectors;
constexpr std::size_t kBlockBytes = 16384;

std::size_t n_words(std::size_t bytes) { return (bytes + 7) / 8; }

std::size_t block_rows(std::size_t bytes) {
    const std::size_t tiles = kBlockBytes / (8 * n_words(bytes) * kTile);
    return kTile * (tiles ? tiles : 1);
}

std::size_t block_bytes(std::size_t bytes) {
    return block_rows(bytes) * 8 * n_words(bytes);
}

std::size_t query_bytes(std::size_t bytes) { return 8 * n_words(bytes); }

void prepare(const std::uint8_t* query, std::size_t bytes, std::uint8_t* prepared) {
    std::memset(prepared, 0, query_bytes(bytes));
    std::memcpy(prepared, query, bytes);
}

inline std::uint64_t word_of(const std::uint8_t* code, std::size_t bytes,
                             std::size_t w) {
    return 8 * w + 8 <= bytes ? load_word(code + 8 * w)
                              : load_tail(code + 8 * w, bytes - 8 * w);
}

/// Tile by tile, word by word, eight bytes for each code; missing codes are zero.
void arrange(Codes block, std::uint8_t* arranged) {
    const std::size_t words = n_words(block.bytes);
    for (std::size_t row = 0; row < block.rows; row += kTile) {
        std::uint8_t* tile = arranged + row * 8 * words;
        for (std::size_t i = 0; i < kTile; ++i) {
            const std::uint8_t* code = block.data + (row + i) * block.bytes;
            for (std::size_t w = 0; w < words; ++w) {
                const std::uint64_t word =
                    row + i < block.rows ? word_of(code, block.bytes, w) : 0;
                std::memcpy(tile + 8 * (w * kTile + i), &word, 8);
            }
        }
    }
}

struct Tile {
    const std::uint8_t* data;
    std::size_t words;
    std::size_t rows;  // codes that are really there
    std::int64_t first;
};

inline void report_lane(__mmask8 near, __m512i sums, const Tile& tile, std::size_t v,
                        Sink& sink) {
    alignas(64) std::int64_t values[kLane];
    _mm512_store_si512(values, sums);
    for (unsigned bits = near; bits; bits &= bits - 1) {
        const auto j = static_cast<std::size_t>(__builtin_ctz(bits));
        const std::size_t i = v * kLane + j;
        if (i >= tile.rows) return;
        const auto d = static_cast<std::int32_t>(values[j]);
        if (d < sink.tau) report(sink, d, tile.first + static_cast<std::int64_t>(i));
    }
}

/// The masked form, because GCC 12 warns of an uninitialised value in the plain one.
inline __m512i smaller(__m512i a, __m512i b) {
    return _mm512_maskz_min_epu32(0xFFFF, a, b);
}

inline void report_tile(const __m512i (&sums)[kVectors], const Tile& tile, Sink& sink) {
    // The minimum of all vectors first: a compare costs more than a minimum, and a tile
    // rarely holds a near code.
    const __m512i least = smaller(smaller(sums[0], sums[1]), smaller(sums[2], sums[3]));
    const __m512i tau = _mm512_set1_epi64(sink.tau);
    if (!_mm512_cmplt_epi64_mask(least, tau)) return;
    for (int v = 0; v < kVectors; ++v) {
        const __mmask8 near = _mm512_cmplt_epi64_mask(sums[v], tau);
        if (near) report_lane(near, sums[v], tile, static_cast<std::size_t>(v), sink);
    }
}

template <int Q>
void scan_tile(const std::uint8_t* queries, std::size_t stride, const Tile& tile,
               Sink* sinks) {
    __m512i sums[Q][kVectors];
    for (auto& row : sums)
        for (auto& sum : row) sum = _mm512_setzero_si512();
    for (std::size_t w = 0; w < tile.words; ++w) {
        __m512i codes[kVectors];
        for (int v = 0; v < kVectors; ++v)
            codes[v] = _mm512_loadu_si512(tile.data + 8 * (w * kTile + v * kLane));
        for (int q = 0; q < Q; ++q) {
            const __m512i query = _mm512_set1_epi64(
                static_cast<long long>(load_word(queries + q * stride + 8 * w)));
            for (int v = 0; v < kVectors; ++v) {
                const __m512i differ = _mm512_xor_si512(codes[v], query);
                sums[q][v] =
                    _mm512_add_epi64(sums[q][v], _mm512_popcnt_epi64(differ));
            }
        }
    }
    for (int q = 0; q < Q; ++q) report_tile(sums[q], tile, sinks[q]);
}

template <int Q>
void scan_tiles(const std::uint8_t* queries, Codes block, const std::uint8_t* arranged,
                Sink* sinks) {
    const std::size_t words = n_words(block.bytes);
    for (std::size_t row = 0; row < block.rows; row += kTile)
        scan_tile<Q>(queries, 8 * words,
                     {arranged + row * 8 * words, words, block.rows - row,
                      block.first + static_cast<std::int64_t>(row)},
                     sinks);
}

void scan_block(const std::uint8_t* prepared, std::size_t n_queries, Codes block,
                const std::uint8_t* arranged, Sink* sinks) {
    const std::size_t stride = query_bytes(block.bytes);
    std::size_t q = 0;
    for (; q + kQueries <= n_queries; q += kQueries)
        scan_tiles<kQueries>(prepared + q * stride, block, arranged, sinks + q);
    for (; q < n_queries; ++q)
        scan_tiles<1>(prepared + q * stride, block, arranged, sinks + q);
}

/// One query against codes of 64 bits, 32 codes a step.
void scan_words(const std::uint8_t* query, Codes codes, Sink& sink) {
    const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(load_word(query)));
    std::size_t i = 0;
    for (; i + kTile <= codes.rows; i += kTile) {
        const std::uint8_t* p = codes.data + 8 * i;
        for (std::size_t line = 0; line < 256; line += 64)
            __builtin_prefetch(p + kPrefetchBytes + line);
        __m512i sums[kVectors];
        for (int v = 0; v < kVectors; ++v)
            sums[v] = _mm512_popcnt_epi64(
                _mm512_xor_si512(_mm512_loadu_si512(p + 64 * v), wanted));
        report_tile(sums,
                    {p, 1, kTile, codes.first + static_cast<std::int64_t>(i)}, sink);
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

const HammingKernels& hamming_avx512() {
    static constexpr HammingKernels kernels{
        distances_of_rows, scan_rows, block_rows, block_bytes,
        arrange,           query_bytes, prepare,   scan_block};
    return kernels;
}

}  // namespace fewbits
