#pragma once

#include "encode_bits.hpp"

// Dense maps of a few rows: the weights are read once, straight through.

namespace fewbits {
namespace {

/// Add `Depth` features of each row to the sums of `Regs` registers of outputs. The
/// rows of `weights` lie `stride` apart, those of the sums `sums_stride`.
template <typename V, std::size_t Depth, std::size_t Regs>
void stream_step(const Features& x, std::size_t k, const float* weights,
                 std::size_t stride, float* sums, std::size_t sums_stride) {
    typename V::Reg w[Depth][Regs];
    for (std::size_t i = 0; i < Depth; ++i)
        for (std::size_t c = 0; c < Regs; ++c)
            w[i][c] = V::load(weights + i * stride + c * V::lanes);
    for (std::size_t r = 0; r < x.n; ++r) {
        float* target = sums + r * sums_stride;
        typename V::Reg total[Regs];
        for (std::size_t c = 0; c < Regs; ++c)
            total[c] = V::load(target + c * V::lanes);
        for (std::size_t i = 0; i < Depth; ++i) {
            const auto feature = V::broadcast(x.data + r * x.n_features + k + i);
            for (std::size_t c = 0; c < Regs; ++c)
                total[c] = V::fmadd(feature, w[i][c], total[c]);
        }
        for (std::size_t c = 0; c < Regs; ++c)
            V::store(target + c * V::lanes, total[c]);
    }
}

/// Add features k .. k + Depth to the sums (n, padded) of `width` outputs.
template <typename V, std::size_t Depth>
void stream(const LinearJob& job, std::size_t k, std::size_t first, std::size_t width,
            float* sums, std::size_t padded) {
    constexpr std::size_t regs = 2, step = regs * V::lanes;
    const std::size_t stride = job.map.n_bits;
    const float* weights = job.map.weights + k * stride + first;
    std::size_t j = 0;
    if (job.x.n == 1) {
        const Features one{job.x.data, 1, job.x.n_features};
        for (; j + step <= width; j += step)
            stream_step<V, Depth, regs>(one, k, weights + j, stride, sums + j, 0);
    }
    for (; j + step <= width; j += step)
        stream_step<V, Depth, regs>(job.x, k, weights + j, stride, sums + j, padded);
    if (j == width) return;
    alignas(64) float rest[Depth * step] = {};
    for (std::size_t i = 0; i < Depth; ++i)
        std::memcpy(rest + i * step, weights + i * stride + j,
                    (width - j) * sizeof(float));
    stream_step<V, Depth, regs>(job.x, k, rest, step, sums + j, padded);
}

template <typename V, std::size_t Depth>
void stream_outputs(const LinearJob& job, Span outputs, float* sums) {
    constexpr std::size_t step = 2 * V::lanes;
    const std::size_t d = job.x.n_features, width = outputs.last - outputs.first;
    const std::size_t padded = ceil_div(width, step) * step;
    std::memset(sums, 0, job.x.n * padded * sizeof(float));
    for (std::size_t r = 0; r < job.x.n; ++r)
        std::memcpy(sums + r * padded, job.map.bias + outputs.first,
                    width * sizeof(float));
    std::size_t k = 0;
    for (; k + Depth <= d; k += Depth)
        stream<V, Depth>(job, k, outputs.first, width, sums, padded);
    for (; k < d; ++k) stream<V, 1>(job, k, outputs.first, width, sums, padded);
    for (std::size_t r = 0; r < job.x.n; ++r)
        for (std::size_t j = 0; j < width; j += 64)
            put_row<V>(job.out, job.map.n_bits, r, outputs.first + j,
                       sums + r * padded + j, smaller(64, width - j));
}

}  // namespace
}  // namespace fewbits
