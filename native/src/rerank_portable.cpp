#include "rerank_lanes.hpp"

namespace fewbits {
namespace {

typedef double Double2 __attribute__((vector_size(16)));
typedef float Float4 __attribute__((vector_size(16)));
typedef float Float2 __attribute__((vector_size(8)));
typedef std::int32_t Int4 __attribute__((vector_size(16)));

/// Half precision in the low bits to float32. Exponents are moved by a product, which
/// takes small numbers that have lost their first bit along.
inline Float4 from_half(Int4 half) {
    const Int4 size = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
    const Float4 moved = reinterpret_cast<Float4>(size) * 0x1p112F;
    // Infinity and NaN keep the largest exponent.
    const Int4 special = (size >= 0x1f << 23) & 0xff << 23;
    return reinterpret_cast<Float4>(reinterpret_cast<Int4>(moved) | special | sign);
}

struct Portable {
    using Reg = DoublePair<Double2>;
    static constexpr std::size_t lanes = 4;

    static Reg load(const double* p) {
        Reg x;
        std::memcpy(&x, p, sizeof x);
        return x;
    }
    static Float4 load(const float* p) {
        Float4 x;
        std::memcpy(&x, p, sizeof x);
        return x;
    }
    static Float4 load(const Half* p) {
        return from_half(Int4{p[0].bits, p[1].bits, p[2].bits, p[3].bits});
    }
    static Float4 load(const std::int8_t* p) {
        return Float4{static_cast<float>(p[0]), static_cast<float>(p[1]),
                      static_cast<float>(p[2]), static_cast<float>(p[3])};
    }
    static Reg widen(Float4 x) {
        return {__builtin_convertvector(Float2{x[0], x[1]}, Double2),
                __builtin_convertvector(Float2{x[2], x[3]}, Double2)};
    }
};

}  // namespace

const RerankKernels rerank_portable = rerank_kernels_of<Portable>();

}  // namespace fewbits
