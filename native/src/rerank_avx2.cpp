#include <immintrin.h>

#include "rerank_lanes.hpp"

namespace fewbits {
namespace {

struct Avx2 {
    using Reg = __m256d;
    static constexpr std::size_t lanes = 4;

    static Reg load(const double* p) { return _mm256_loadu_pd(p); }
    static __m128 load(const float* p) { return _mm_loadu_ps(p); }
    static __m128 load(const Half* p) {
        return _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
    static __m128 load(const std::int8_t* p) {
        std::int32_t four;
        std::memcpy(&four, p, sizeof four);
        return _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
    }
    static Reg widen(__m128 x) { return _mm256_cvtps_pd(x); }
};

}  // namespace

const RerankKernels rerank_avx2 = rerank_kernels_of<Avx2>();

}  // namespace fewbits
