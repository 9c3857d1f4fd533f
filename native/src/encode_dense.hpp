#pragma once

#include "encode_bits.hpp"

// Dense maps. Many rows: a matrix product in the manner of Goto and van de Geijn
// (2008), with one tile of outputs in registers. Few rows: the weights are read once,
// straight through.

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

/// Up to this many rows the weights are used too seldom to be worth packing.
constexpr std::size_t few_rows = 5;
constexpr std::size_t streamed_columns = 8192;

/// Add `depth` features to one tile: sums = from + x * panel. The rows of `from` lie
/// `from_stride` apart (0 repeats the bias); those of `to` fill a tile.
template <typename V, std::size_t Rows>
void multiply(const float* x, std::size_t stride, const float* panel,
              std::size_t depth, const float* from, std::size_t from_stride,
              float* to) {
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
            w[i] = V::load(panel + k * Tile<V>::width + i * V::lanes);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Rows; ++r) {
            const auto feature = V::broadcast(row[r] + k);
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
template <typename V, std::size_t Rows = V::tile_rows, typename... Args>
void multiply_rows(std::size_t rows, const Args&... args) {
    if constexpr (Rows > 1)
        if (rows < Rows) return multiply_rows<V, Rows - 1>(rows, args...);
    multiply<V, Rows>(args...);
}

/// Copy weights [k, k + depth) x [first, last) into panels one tile wide, zero beyond
/// the last output.
template <typename V>
void pack(const Affine& map, std::size_t k, std::size_t depth, std::size_t first,
          std::size_t last, float* panels) {
    constexpr std::size_t width = Tile<V>::width;
    for (std::size_t i = 0; i < depth; ++i) {
        const float* source = map.weights + (k + i) * map.n_bits;
        float* target = panels + i * width;
        std::size_t j = first;
        for (; j + width <= last; j += width, target += depth * width)
            for (std::size_t r = 0; r < V::tile_regs; ++r)
                V::store(target + r * V::lanes, V::load(source + j + r * V::lanes));
        if (j == last) continue;
        std::memset(target, 0, width * sizeof(float));
        std::memcpy(target, source + j, (last - j) * sizeof(float));
    }
}

struct Span {
    std::size_t first, last;
};

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
                                 scratch.panels + p * depth * width, depth,
                                 start ? scratch.bias + p * width : sums,
                                 start ? std::size_t{0} : width, to);
                if (end)
                    finish_tile<V>(job, some, outputs.first + p * width, outputs.last,
                                   to);
            }
        }
    }
}

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

template <typename V>
void stream_outputs(const LinearJob& job, Span outputs, float* sums) {
    constexpr std::size_t depth = 4, step = 2 * V::lanes;
    const std::size_t d = job.x.n_features, width = outputs.last - outputs.first;
    const std::size_t padded = ceil_div(width, step) * step;
    std::memset(sums, 0, job.x.n * padded * sizeof(float));
    for (std::size_t r = 0; r < job.x.n; ++r)
        std::memcpy(sums + r * padded, job.map.bias + outputs.first,
                    width * sizeof(float));
    std::size_t k = 0;
    for (; k + depth <= d; k += depth)
        stream<V, depth>(job, k, outputs.first, width, sums, padded);
    for (; k < d; ++k) stream<V, 1>(job, k, outputs.first, width, sums, padded);
    for (std::size_t r = 0; r < job.x.n; ++r)
        for (std::size_t j = 0; j < width; j += 64)
            put_row<V>(job.out, job.map.n_bits, r, outputs.first + j,
                       sums + r * padded + j, smaller(64, width - j));
}

template <typename V>
std::size_t linear_scratch(const LinearJob& job) {
    if (job.x.n <= few_rows) return job.x.n * streamed_columns;
    return DenseScratch<V>::floats(job.x.n);
}

template <typename V>
void linear_share(const LinearJob& job, float* scratch) {
    const bool few = job.x.n <= few_rows;
    const std::size_t rows = few ? job.x.n : Blocks::rows;
    const std::size_t columns = few ? streamed_columns : Blocks::columns;
    for (std::size_t r = 0; r < job.x.n; r += rows)
        for (std::size_t j = job.first; j < job.last; j += columns) {
            const Span outputs{j, smaller(j + columns, job.last)};
            if (few)
                stream_outputs<V>(job, outputs, scratch);
            else
                block<V>(job, {r, smaller(r + rows, job.x.n)}, outputs,
                         DenseScratch<V>(scratch));
        }
}

}  // namespace
}  // namespace fewbits
