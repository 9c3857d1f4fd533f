#pragma once

#include "encode_strands.hpp"

// Sparse maps of one row or two: an output in each lane, its features fetched one by
// one. From the CSR matrix itself where its weights could not be woven.

namespace fewbits {
namespace {

constexpr std::size_t single_chains = 4;

/// The features, and a one behind them.
inline std::size_t woven_scratch(const SparseJob& job) { return job.x.n_features + 1; }

/// Sums of one group of outputs.
template <typename V>
void woven_scores(const WovenWeights& woven, std::size_t group, const float* x,
                  float* scores) {
    constexpr std::size_t lanes = WovenWeights::lanes, regs = lanes / V::lanes;
    constexpr std::size_t ahead = 512;  // further than the processor itself looks
    const std::uint16_t* columns = woven.columns.data() + woven.steps[group] * lanes;
    const float* values = woven.values.data() + woven.steps[group] * lanes;
    const float* end = woven.values.data() + woven.steps[group + 1] * lanes;
    typename V::Reg total[regs];
    for (std::size_t r = 0; r < regs; ++r)
        total[r] = V::load(woven.bias.data() + group * lanes + r * V::lanes);
    for (; values < end; values += lanes, columns += lanes) {
        __builtin_prefetch(columns + ahead);
        __builtin_prefetch(values + ahead);
        for (std::size_t r = 0; r < regs; ++r)
            total[r] = V::fmadd(V::gather(x, columns + r * V::lanes),
                                V::load(values + r * V::lanes), total[r]);
    }
    for (std::size_t r = 0; r < regs; ++r) V::store(scores + r * V::lanes, total[r]);
}

template <typename V>
void woven_row(const SparseJob& job, std::size_t row, float* scratch) {
    using Woven = WovenWeights;
    const std::size_t d = job.x.n_features;
    std::memcpy(scratch, job.x.data + row * d, d * sizeof(float));
    scratch[d] = 1.0F;
    for (std::size_t first = job.first; first < job.last; first += Woven::block) {
        alignas(64) float sums[Woven::block], scores[Woven::block];
        for (std::size_t g = 0; g < Woven::groups; ++g)
            woven_scores<V>(*job.map.woven, first / Woven::lanes + g, scratch,
                            sums + g * Woven::lanes);
        for (std::size_t i = 0; i < Woven::block; ++i)
            scores[job.map.woven->outputs[first + i]] = sums[i];
        put_row<V>(job.out, job.map.n_bits, row, first, scores,
                   smaller(Woven::block, job.last - first));
    }
}

template <typename V, std::size_t Chains>
void chain_scores(const SparseAffine& map, const float* x, std::size_t first,
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
void single_row(const SparseJob& job, std::size_t row) {
    const float* x = job.x.data + row * job.x.n_features;
    for (std::size_t first = job.first; first < job.last; first += 64) {
        alignas(64) float scores[64] = {};
        const std::size_t count = smaller(64, job.last - first);
        std::size_t j = 0;
        for (; j + single_chains <= count; j += single_chains)
            chain_scores<V, single_chains>(job.map, x, first + j, scores + j);
        for (; j < count; ++j) chain_scores<V, 1>(job.map, x, first + j, scores + j);
        put_row<V>(job.out, job.map.n_bits, row, first, scores, count);
    }
}

}  // namespace
}  // namespace fewbits
