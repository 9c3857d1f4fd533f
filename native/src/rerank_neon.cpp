#include <arm_neon.h>

#include "rerank_lanes.hpp"

namespace fewbits {
namespace {

struct Neon {
    using Reg = DoublePair<float64x2_t>;
    static constexpr std::size_t lanes = 4;

    static Reg load(const double* p) { return {vld1q_f64(p), vld1q_f64(p + 2)}; }
    static float32x4_t load(const float* p) { return vld1q_f32(p); }
    static float32x4_t load(const Half* p) {
        float16x4_t four;
        std::memcpy(&four, p, sizeof four);
        return vcvt_f32_f16(four);
    }
    static float32x4_t load(const std::int8_t* p) {
        std::uint32_t four;
        std::memcpy(&four, p, sizeof four);
        const int8x8_t bytes = vreinterpret_s8_u32(vdup_n_u32(four));
        return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(bytes))));
    }
    static Reg widen(float32x4_t x) {
        return {vcvt_f64_f32(vget_low_f32(x)), vcvt_high_f64_f32(x)};
    }
};

}  // namespace

const RerankKernels rerank_neon = rerank_kernels_of<Neon>();

}  // namespace fewbits
