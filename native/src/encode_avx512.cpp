#include <immintrin.h>

#include "asymmetric_lanes.hpp"
#include "encode_dense.hpp"
#include "encode_sparse.hpp"
#include "gather_x86.hpp"

namespace fewbits {
namespace {

struct Avx512 {
    using Reg = __m512;
    static constexpr std::size_t lanes = 16, tile_rows = 14, tile_regs = 2;

    static Reg load(const float* p) { return _mm512_loadu_ps(p); }
    static Reg broadcast(const float* p) { return _mm512_set1_ps(*p); }
    static void store(float* p, Reg x) { _mm512_storeu_ps(p, x); }
    /// Sixteen numbers from `p` by their place. The gather instruction is slower.
    static Reg gather(const float* p, const std::uint16_t* places) {
        const __m256 low = _mm256_set_m128(gather4(p, places + 4), gather4(p, places));
        const __m256 high =
            _mm256_set_m128(gather4(p, places + 12), gather4(p, places + 8));
        return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    }
    static Reg fmadd(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
    static float fmadd1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

    static void transpose4(const float* in, std::size_t stride, float* out,
                           std::size_t out_stride) {
        __m128 row[4];
        for (std::size_t r = 0; r < 4; ++r) row[r] = _mm_loadu_ps(in + r * stride);
        _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
        for (std::size_t r = 0; r < 4; ++r) _mm_storeu_ps(out + r * out_stride, row[r]);
    }

    static std::uint64_t positive(Reg x) {
        return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ);
    }
    static std::uint64_t not_negative(Reg x) {
        return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GE_OQ);
    }
};

}  // namespace

const EncodeKernels encode_avx512{&linear_scratch<Avx512>, &linear_share<Avx512>,
                                  &sparse_scratch<Avx512>, &sparse_share<Avx512>,
                                  &asymmetric_share<Avx512>};

}  // namespace fewbits
