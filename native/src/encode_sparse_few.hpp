#pragma once

#include "encode_columns.hpp"
#include "encode_strands.hpp"

// Sparse maps of a few rows, straight from the CSR matrix, with a row in each lane.

namespace fewbits {
namespace {

constexpr std::size_t few_sparse_rows = 32;

/// Scores of `Regs` registers of rows; x is transposed.
template <typename V, std::size_t Regs, std::size_t Chains>
void few_scores(const SparseAffine& map, const float* x, std::size_t first,
                float* sums) {
    constexpr std::size_t width = Regs * V::lanes;
    const Strands<Chains> strands(map, first);
    typename V::Reg total[Chains][Regs];
    const auto add = [&](std::size_t c, std::int64_t i) {
        const auto weight = V::broadcast(strands.values[c] + i);
        const float* column =
            x + static_cast<std::size_t>(strands.indices[c][i]) * width;
        for (std::size_t r = 0; r < Regs; ++r)
            total[c][r] = V::fmadd(V::load(column + r * V::lanes), weight, total[c][r]);
    };
    for (std::size_t c = 0; c < Chains; ++c)
        for (std::size_t r = 0; r < Regs; ++r)
            total[c][r] = V::broadcast(map.bias + first + c);
    for (std::int64_t i = 0; i < strands.common; ++i) {
        prefetch(strands, i);
        for (std::size_t c = 0; c < Chains; ++c) add(c, i);
    }
    for (std::size_t c = 0; c < Chains; ++c) {
        for (std::int64_t i = strands.common; i < strands.length[c]; ++i) add(c, i);
        for (std::size_t r = 0; r < Regs; ++r)
            V::store(sums + c * width + r * V::lanes, total[c][r]);
    }
}

template <typename V, std::size_t Regs>
void few_block(const SparseJob& job, std::size_t row, std::size_t n, float* scratch) {
    constexpr std::size_t width = Regs * V::lanes;
    constexpr std::size_t chains = Regs > 4 ? 1 : 8 / Regs > 4 ? 4 : 8 / Regs;
    float *sums = scratch, *x = scratch + 8 * width;
    transpose<V>(job.x, row, n, width, x);
    for (std::size_t j = job.first; j < job.last; j += 8) {
        const std::size_t count = smaller(8, job.last - j);
        std::size_t i = 0;
        for (; i + chains <= count; i += chains)
            few_scores<V, Regs, chains>(job.map, x, j + i, sums + i * width);
        for (; i < count; ++i)
            few_scores<V, Regs, 1>(job.map, x, j + i, sums + i * width);
        put_columns<V>(job, row, n, j, count, sums, width);
    }
}

template <typename V, std::size_t Regs = few_sparse_rows / V::lanes>
void few_block_of(const SparseJob& job, std::size_t row, std::size_t n,
                  float* scratch) {
    if constexpr (Regs > 1)
        if (n <= Regs / 2 * V::lanes)
            return few_block_of<V, Regs / 2>(job, row, n, scratch);
    few_block<V, Regs>(job, row, n, scratch);
}

inline std::size_t few_scratch(const SparseJob& job) {
    return (job.x.n_features + 8) * few_sparse_rows;
}

}  // namespace
}  // namespace fewbits
