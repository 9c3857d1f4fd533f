#pragma once

#include "encode_dense_batch.hpp"

// Bilinear maps: for each row two small matrix products, by the tiles of dense maps.
// All that a row becomes stays in the cache.

namespace fewbits {
namespace {

/// A matrix in panels one tile wide: in place, but for the last columns where they do
/// not fill a panel, which lie in `rest` with zeros behind them.
template <typename V>
struct Panels {
    const float *matrix, *rest;
    std::size_t depth, columns;

    Panels(const float* values, std::size_t n_rows, std::size_t n_columns, float* space)
        : matrix(values), rest(space), depth(n_rows), columns(n_columns) {
        constexpr std::size_t width = Tile<V>::width;
        const std::size_t some = columns % width;
        for (std::size_t k = 0; some && k < depth; ++k) {
            std::memset(space + k * width, 0, width * sizeof(float));
            std::memcpy(space + k * width, matrix + (k + 1) * columns - some,
                        some * sizeof(float));
        }
    }

    std::size_t count() const { return ceil_div(columns, Tile<V>::width); }
    bool whole(std::size_t p) const { return (p + 1) * Tile<V>::width <= columns; }
    const float* panel(std::size_t p) const {
        return whole(p) ? matrix + p * Tile<V>::width : rest;
    }
    std::size_t stride(std::size_t p) const { return whole(p) ? columns : Tile<V>::width; }
    /// Columns of a panel that are no padding.
    std::size_t used(std::size_t p) const {
        return smaller(Tile<V>::width, columns - p * Tile<V>::width);
    }
};

/// The work space: the rests of both matrices, and what one row becomes.
template <typename V>
struct BilinearScratch {
    float *zeros, *tile, *left, *right, *x, *half, *scores;

    BilinearScratch(const BilinearMap& map, float* scratch)
        : zeros(scratch),
          tile(zeros + Tile<V>::width),
          left(tile + Tile<V>::size),
          right(left + map.d1 * Tile<V>::width),
          x(right + map.d2 * Tile<V>::width),
          half(x + map.d1 * map.d2),
          scores(half + halves(map)) {}

    static std::size_t halves(const BilinearMap& map) {
        return map.d1 * ceil_div(map.b2, Tile<V>::width) * Tile<V>::width;
    }
    static std::size_t floats(const BilinearMap& map) {
        return Tile<V>::size + (1 + map.d1 + map.d2) * Tile<V>::width +
               map.d1 * map.d2 + halves(map) + map.b1 * map.b2;
    }
};

/// The height of the tiles that `rows` rows are cut into, nearly the same for all.
template <typename V>
std::size_t tile_height(std::size_t rows) {
    return ceil_div(rows, ceil_div(rows, Tile<V>::rows));
}

/// Write the product of a row, as a matrix, and `right`: panel by panel.
template <typename V>
void times_right(const float* x, std::size_t d1, const Panels<V>& right,
                 const float* zeros, float* half) {
    const std::size_t d2 = right.depth, height = tile_height<V>(d1);
    for (std::size_t p = 0; p < right.count(); ++p)
        for (std::size_t r = 0; r < d1; r += height)
            multiply_rows<V>(smaller(height, d1 - r), x + r * d2, d2, right.panel(p),
                             right.stride(p), d2, zeros, std::size_t{0},
                             half + (p * d1 + r) * Tile<V>::width);
}

/// Write the products of the columns of `half` and `left`, one row of scores for each.
template <typename V>
void times_left(const float* half, const Panels<V>& left, const Panels<V>& right,
                const BilinearScratch<V>& space) {
    constexpr std::size_t width = Tile<V>::width;
    for (std::size_t p = 0; p < right.count(); ++p, half += left.depth * width) {
        const std::size_t columns = right.used(p), height = tile_height<V>(columns);
        for (std::size_t c = 0; c < columns; c += height) {
            const std::size_t rows = smaller(height, columns - c);
            for (std::size_t q = 0; q < left.count(); ++q) {
                multiply_rows<V, true>(rows, half + c, width, left.panel(q),
                                       left.stride(q), left.depth, space.zeros,
                                       std::size_t{0}, space.tile);
                for (std::size_t r = 0; r < rows; ++r)
                    std::memcpy(space.scores + (p * width + c + r) * left.columns +
                                    q * width,
                                space.tile + r * width, left.used(q) * sizeof(float));
            }
        }
    }
}

template <typename V>
std::size_t bilinear_scratch(const BilinearJob& job) {
    return BilinearScratch<V>::floats(job.map);
}

template <typename V>
void bilinear_share(const BilinearJob& job, float* scratch) {
    const auto& map = job.map;
    const BilinearScratch<V> space(map, scratch);
    std::memset(space.zeros, 0, Tile<V>::width * sizeof(float));
    const Panels<V> left(map.left, map.d1, map.b1, space.left);
    const Panels<V> right(map.right, map.d2, map.b2, space.right);
    const std::size_t d = job.x.n_features, padded = map.d1 * map.d2;
    std::memset(space.x + d, 0, (padded - d) * sizeof(float));
    for (std::size_t row = 0; row < job.x.n; ++row) {
        const float* x = job.x.data + row * d;
        if (d < padded) x = static_cast<float*>(std::memcpy(space.x, x, d * sizeof(float)));
        times_right<V>(x, map.d1, right, space.zeros, space.half);
        times_left<V>(space.half, left, right, space);
        put_with_bias<V>(job, row, 0, space.scores, map.n_bits);
    }
}

}  // namespace
}  // namespace fewbits
