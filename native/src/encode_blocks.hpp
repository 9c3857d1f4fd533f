#pragma once

#include "encode_dense_batch.hpp"

// Block-diagonal maps: a small dense product for each block, whose features are picked
// out of the rows while it runs. The weights of a block lie together.

namespace fewbits {
namespace {

/// The scores of `Regs` registers of outputs for `Rows` rows. Weights lie `stride`
/// apart; lanes beyond the block are written too, and overwritten by the next block.
template <typename V, std::size_t Rows, std::size_t Regs>
void picked_product(const float* x, std::size_t d, const std::int32_t* features,
                    std::size_t depth, const float* weights, std::size_t stride,
                    const float* bias, float* to, std::size_t to_stride) {
    typename V::Reg sums[Rows][Regs];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Regs; ++i)
            sums[r][i] = V::load(bias + i * V::lanes);
    for (std::size_t k = 0; k < depth; ++k) {
        const float* feature = x + features[k];
        typename V::Reg w[Regs];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Regs; ++i)
            w[i] = V::load(weights + k * stride + i * V::lanes);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Rows; ++r) {
            const auto value = V::broadcast(feature + r * d);
#pragma GCC unroll 4
            for (std::size_t i = 0; i < Regs; ++i)
                sums[r][i] = V::fmadd(value, w[i], sums[r][i]);
        }
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Regs; ++i)
            V::store(to + r * to_stride + i * V::lanes, sums[r][i]);
}

/// `picked_product` for numbers of rows and registers known only at run time.
template <typename V, std::size_t Rows = V::tile_rows, std::size_t Regs = V::tile_regs,
          typename... Args>
void picked(std::size_t rows, std::size_t regs, const Args&... args) {
    if constexpr (Rows > 1)
        if (rows < Rows) return picked<V, Rows - 1, Regs>(rows, regs, args...);
    if constexpr (Regs > 1)
        if (regs < Regs) return picked<V, Rows, Regs - 1>(rows, regs, args...);
    picked_product<V, Rows, Regs>(args...);
}

/// The work space: bias and sums, readable a panel beyond their end. A panel of weights
/// is used by so many tiles of rows before the next is read.
template <typename V>
struct BlocksScratch {
    static constexpr std::size_t rows = 8 * V::tile_rows;
    float *bias, *sums;
    std::size_t stride;

    BlocksScratch(const BlockMap& map, float* scratch)
        : bias(scratch), sums(bias + padded(map)), stride(padded(map)) {}

    static std::size_t padded(const BlockMap& map) {
        return ceil_div(map.n_bits, 64) * 64 + Tile<V>::width;
    }
    static std::size_t floats(const BlockMap& map, std::size_t n) {
        return (1 + smaller(n, rows)) * padded(map);
    }
};

template <typename V>
std::size_t blocks_scratch(const BlocksJob& job) {
    return BlocksScratch<V>::floats(job.map, job.x.n);
}

/// Write all scores of some rows to the work space.
template <typename V>
void block_sums(const BlockMap& map, const float* x, std::size_t d, std::size_t rows,
                const BlocksScratch<V>& space) {
    constexpr std::size_t width = Tile<V>::width;
    const float* weights = map.weights;
    for (std::size_t b = 0; b < map.n_blocks; ++b) {
        const std::int32_t* features = map.features + map.feature_starts[b];
        const auto depth =
            static_cast<std::size_t>(map.feature_starts[b + 1] - map.feature_starts[b]);
        const auto first = static_cast<std::size_t>(map.bit_starts[b]);
        const auto n = static_cast<std::size_t>(map.bit_starts[b + 1]) - first;
        for (std::size_t j = 0; j < n; j += width)
            for (std::size_t r = 0; r < rows; r += V::tile_rows)
                picked<V>(smaller(V::tile_rows, rows - r),
                          ceil_div(smaller(width, n - j), V::lanes), x + r * d, d,
                          features, depth, weights + j, n, space.bias + first + j,
                          space.sums + r * space.stride + first + j, space.stride);
        weights += depth * n;
    }
}

template <typename V>
void blocks_share(const BlocksJob& job, float* scratch) {
    const BlockMap& map = job.map;
    const BlocksScratch<V> space(map, scratch);
    std::memset(space.bias, 0, space.stride * sizeof(float));
    std::memcpy(space.bias, map.bias, map.n_bits * sizeof(float));
    const std::size_t n = job.x.n, d = job.x.n_features;
    for (std::size_t r = 0; r < smaller(n, space.rows); ++r)  // padding, which is read
        std::memset(space.sums + r * space.stride + map.n_bits, 0,
                    (space.stride - map.n_bits) * sizeof(float));
    for (std::size_t row = 0; row < n; row += space.rows) {
        const std::size_t rows = smaller(space.rows, n - row);
        block_sums<V>(map, job.x.data + row * d, d, rows, space);
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t j = 0; j < map.n_bits; j += 64)
                put_row<V>(job.out, map.n_bits, row + r, j,
                           space.sums + r * space.stride + j,
                           smaller(64, map.n_bits - j));
    }
}

}  // namespace
}  // namespace fewbits
