#include "asymmetric_lanes.hpp"
#include "encode_bilinear.hpp"
#include "encode_blocks.hpp"
#include "encode_circulant.hpp"
#include "encode_dense.hpp"
#include "encode_hadamard.hpp"
#include "encode_sparse.hpp"

namespace fewbits {
namespace {

typedef float Float4 __attribute__((vector_size(16)));
typedef double Double4 __attribute__((vector_size(32)));
typedef std::int64_t Int4 __attribute__((vector_size(32)));

/// a * b + c rounded once. Where the processor has no such instruction: the product is
/// exact in float64, and the sum is rounded to odd there (Boldo and Melquiond 2008), so
/// that rounding it again to float32 makes no second error.
inline Float4 fused_multiply_add(Float4 a, Float4 b, Float4 c) {
#ifdef __FP_FAST_FMAF
    Float4 result;
    for (int i = 0; i < 4; ++i) result[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return result;
#else
    const Double4 product = __builtin_convertvector(a, Double4) *
                            __builtin_convertvector(b, Double4);
    const Double4 addend = __builtin_convertvector(c, Double4);
    const Double4 sum = product + addend;
    // TwoSum: the exact error of the addition above; not a number when it overflowed.
    const Double4 part = sum - product;
    const Double4 error = (product - (sum - part)) + (addend - part);
    const Int4 inexact = (error > 0.0) | (error < 0.0);
    const Int4 towards_zero = (error > 0.0) ^ (sum > 0.0);
    const Int4 bits = reinterpret_cast<Int4>(sum);
    const Int4 even = (bits & 1) - 1;
    const Int4 odd = bits + ((towards_zero | 1) & inexact & even);
    return __builtin_convertvector(reinterpret_cast<Double4>(odd), Float4);
#endif
}

struct Portable {
    using Reg = Float4;
    static constexpr std::size_t lanes = 4, tile_rows = 2, tile_regs = 4;

    static Reg load(const float* p) {
        Reg x;
        std::memcpy(&x, p, sizeof x);
        return x;
    }
    static Reg broadcast(const float* p) { return Reg{*p, *p, *p, *p}; }
    static void store(float* p, Reg x) { std::memcpy(p, &x, sizeof x); }
    static Reg gather(const float* p, const std::uint16_t* places) {
        return Reg{p[places[0]], p[places[1]], p[places[2]], p[places[3]]};
    }
    static Reg fmadd(Reg a, Reg b, Reg c) { return fused_multiply_add(a, b, c); }
    static float fmadd1(float a, float b, float c) {
        return fused_multiply_add(Reg{a}, Reg{b}, Reg{c})[0];
    }

    static Reg add(Reg a, Reg b) { return a + b; }
    static Reg subtract(Reg a, Reg b) { return a - b; }
    static Reg multiply(Reg a, Reg b) { return a * b; }
    /// The lanes, each exchanged with the one `Stride` (a power of 2) away.
    template <std::size_t Stride>
    static Reg swapped(Reg x) {
        if constexpr (Stride == 2) return Reg{x[2], x[3], x[0], x[1]};
        return Reg{x[1], x[0], x[3], x[2]};
    }
    /// Lanes of `low` whose number has no `Stride` in it, the others of `high`.
    template <std::size_t Stride>
    static Reg merged(Reg low, Reg high) {
        if constexpr (Stride == 2) return Reg{low[0], low[1], high[2], high[3]};
        return Reg{low[0], high[1], low[2], high[3]};
    }
    /// `values[0]` in the first `2 * Stride` lanes, `values[1]` in the next, and so on.
    template <std::size_t Stride>
    static Reg spread(const float* values) {
        constexpr std::size_t next = Stride == 2 ? 0 : 1;
        return Reg{values[0], values[0], values[next], values[next]};
    }

    static void transpose4(const float* in, std::size_t stride, float* out,
                           std::size_t out_stride) {
        for (std::size_t r = 0; r < 4; ++r)
            for (std::size_t c = 0; c < 4; ++c)
                out[c * out_stride + r] = in[r * stride + c];
    }

    static std::uint64_t positive(Reg x) { return lane_bits(x > 0.0F); }
    static std::uint64_t not_negative(Reg x) { return lane_bits(x >= 0.0F); }

private:
    template <typename Mask>
    static std::uint64_t lane_bits(const Mask& mask) {
        return (mask[0] ? 1U : 0U) | (mask[1] ? 2U : 0U) | (mask[2] ? 4U : 0U) |
               (mask[3] ? 8U : 0U);
    }
};

}  // namespace

const EncodeKernels encode_portable{&linear_scratch<Portable>, &linear_share<Portable>,
                                    &sparse_scratch<Portable>, &sparse_share<Portable>,
                                    &asymmetric_share<Portable>,
                                    &hadamard_scratch<Portable>, &hadamard_share<Portable>,
                                    &circulant_scratch<Portable>, &circulant_share<Portable>,
                                    &bilinear_scratch<Portable>, &bilinear_share<Portable>,
                                    &blocks_scratch<Portable>, &blocks_share<Portable>};

}  // namespace fewbits
