#pragma once

#include "encode_columns.hpp"

// Sparse maps of many rows. A row in each lane, 64 at a time: one weight meets 64
// features that lie together. Columns are taken in chunks whose features stay in the
// first level cache, outputs in blocks whose sums stay in the second.

namespace fewbits {
namespace {

constexpr std::size_t batch_rows = 64;

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
                 float* scratch) {
    const BatchPlan& plan = *job.map.plan;
    float *features = scratch, *sums = features + job.x.n_features * batch_rows;
    transpose<V>(job.x, row, n, batch_rows, features);
    const auto start = static_cast<std::size_t>(job.map.indptr[job.first]);
    const float* values = plan.values.data() + start;
    const std::uint16_t *columns = plan.columns.data() + start,
                        *outputs = plan.outputs.data() + job.first * plan.chunks,
                        *sizes = plan.sizes.data() + job.first / BatchPlan::block *
                                                         plan.chunks *
                                                         (BatchPlan::chunk + 1);
    for (std::size_t first = job.first; first < job.last; first += BatchPlan::block) {
        const std::size_t bits = smaller(BatchPlan::block, job.last - first);
        for (std::size_t j = 0; j < bits; ++j)
            for (std::size_t r = 0; r < batch_rows; ++r)
                sums[j * batch_rows + r] = job.map.bias[first + j];
        for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
            const float* x = features + chunk * BatchPlan::chunk * batch_rows;
            for (std::size_t count = 0; count <= BatchPlan::chunk; ++count) {
                const std::size_t members = *sizes++;
                if (members && count)
                    add_group<V>(x, outputs, members, count, columns, values, sums);
                outputs += members;
                columns += members * count;
                values += members * count;
            }
        }
        for (std::size_t j = 0; j < bits; j += 8)
            put_columns<V>(job, row, n, first + j, smaller(8, bits - j),
                           sums + j * batch_rows, batch_rows);
    }
}

inline std::size_t batch_scratch(const SparseJob& job) {
    const std::size_t bits = smaller(BatchPlan::block, job.last - job.first);
    return (job.x.n_features + bits) * batch_rows;
}

}  // namespace
}  // namespace fewbits
