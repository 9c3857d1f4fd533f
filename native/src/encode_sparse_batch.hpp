#pragma once

#include "encode_columns.hpp"
#include "encode_sparse_plan.hpp"

// Sparse maps of many rows. A row in each lane, 64 at a time: one weight meets 64
// features that lie together. Columns are taken in chunks whose features stay in the
// first level cache, outputs in blocks whose sums stay in the second.

namespace fewbits {
namespace {

constexpr std::size_t batch_rows = 64;

template <typename V>
struct BatchScratch {
    float *x, *sums;
    SparsePlan plan;

    BatchScratch(const SparseJob& job, float* scratch)
        : x(scratch),
          sums(x + job.x.n_features * batch_rows),
          plan(job, sums + SparsePlan::block_bits(job) * batch_rows) {}
};

/// Add one chunk of columns to the sums of `n` outputs with `count` weights each.
template <typename V>
void add_group(const float* x, const std::uint16_t* outputs, std::size_t n,
               std::size_t count, const std::uint16_t* columns, const float* values,
               float* sums) {
    constexpr std::size_t regs = batch_rows / V::lanes;
    for (std::size_t m = 0; m < n; ++m) {
        float* target = sums + outputs[m] * batch_rows;
        const float* next = sums + outputs[m + 1 < n ? m + 1 : m] * batch_rows;
        for (std::size_t i = 0; i < batch_rows; i += 16) __builtin_prefetch(next + i);
        typename V::Reg total[regs];
        for (std::size_t r = 0; r < regs; ++r)
            total[r] = V::load(target + r * V::lanes);
        for (std::size_t i = 0; i < count; ++i) {
            const auto weight = V::broadcast(values + i);
            const float* column = x + columns[i] * batch_rows;
            for (std::size_t r = 0; r < regs; ++r)
                total[r] = V::fmadd(V::load(column + r * V::lanes), weight, total[r]);
        }
        columns += count;
        values += count;
        for (std::size_t r = 0; r < regs; ++r)
            V::store(target + r * V::lanes, total[r]);
    }
}

template <typename V>
void batch_block(const SparseJob& job, std::size_t row, std::size_t n,
                 BatchScratch<V>& scratch) {
    const SparsePlan& plan = scratch.plan;
    transpose<V>(job.x, row, n, batch_rows, scratch.x);
    const std::uint16_t *columns = plan.columns, *outputs = plan.outputs,
                        *groups = plan.groups;
    const float* values = plan.values;
    for (std::size_t first = job.first; first < job.last; first += plan_bits) {
        const std::size_t bits = smaller(plan_bits, job.last - first);
        for (std::size_t j = 0; j < bits; ++j)
            for (std::size_t r = 0; r < batch_rows; ++r)
                scratch.sums[j * batch_rows + r] = job.map.bias[first + j];
        for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
            const float* x = scratch.x + chunk * plan_columns * batch_rows;
            for (std::size_t count = 0; count <= plan_columns; ++count) {
                const std::size_t members = *groups++;
                if (members && count)
                    add_group<V>(x, outputs, members, count, columns, values,
                                 scratch.sums);
                outputs += members;
                columns += members * count;
                values += members * count;
            }
        }
        for (std::size_t j = 0; j < bits; j += 8)
            put_columns<V>(job, row, n, first + j, smaller(8, bits - j),
                           scratch.sums + j * batch_rows, batch_rows);
    }
}

template <typename V>
std::size_t batch_scratch(const SparseJob& job) {
    return (job.x.n_features + SparsePlan::block_bits(job)) * batch_rows *
               sizeof(float) +
           SparsePlan::bytes(job);
}

}  // namespace
}  // namespace fewbits
