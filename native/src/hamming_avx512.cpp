#include <immintrin.h>

#include "hamming_batch.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kLane = 8;   // codes in a register
constexpr int kVectors = 4;        // registers of codes in a tile
constexpr std::size_t kTile = kLane * kVectors;

inline void report_lane(__mmask8 near, __m512i sums, std::int64_t first, Sink& sink) {
    alignas(64) std::int64_t values[kLane];
    _mm512_store_si512(values, sums);
    for (unsigned bits = near; bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        const auto d = static_cast<std::int32_t>(values[i]);
        if (d < sink.tau) report(sink, d, first + i);
    }
}

/// The masked form, because GCC 12 warns of an uninitialised value in the plain one.
inline __m512i smaller(__m512i a, __m512i b) {
    return _mm512_maskz_min_epu32(0xFFFF, a, b);
}

inline void report_tile(const __m512i (&sums)[kVectors], std::int64_t first, Sink& sink) {
    // The minimum of all vectors first: a compare costs more than a minimum, and a tile
    // rarely holds a near code.
    const __m512i least = smaller(smaller(sums[0], sums[1]), smaller(sums[2], sums[3]));
    const __m512i tau = _mm512_set1_epi64(sink.tau);
    if (!_mm512_cmplt_epi64_mask(least, tau)) return;
    for (int v = 0; v < kVectors; ++v) {
        const __mmask8 near = _mm512_cmplt_epi64_mask(sums[v], tau);
        if (near)
            report_lane(near, sums[v], first + v * static_cast<std::int64_t>(kLane), sink);
    }
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
        report_tile(sums, codes.first + static_cast<std::int64_t>(i), sink);
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
    static constexpr HammingKernels kernels{count_bytes, distances_of_rows, scan_rows,
                                            scan_batch, batch_bytes};
    return kernels;
}

}  // namespace fewbits
