#pragma once

#include "encode_sparse_batch.hpp"
#include "encode_sparse_few.hpp"
#include "encode_sparse_single.hpp"

// Sparse maps: three ways, by the number of rows.

namespace fewbits {
namespace {

template <typename V>
std::size_t sparse_scratch(const SparseJob& job) {
    std::size_t floats = job.map.woven ? woven_scratch(job) : 0;
    if (job.x.n > single_rows) floats = larger(floats, few_scratch(job));
    if (job.map.plan) floats = larger(floats, batch_scratch(job));
    return floats;
}

template <typename V>
void sparse_share(const SparseJob& job, float* scratch) {
    std::size_t row = 0;
    if (job.map.plan)
        for (; row + batch_from <= job.x.n; row += batch_rows)
            batch_block<V>(job, row, smaller(batch_rows, job.x.n - row), scratch);
    for (; row + single_rows < job.x.n; row += few_sparse_rows)
        few_block_of<V>(job, row, smaller(few_sparse_rows, job.x.n - row), scratch);
    for (; row < job.x.n; ++row)
        if (job.map.woven)
            woven_row<V>(job, row, scratch);
        else
            single_row<V>(job, row);
}

}  // namespace
}  // namespace fewbits
