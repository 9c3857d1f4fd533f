#include <immintrin.h>

#include "rerank_lanes.hpp"

namespace fewbits {
namespace {

struct Avx512 {
    using Reg = __m512d;
    static constexpr std::size_t lanes = 8;

    static Reg load(const double* p) { return _mm512_loadu_pd(p); }
    static __m256 load(const float* p) { return _mm256_loadu_ps(p); }
    static __m256 load(const Half* p) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static __m256 load(const std::int8_t* p) {
        const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
    }
    // All lanes are asked for: GCC 12 warns in its own header of the plain form.
    static Reg widen(__m256 x) { return _mm512_maskz_cvtps_pd(0xff, x); }
};

}  // namespace

const RerankKernels rerank_avx512 = rerank_kernels_of<Avx512>();

}  // namespace fewbits
