#pragma once

#include "encode_sparse_batch.hpp"
#include "encode_sparse_few.hpp"

// Sparse maps: three ways, by the number of rows.

namespace fewbits {
namespace {

/// From this many rows on, sorting the weights for a batch pays.
constexpr std::size_t batch_from = 33;

inline bool in_batches(const SparseJob& job) {
    return job.x.n >= batch_from && SparsePlan::fits(job);
}

template <typename V>
std::size_t sparse_scratch(const SparseJob& job) {
    std::size_t bytes = job.x.n > scalar_rows ? few_scratch<V>(job) : 0;
    if (in_batches(job)) {
        const std::size_t batch = batch_scratch<V>(job);
        bytes = batch > bytes ? batch : bytes;
    }
    return ceil_div(bytes, sizeof(float));
}

template <typename V>
void sparse_share(const SparseJob& job, float* scratch) {
    std::size_t row = 0;
    if (in_batches(job)) {
        BatchScratch<V> batch(job, scratch);
        batch.plan.build(job);
        for (; row + batch_from <= job.x.n; row += batch_rows)
            batch_block<V>(job, row, smaller(batch_rows, job.x.n - row), batch);
    }
    for (; row + scalar_rows < job.x.n; row += few_sparse_rows)
        few_block_of<V>(job, row, smaller(few_sparse_rows, job.x.n - row), scratch);
    for (; row < job.x.n; ++row) scalar_row<V>(job, row);
}

}  // namespace
}  // namespace fewbits
