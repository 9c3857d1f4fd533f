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

struct Avx2 {
    using Reg = __m256;
    static constexpr std::size_t lanes = 8, tile_rows = 6, tile_regs = 2;

    static Reg load(const float* p) { return _mm256_loadu_ps(p); }
    static Reg broadcast(const float* p) { return _mm256_broadcast_ss(p); }
    static void store(float* p, Reg x) { _mm256_storeu_ps(p, x); }
    /// Eight numbers from `p` by their place. The gather instruction is slower here.
    static Reg gather(const float* p, const std::uint16_t* places) {
        return _mm256_set_m128(gather4(p, places + 4), gather4(p, places));
    }
    static Reg fmadd(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
    static float fmadd1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

    /// Add those of 32 numbers for which the bits of two words of four bytes differ; the
    /// two sums are of places within two bytes. A bit chooses as the sign of a lane.
    static void add_where_words_differ(Reg* sums, const std::uint8_t* x,
                                       const std::uint8_t* y, const float* p) {
        const __m256i differ = _mm256_xor_si256(spread_word(x), spread_word(y));
        const __m256i shifts = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
        for (int byte = 0; byte < 4; ++byte) {
            const __m256i left = _mm256_sub_epi32(shifts, _mm256_set1_epi32(8 * byte));
            const Reg sign = _mm256_castsi256_ps(_mm256_sllv_epi32(differ, left));
            const Reg cost = _mm256_blendv_ps(_mm256_setzero_ps(), load(p + 8 * byte), sign);
            sums[byte % 2] = add(sums[byte % 2], cost);
        }
    }
    static __m256i spread_word(const std::uint8_t* p) {
        std::int32_t word;
        std::memcpy(&word, p, sizeof word);
        return _mm256_set1_epi32(word);
    }

    static Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
    static Reg subtract(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
    static Reg multiply(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
    /// The lanes, each exchanged with the one `Stride` (a power of 2) away.
    template <std::size_t Stride>
    static Reg swapped(Reg x) {
        if constexpr (Stride == 4) return _mm256_permute2f128_ps(x, x, 1);
        return _mm256_permute_ps(x, Stride == 2 ? 0x4e : 0xb1);
    }
    /// Lanes of `low` whose number has no `Stride` in it, the others of `high`.
    template <std::size_t Stride>
    static Reg merged(Reg low, Reg high) {
        return _mm256_blend_ps(low, high, Stride == 4 ? 0xf0 : Stride == 2 ? 0xcc : 0xaa);
    }
    /// `values[0]` in the first `2 * Stride` lanes, `values[1]` in the next, and so on.
    template <std::size_t Stride>
    static Reg spread(const float* values) {
        constexpr auto lane = [](int i) { return i / (2 * static_cast<int>(Stride)); };
        const __m256i from = _mm256_setr_epi32(lane(0), lane(1), lane(2), lane(3),
                                               lane(4), lane(5), lane(6), lane(7));
        const Reg some = _mm256_castps128_ps256(_mm_loadu_ps(values));
        return _mm256_permutevar8x32_ps(some, from);
    }

    static void transpose4(const float* in, std::size_t stride, float* out,
                           std::size_t out_stride) {
        __m128 row[4];
        for (std::size_t r = 0; r < 4; ++r) row[r] = _mm_loadu_ps(in + r * stride);
        _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
        for (std::size_t r = 0; r < 4; ++r) _mm_storeu_ps(out + r * out_stride, row[r]);
    }

    static std::uint64_t positive(Reg x) {
        const Reg above = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ);
        return static_cast<std::uint64_t>(_mm256_movemask_ps(above));
    }
    static std::uint64_t not_negative(Reg x) {
        const Reg above = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GE_OQ);
        return static_cast<std::uint64_t>(_mm256_movemask_ps(above));
    }
};

}  // namespace

const EncodeKernels encode_avx2{&linear_scratch<Avx2>, &linear_share<Avx2>,
                                &sparse_scratch<Avx2>, &sparse_share<Avx2>,
                                &asymmetric_share<Avx2>,
                                &hadamard_scratch<Avx2>, &hadamard_share<Avx2>,
                                &circulant_scratch<Avx2>, &circulant_share<Avx2>,
                                &bilinear_scratch<Avx2>, &bilinear_share<Avx2>,
                                &blocks_scratch<Avx2>, &blocks_share<Avx2>};

}  // namespace fewbits
