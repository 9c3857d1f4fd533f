#pragma once

#include "encode_dense_batch.hpp"
#include "encode_dense_few.hpp"

// Dense maps: two ways, by the number of rows.

namespace fewbits {
namespace {

/// Up to this many rows the weights are used too seldom to be worth packing.
constexpr std::size_t few_rows = 5;
constexpr std::size_t streamed_columns = 8192;

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
            if (job.x.n == 1)
                stream_outputs<V, 8>(job, outputs, scratch);
            else if (few)
                stream_outputs<V, 4>(job, outputs, scratch);
            else
                block<V>(job, {r, smaller(r + rows, job.x.n)}, outputs,
                         DenseScratch<V>(scratch));
        }
}

}  // namespace
}  // namespace fewbits
