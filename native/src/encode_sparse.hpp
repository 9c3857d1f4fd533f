#pragma once

#include "encode_bits.hpp"

// Sparse maps. Many rows: the lanes are rows, features lie transposed, and columns are
// taken in chunks that stay in the first level cache. One or two rows: scalar chains,
// several outputs at a time to hide the latency of the additions.

namespace fewbits {
namespace {

constexpr std::size_t sparse_rows = 64;
constexpr std::size_t sparse_bits = 1024;
constexpr std::size_t sparse_chunk_floats = 8192;
constexpr std::size_t scalar_rows = 2;
constexpr std::size_t chains = 4;

/// Rows [first, first + n) of the features, transposed: (n_features, width), zero
/// beyond the last row.
inline void transpose(const Features& x, std::size_t first, std::size_t n,
                      std::size_t width, float* out) {
    constexpr std::size_t line = 16;
    std::memset(out, 0, x.n_features * width * sizeof(float));
    for (std::size_t i = 0; i < x.n_features; i += line)
        for (std::size_t r = 0; r < n; ++r) {
            const float* source = x.data + (first + r) * x.n_features;
            for (std::size_t c = i; c < smaller(i + line, x.n_features); ++c)
                out[c * width + r] = source[c];
        }
}

/// Add the weights of one output from position `at` on whose features lie before
/// `end`; returns the position of the first that does not.
template <typename V, std::size_t Regs>
std::int64_t add_chunk(const SparseAffine& map, const float* x, std::int64_t at,
                       std::int64_t last, std::int32_t end, float* sums) {
    constexpr std::size_t width = Regs * V::lanes;
    typename V::Reg total[Regs];
    for (std::size_t r = 0; r < Regs; ++r) total[r] = V::load(sums + r * V::lanes);
    for (; at < last && map.indices[at] < end; ++at) {
        const auto weight = V::broadcast(map.values + at);
        const float* column = x + static_cast<std::size_t>(map.indices[at]) * width;
        for (std::size_t r = 0; r < Regs; ++r)
            total[r] = V::fmadd(V::load(column + r * V::lanes), weight, total[r]);
    }
    for (std::size_t r = 0; r < Regs; ++r) V::store(sums + r * V::lanes, total[r]);
    return at;
}

/// sums (outputs, rows): all features of outputs [first, last), chunk after chunk.
template <typename V, std::size_t Regs>
void add_features(const SparseJob& job, std::size_t first, std::size_t last,
                  const float* x, float* sums) {
    constexpr std::size_t width = Regs * V::lanes;
    const auto columns = static_cast<std::int32_t>(sparse_chunk_floats / width);
    const auto d = static_cast<std::int32_t>(job.x.n_features);
    std::int64_t at[sparse_bits];
    for (std::size_t j = first; j < last; ++j) {
        at[j - first] = job.map.indptr[j];
        for (std::size_t r = 0; r < width; ++r)
            sums[(j - first) * width + r] = job.map.bias[j];
    }
    for (std::int32_t chunk = 0; chunk < d;) {
        const std::int32_t end = columns < d - chunk ? chunk + columns : d;
        for (std::size_t j = first; j < last; ++j)
            at[j - first] =
                add_chunk<V, Regs>(job.map, x, at[j - first], job.map.indptr[j + 1],
                                   end, sums + (j - first) * width);
        chunk = end;
    }
}

/// Write sums (outputs, width) of rows [row, row + n) and 8 outputs or fewer.
template <typename V>
void put_columns(const SparseJob& job, std::size_t row, std::size_t n, std::size_t bit,
                 std::size_t count, const float* sums, std::size_t width) {
    const std::size_t n_bits = job.map.n_bits;
    if (job.out.scores) {
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t i = 0; i < count; ++i)
                job.out.scores[(row + r) * n_bits + bit + i] = sums[i * width + r];
        return;
    }
    std::uint64_t masks[8] = {};
    for (std::size_t i = 0; i < count; ++i)
        masks[i] = signs<V>(sums + i * width, width / V::lanes, job.out.zero_bit);
    std::uint8_t* codes = job.out.codes + row * ceil_div(n_bits, 8) + bit / 8;
    for (std::size_t r = 0; r < n; r += 8) {
        std::uint64_t square = 0;
        for (std::size_t i = 0; i < 8; ++i)
            square |= (masks[i] >> r & 0xff) << 8 * (7 - i);
        square = transposed(square);
        for (std::size_t i = 0; i < smaller(8, n - r); ++i)
            codes[(r + i) * ceil_div(n_bits, 8)] =
                static_cast<std::uint8_t>(square >> 8 * i);
    }
}

template <typename V, std::size_t Regs>
void sparse_block(const SparseJob& job, std::size_t row, std::size_t n,
                  float* scratch) {
    constexpr std::size_t width = Regs * V::lanes;
    float *x = scratch, *sums = scratch + job.x.n_features * width;
    transpose(job.x, row, n, width, x);
    for (std::size_t first = job.first; first < job.last; first += sparse_bits) {
        const std::size_t last = smaller(first + sparse_bits, job.last);
        add_features<V, Regs>(job, first, last, x, sums);
        for (std::size_t j = first; j < last; j += 8)
            put_columns<V>(job, row, n, j, smaller(8, last - j),
                           sums + (j - first) * width, width);
    }
}

template <typename V, std::size_t Regs = sparse_rows / V::lanes>
void sparse_block_of(std::size_t regs, const SparseJob& job, std::size_t row,
                     std::size_t n, float* scratch) {
    if constexpr (Regs > 1)
        if (regs < Regs)
            return sparse_block_of<V, Regs - 1>(regs, job, row, n, scratch);
    sparse_block<V, Regs>(job, row, n, scratch);
}

/// Scores of `Chains` neighbouring outputs of one row. Their chains of additions are
/// independent, so that they run at the same time.
template <typename V, std::size_t Chains>
void scalar_scores(const SparseAffine& map, const float* x, std::size_t first,
                   float* scores) {
    const std::int32_t* indices[Chains];
    const float* values[Chains];
    float total[Chains];
    std::int64_t common = INT64_MAX;
    for (std::size_t c = 0; c < Chains; ++c) {
        const std::int64_t start = map.indptr[first + c];
        const std::int64_t length = map.indptr[first + c + 1] - start;
        common = length < common ? length : common;
        indices[c] = map.indices + start;
        values[c] = map.values + start;
        total[c] = map.bias[first + c];
    }
    for (std::int64_t i = 0; i < common; ++i)
        for (std::size_t c = 0; c < Chains; ++c)
            total[c] = V::fmadd1(x[indices[c][i]], values[c][i], total[c]);
    for (std::size_t c = 0; c < Chains; ++c) {
        const std::int64_t start = map.indptr[first + c];
        const std::int64_t length = map.indptr[first + c + 1] - start;
        for (std::int64_t i = common; i < length; ++i)
            total[c] = V::fmadd1(x[indices[c][i]], values[c][i], total[c]);
        scores[c] = total[c];
    }
}

template <typename V>
void scalar_row(const SparseJob& job, std::size_t row) {
    const float* x = job.x.data + row * job.x.n_features;
    for (std::size_t first = job.first; first < job.last; first += 64) {
        alignas(64) float scores[64] = {};
        const std::size_t count = smaller(64, job.last - first);
        std::size_t j = 0;
        for (; j + chains <= count; j += chains)
            scalar_scores<V, chains>(job.map, x, first + j, scores + j);
        for (; j < count; ++j) scalar_scores<V, 1>(job.map, x, first + j, scores + j);
        put_row<V>(job.out, job.map.n_bits, row, first, scores, count);
    }
}

template <typename V>
std::size_t sparse_scratch(const SparseJob& job) {
    if (job.x.n <= scalar_rows) return 0;
    const std::size_t rows = smaller(ceil_div(job.x.n, V::lanes) * V::lanes,
                                     sparse_rows);
    return (job.x.n_features + smaller(sparse_bits, job.last - job.first)) * rows;
}

template <typename V>
void sparse_share(const SparseJob& job, float* scratch) {
    std::size_t row = 0;
    for (; row + scalar_rows < job.x.n; row += sparse_rows) {
        const std::size_t n = smaller(sparse_rows, job.x.n - row);
        sparse_block_of<V>(ceil_div(n, V::lanes), job, row, n, scratch);
    }
    for (; row < job.x.n; ++row) scalar_row<V>(job, row);
}

}  // namespace
}  // namespace fewbits
