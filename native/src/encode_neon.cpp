#include <arm_neon.h>

#include "asymmetric_lanes.hpp"
#include "encode_bilinear.hpp"
#include "encode_blocks.hpp"
#include "encode_circulant.hpp"
#include "encode_dense.hpp"
#include "encode_hadamard.hpp"
#include "encode_sparse.hpp"

namespace fewbits {
namespace {

struct Neon {
    using Reg = float32x4_t;
    static constexpr std::size_t lanes = 4, tile_rows = 6, tile_regs = 4;

    static Reg load(const float* p) { return vld1q_f32(p); }
    static Reg broadcast(const float* p) { return vld1q_dup_f32(p); }
    static void store(float* p, Reg x) { vst1q_f32(p, x); }
    static Reg gather(const float* p, const std::uint16_t* places) {
        Reg x = vld1q_dup_f32(p + places[0]);
        x = vld1q_lane_f32(p + places[1], x, 1);
        x = vld1q_lane_f32(p + places[2], x, 2);
        return vld1q_lane_f32(p + places[3], x, 3);
    }
    static Reg fmadd(Reg a, Reg b, Reg c) { return vfmaq_f32(c, a, b); }
    static float fmadd1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

    static Reg add(Reg a, Reg b) { return vaddq_f32(a, b); }
    static Reg subtract(Reg a, Reg b) { return vsubq_f32(a, b); }
    static Reg multiply(Reg a, Reg b) { return vmulq_f32(a, b); }
    /// The lanes, each exchanged with the one `Stride` (a power of 2) away.
    template <std::size_t Stride>
    static Reg swapped(Reg x) {
        if constexpr (Stride == 2) return vextq_f32(x, x, 2);
        return vrev64q_f32(x);
    }
    /// Lanes of `low` whose number has no `Stride` in it, the others of `high`.
    template <std::size_t Stride>
    static Reg merged(Reg low, Reg high) {
        if constexpr (Stride == 2)
            return vcombine_f32(vget_low_f32(low), vget_high_f32(high));
        constexpr std::uint32_t lanes[4] = {0, ~0U, 0, ~0U};
        return vbslq_f32(vld1q_u32(lanes), high, low);
    }
    /// `values[0]` in the first `2 * Stride` lanes, `values[1]` in the next, and so on.
    template <std::size_t Stride>
    static Reg spread(const float* values) {
        if constexpr (Stride == 2) return vld1q_dup_f32(values);
        return vcombine_f32(vld1_dup_f32(values), vld1_dup_f32(values + 1));
    }

    static void transpose4(const float* in, std::size_t stride, float* out,
                           std::size_t out_stride) {
        const float32x4x2_t ab = vzipq_f32(vld1q_f32(in), vld1q_f32(in + 2 * stride));
        const float32x4x2_t cd =
            vzipq_f32(vld1q_f32(in + stride), vld1q_f32(in + 3 * stride));
        const float32x4x2_t low = vzipq_f32(ab.val[0], cd.val[0]);
        const float32x4x2_t high = vzipq_f32(ab.val[1], cd.val[1]);
        vst1q_f32(out, low.val[0]);
        vst1q_f32(out + out_stride, low.val[1]);
        vst1q_f32(out + 2 * out_stride, high.val[0]);
        vst1q_f32(out + 3 * out_stride, high.val[1]);
    }

    static std::uint64_t positive(Reg x) { return lane_bits(vcgtzq_f32(x)); }
    static std::uint64_t not_negative(Reg x) { return lane_bits(vcgezq_f32(x)); }

private:
    static std::uint64_t lane_bits(uint32x4_t mask) {
        constexpr std::uint32_t place[4] = {1, 2, 4, 8};
        return vaddvq_u32(vandq_u32(mask, vld1q_u32(place)));
    }
};

}  // namespace

const EncodeKernels encode_neon{&linear_scratch<Neon>, &linear_share<Neon>,
                                &sparse_scratch<Neon>, &sparse_share<Neon>,
                                &asymmetric_share<Neon>,
                                &hadamard_scratch<Neon>, &hadamard_share<Neon>,
                                &circulant_scratch<Neon>, &circulant_share<Neon>,
                                &bilinear_scratch<Neon>, &bilinear_share<Neon>,
                                &blocks_scratch<Neon>, &blocks_share<Neon>};

}  // namespace fewbits
