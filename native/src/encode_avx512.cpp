#include <immintrin.h>

#include "asymmetric_lanes.hpp"
#include "encode_bilinear.hpp"
#include "encode_blocks.hpp"
#include "encode_circulant.hpp"
#include "encode_dense.hpp"
#include "encode_hadamard.hpp"
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

    /// Add those of 32 numbers for which the bits of two words of four bytes differ; the
    /// sums are of places within two bytes. Words are spread as they are loaded, so that
    /// no mask goes through a general register.
    static void add_where_words_differ(Reg* sums, const std::uint8_t* x,
                                       const std::uint8_t* y, const float* p) {
        const __m512i differ = _mm512_xor_si512(spread_word(x), spread_word(y));
        const __m512i low = _mm512_setr_epi32(
            1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8,
            1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15);
        const __m512i high = _mm512_slli_epi32(low, 16);
        Reg sum = *sums;
        sum = _mm512_mask_add_ps(sum, _mm512_test_epi32_mask(differ, low), sum, load(p));
        *sums = _mm512_mask_add_ps(sum, _mm512_test_epi32_mask(differ, high), sum,
                                   load(p + 16));
    }
    static __m512i spread_word(const std::uint8_t* p) {
        std::int32_t word;
        std::memcpy(&word, p, sizeof word);
        return _mm512_set1_epi32(word);
    }
    /// Add those of 16 numbers whose bit is set.
    static Reg add_where(Reg a, std::uint32_t bits, const float* p) {
        return _mm512_mask_add_ps(a, static_cast<__mmask16>(bits), a, load(p));
    }
    static Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
    static Reg subtract(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
    static Reg multiply(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
    /// The lanes, each exchanged with the one `Stride` (a power of 2) away.
    template <std::size_t Stride>
    static Reg swapped(Reg x) {
        // All lanes are asked for: GCC 12 warns in its own header of the plain forms.
        constexpr __mmask16 all = 0xffff;
        if constexpr (Stride == 8) return _mm512_maskz_shuffle_f32x4(all, x, x, 0x4e);
        if constexpr (Stride == 4) return _mm512_maskz_shuffle_f32x4(all, x, x, 0xb1);
        return _mm512_maskz_permute_ps(all, x, Stride == 2 ? 0x4e : 0xb1);
    }
    /// Lanes of `low` whose number has no `Stride` in it, the others of `high`.
    template <std::size_t Stride>
    static Reg merged(Reg low, Reg high) {
        constexpr __mmask16 lanes =
            Stride == 8 ? 0xff00 : Stride == 4 ? 0xf0f0 : Stride == 2 ? 0xcccc : 0xaaaa;
        return _mm512_mask_blend_ps(lanes, low, high);
    }
    /// `values[0]` in the first `2 * Stride` lanes, `values[1]` in the next, and so on.
    template <std::size_t Stride>
    static Reg spread(const float* values) {
        constexpr auto lane = [](int i) { return i / (2 * static_cast<int>(Stride)); };
        const __m512i from = _mm512_setr_epi32(
            lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7),
            lane(8), lane(9), lane(10), lane(11), lane(12), lane(13), lane(14),
            lane(15));
        const Reg some = _mm512_castps256_ps512(_mm256_loadu_ps(values));
        return _mm512_maskz_permutexvar_ps(0xffff, from, some);
    }

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
                                  &asymmetric_share<Avx512>,
                                  &hadamard_scratch<Avx512>, &hadamard_share<Avx512>,
                                  &circulant_scratch<Avx512>, &circulant_share<Avx512>,
                                  &bilinear_scratch<Avx512>, &bilinear_share<Avx512>,
                                  &blocks_scratch<Avx512>, &blocks_share<Avx512>};

}  // namespace fewbits
