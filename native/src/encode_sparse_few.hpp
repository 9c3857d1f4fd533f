#pragma once

#include "encode_columns.hpp"

// Sparse maps of a few rows, straight from the CSR matrix. Neighbouring outputs run as
// independent chains of additions, to hide the latency of each.

namespace fewbits {
namespace {

constexpr std::size_t few_sparse_rows = 32;
constexpr std::size_t scalar_rows = 2;
constexpr std::size_t scalar_chains = 4;

/// The weights of `Chains` neighbouring outputs.
template <std::size_t Chains>
struct Strands {
    const std::int32_t* indices[Chains];
    const float* values[Chains];
    std::int64_t length[Chains];
    std::int64_t common = INT64_MAX;

    Strands(const SparseAffine& map, std::size_t first) {
        for (std::size_t c = 0; c < Chains; ++c) {
            const std::int64_t start = map.indptr[first + c];
            length[c] = map.indptr[first + c + 1] - start;
            common = length[c] < common ? length[c] : common;
            indices[c] = map.indices + start;
            values[c] = map.values + start;
        }
    }
};

/// The strands lie one behind the other, so this walks through all of them ahead of
/// their use; the processor does not foresee such short runs itself.
template <std::size_t Chains>
void prefetch(const Strands<Chains>& strands, std::int64_t i) {
    constexpr std::int64_t ahead = 2048;
    const auto offset = static_cast<std::int64_t>(Chains) * i + ahead;
    __builtin_prefetch(strands.indices[0] + offset);
    __builtin_prefetch(strands.values[0] + offset);
}

template <typename V, std::size_t Chains>
void scalar_scores(const SparseAffine& map, const float* x, std::size_t first,
                   float* scores) {
    const Strands<Chains> strands(map, first);
    float total[Chains];
    for (std::size_t c = 0; c < Chains; ++c) total[c] = map.bias[first + c];
    const auto add = [&](std::size_t c, std::int64_t i) {
        total[c] = V::fmadd1(x[strands.indices[c][i]], strands.values[c][i], total[c]);
    };
    std::int64_t start = 0;
    for (; start + 4 <= strands.common; start += 4) {
        prefetch(strands, start);
#pragma GCC unroll 4
        for (std::int64_t i = start; i < start + 4; ++i)
#pragma GCC unroll 8
            for (std::size_t c = 0; c < Chains; ++c) add(c, i);
    }
    for (std::size_t c = 0; c < Chains; ++c) {
        for (std::int64_t i = start; i < strands.length[c]; ++i) add(c, i);
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
        for (; j + scalar_chains <= count; j += scalar_chains)
            scalar_scores<V, scalar_chains>(job.map, x, first + j, scores + j);
        for (; j < count; ++j) scalar_scores<V, 1>(job.map, x, first + j, scores + j);
        put_row<V>(job.out, job.map.n_bits, row, first, scores, count);
    }
}

/// The same with `Regs` registers of rows; x is transposed.
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

template <typename V>
std::size_t few_scratch(const SparseJob& job) {
    return (job.x.n_features + 8) * few_sparse_rows * sizeof(float);
}

}  // namespace
}  // namespace fewbits
