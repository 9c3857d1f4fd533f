#pragma once

#include "encode_bits.hpp"

// Dense maps of many rows: a matrix product in the manner of Goto and van de Geijn
// (2008), with one tile of outputs in registers.

namespace fewbits {
namespace {

template <typename V>
struct Tile {
    static constexpr std::size_t rows = V::tile_rows;
    static constexpr std::size_t width = V::tile_regs * V::lanes;
    static constexpr std::size_t size = rows * width;
};

/// Blocks of the product: `depth` features of `columns` outputs stay in the second
/// level cache, and are used by `rows` rows before the next are packed.
struct Blocks {
    static constexpr std::size_t depth = 512, columns = 256, rows = 1536;
};

/// Add `depth` features to one tile: sums = from + x * panel. The rows of the panel lie
/// `panel_stride` apart, those of `from` `from_stride` (0 repeats the bias); those of
/// `to` fill a tile. Those of `x` lie `stride` apart, or its columns where it is turned.
template <typename V, bool Turned, std::size_t Rows>
void multiply(const float* x, std::size_t stride, const float* panel,
              std::size_t panel_stride, std::size_t depth, const float* from,
              std::size_t from_stride, float* to) {
    constexpr std::size_t regs = V::tile_regs;
    typename V::Reg sums[Rows][regs];
    const float* row[Rows];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
        row[r] = x + r * stride;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < regs; ++i)
            sums[r][i] = V::load(from + r * from_stride + i * V::lanes);
    }
    for (std::size_t k = 0; k < depth; ++k) {
        typename V::Reg w[regs];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < regs; ++i)
            w[i] = V::load(panel + k * panel_stride + i * V::lanes);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Rows; ++r) {
            const auto feature =
                V::broadcast(Turned ? x + k * stride + r : row[r] + k);
#pragma GCC unroll 4
            for (std::size_t i = 0; i < regs; ++i)
                sums[r][i] = V::fmadd(feature, w[i], sums[r][i]);
        }
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
        for (std::size_t i = 0; i < regs; ++i)
            V::store(to + r * Tile<V>::width + i * V::lanes, sums[r][i]);
}

/// `multiply` for a number of rows known only at run time.
template <typename V, bool Turned = false, std::size_t Rows = V::tile_rows,
          typename... Args>
void multiply_rows(std::size_t rows, const Args&... args) {
    if constexpr (Rows > 1)
        if (rows < Rows) return multiply_rows<V, Turned, Rows - 1>(rows, args...);
    multiply<V, Turned, Rows>(args...);
}

/// Copy weights [k, k + depth) x [first, last) into panels one tile wide, zero beyond
/// the last output.
template <typename V>
void pack(const Affine& map, std::size_t k, std::size_t depth, std::size_t first,
          std::size_t last, float* panels) {
    constexpr std::size_t width = Tile<V>::width, ahead = 16;
    for (std::size_t i = 0; i < depth; ++i) {
        const float* source = map.weights + (k + i) * map.n_bits;
        float* target = panels + i * width;
        for (std::size_t line = first; line < last; line += 16)
            __builtin_prefetch(source + ahead * map.n_bits + line);
        std::size_t j = first;
        for (; j + width <= last; j += width, target += depth * width)
            for (std::size_t r = 0; r < V::tile_regs; ++r)
                V::store(target + r * V::lanes, V::load(source + j + r * V::lanes));
        if (j == last) continue;
        std::memset(target, 0, width * sizeof(float));
        std::memcpy(target, source + j, (last - j) * sizeof(float));
    }
}

/// The work space of one block.
template <typename V>
struct DenseScratch {
    static constexpr std::size_t panel_floats = Blocks::depth * Blocks::columns;
    float *bias, *tile, *panels, *sums;

    explicit DenseScratch(float* scratch)
        : bias(scratch),
          tile(bias + Blocks::columns),
          panels(tile + ceil_div(Tile<V>::size, 16) * 16),
          sums(panels + panel_floats) {}

    static std::size_t floats(std::size_t n) {
        const std::size_t tiles = ceil_div(smaller(n, Blocks::rows), Tile<V>::rows);
        return Blocks::columns + ceil_div(Tile<V>::size, 16) * 16 + panel_floats +
               tiles * Tile<V>::rows * Blocks::columns;
    }
};

template <typename V>
void finish_tile(const LinearJob& job, Span rows, std::size_t j, std::size_t last,
                 const float* sums) {
    const std::size_t count = smaller(Tile<V>::width, last - j);
    for (std::size_t r = rows.first; r < rows.last; ++r, sums += Tile<V>::width)
        put_row<V>(job.out, job.map.n_bits, r, j, sums, count);
}

/// All features of one block of rows and outputs. Between two spans of features the
/// float32 sums wait in memory, which changes nothing.
template <typename V>
void block(const LinearJob& job, Span rows, Span outputs, DenseScratch<V> scratch) {
    constexpr std::size_t width = Tile<V>::width;
    const std::size_t d = job.x.n_features;
    const std::size_t step = ceil_div(d, ceil_div(d, Blocks::depth));
    const std::size_t n = rows.last - rows.first;
    const std::size_t height = ceil_div(n, ceil_div(n, Tile<V>::rows));
    const std::size_t panels = ceil_div(outputs.last - outputs.first, width);
    std::memset(scratch.bias, 0, panels * width * sizeof(float));
    std::memcpy(scratch.bias, job.map.bias + outputs.first,
                (outputs.last - outputs.first) * sizeof(float));
    for (std::size_t k = 0; k < d; k += step) {
        const std::size_t depth = smaller(step, d - k);
        const bool start = k == 0, end = k + depth == d;
        pack<V>(job.map, k, depth, outputs.first, outputs.last, scratch.panels);
        float* sums = scratch.sums;
        for (std::size_t r = rows.first; r < rows.last; r += height) {
            const Span some{r, smaller(r + height, rows.last)};
            const float* x = job.x.data + r * d + k;
            for (std::size_t p = 0; p < panels; ++p, sums += Tile<V>::size) {
                float* to = end ? scratch.tile : sums;
                multiply_rows<V>(some.last - some.first, x, d,
                                 scratch.panels + p * depth * width, width, depth,
                                 start ? scratch.bias + p * width : sums,
                                 start ? std::size_t{0} : width, to);
                if (end)
                    finish_tile<V>(job, some, outputs.first + p * width, outputs.last,
                                   to);
            }
        }
    }
}

}  // namespace
}  // namespace fewbits
