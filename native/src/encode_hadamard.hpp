#pragma once

#include <utility>

#include "encode_bits.hpp"

// Walsh-Hadamard transforms, one row at a time. A pass does up to three stages on
// numbers that lie far apart, and leaves as many independent parts as it took numbers;
// each part is finished before the next, so that large transforms work in the cache.
// The last stages, within registers, and the three before them are one more pass.

namespace fewbits {
namespace {

/// Numbers as they are.
template <typename V>
struct Plain {
    const float* z;
    typename V::Reg operator()(std::size_t i) const { return V::load(z + i); }
};

/// Numbers multiplied by a diagonal matrix.
template <typename V>
struct Scaled {
    const float *z, *diagonal;
    typename V::Reg operator()(std::size_t i) const {
        return V::multiply(V::load(z + i), V::load(diagonal + i));
    }
};

/// All stages of a transform across `Count` registers.
template <typename V, std::size_t Count>
void butterflies(typename V::Reg* x) {
#pragma GCC unroll 3
    for (std::size_t gap = Count / 2; gap > 0; gap /= 2)
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Count; ++i) {
            if (i & gap) continue;
            const auto a = x[i], b = x[i + gap];
            x[i] = V::add(a, b);
            x[i + gap] = V::subtract(a, b);
        }
}

/// The stages of strides `Stride`, `Stride / 2`, ..., 1 within a register.
template <typename V, std::size_t Stride>
typename V::Reg lane_butterflies(typename V::Reg x) {
    if constexpr (Stride == 0) {
        return x;
    } else {
        const auto other = V::template swapped<Stride>(x);
        return lane_butterflies<V, Stride / 2>(V::template merged<Stride>(
            V::add(x, other), V::subtract(other, x)));
    }
}

/// The first stages of a transform: `Count` numbers at a time, `gap` apart.
template <typename V, std::size_t Count, typename Load>
void far_stages(const Load& load, float* z, std::size_t gap) {
    for (std::size_t k = 0; k < gap; k += V::lanes) {
        typename V::Reg x[Count];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Count; ++i) x[i] = load(i * gap + k);
        butterflies<V, Count>(x);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Count; ++i) V::store(z + i * gap + k, x[i]);
    }
}

/// A whole transform of `Count` registers.
template <typename V, std::size_t Count, typename Load>
void near_stages(const Load& load, float* z) {
    typename V::Reg x[Count];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Count; ++i) x[i] = load(i * V::lanes);
    butterflies<V, Count>(x);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Count; ++i)
        V::store(z + i * V::lanes, lane_butterflies<V, V::lanes / 2>(x[i]));
}

/// Write the transform of what `load` gives to `z`: its first `count` numbers, and
/// anything behind them.
template <typename V, typename Load>
void transform(const Load& load, float* z, std::size_t size, std::size_t count) {
    constexpr std::size_t near = 8 * V::lanes;
    switch (size / V::lanes) {
        case 1: return near_stages<V, 1>(load, z);
        case 2: return near_stages<V, 2>(load, z);
        case 4: return near_stages<V, 4>(load, z);
        case 8: return near_stages<V, 8>(load, z);
        default: break;
    }
    std::size_t gap = size / 8;
    if (gap >= near) {
        far_stages<V, 8>(load, z, gap);
    } else if (gap = size / 4; gap >= near) {
        far_stages<V, 4>(load, z, gap);
    } else {
        far_stages<V, 2>(load, z, gap = size / 2);
    }
    for (float* part = z; part < z + smaller(size, count); part += gap)
        transform<V>(Plain<V>{part}, part, gap, smaller(gap, count));
}

/// Write the products of a row and a block-diagonal matrix, whose blocks are 16 by 16
/// and lie one behind the other, to `y`.
template <typename V>
void multiply_blocks(const float* x, const float* weights, std::size_t size, float* y) {
    constexpr std::size_t width = 16, regs = width / V::lanes;
    for (std::size_t block = 0; block < size; block += width) {
        typename V::Reg sums[regs];
        for (std::size_t r = 0; r < regs; ++r)
            sums[r] = V::multiply(V::broadcast(x + block),
                                  V::load(weights + r * V::lanes));
        weights += width;
#pragma GCC unroll 15
        for (std::size_t i = 1; i < width; ++i, weights += width) {
            const auto value = V::broadcast(x + block + i);
            for (std::size_t r = 0; r < regs; ++r)
                sums[r] = V::fmadd(value, V::load(weights + r * V::lanes), sums[r]);
        }
        for (std::size_t r = 0; r < regs; ++r)
            V::store(y + block + r * V::lanes, sums[r]);
    }
}

template <typename V>
std::size_t hadamard_scratch(const HadamardJob& job) {
    return (job.map.width == 1 ? 1 : 2) * job.map.size;
}

template <typename V>
void hadamard_share(const HadamardJob& job, float* z) {
    const auto& [weights, bias, n_bits, n_rounds, size, width] = job.map;
    const std::size_t d = job.x.n_features;
    for (std::size_t row = 0; row < job.x.n; ++row) {
        const float* factor = weights;
        for (std::size_t first = 0; first < n_bits; first += size) {
            const std::size_t count = smaller(size, n_bits - first);
            float *from = z, *to = width == 1 ? z : z + size;
            std::memcpy(from, job.x.data + row * d, d * sizeof(float));
            std::memset(from + d, 0, (size - d) * sizeof(float));
            for (std::size_t round = 1; round <= n_rounds; ++round) {
                const std::size_t wanted = round < n_rounds ? size : count;
                if (width == 1) {
                    transform<V>(Scaled<V>{from, factor}, to, size, wanted);
                } else {
                    multiply_blocks<V>(from, factor, size, to);
                    transform<V>(Plain<V>{to}, to, size, wanted);
                }
                factor += size * width;
                std::swap(from, to);
            }
            put_with_bias<V>(job, row, first, from, count);
        }
    }
}

}  // namespace
}  // namespace fewbits
