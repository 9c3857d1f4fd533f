#include <immintrin.h>

#include "hamming_batch.hpp"

namespace fewbits {
namespace {

inline __m256i load(const std::uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
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
    static constexpr HammingKernels kernels{count_bytes, distances_of_rows, scan_rows,
                                            scan_batch, batch_bytes};
    return kernels;
}

}  // namespace fewbits
