#pragma once

#include "encode_bits.hpp"

// The weights of a CSR matrix in the order in which a batch uses them: blocks of
// outputs, chunks of columns within them, and within those groups of outputs with
// equally many weights, so that the inner loop's length seldom changes.

namespace fewbits {
namespace {

constexpr std::size_t plan_bits = 1024;
constexpr std::size_t plan_columns = 128;

struct SparsePlan {
    std::size_t chunks;
    float* values;           // of each weight
    std::uint16_t* columns;  // of each weight, counted from the start of its chunk
    std::uint16_t* outputs;  // of each block and chunk, sorted by number of weights
    std::uint16_t* groups;   // how many of those have 0, 1, 2, ... weights
    std::int32_t* ends;      // (block_bits, 1 + chunks): work space of `build`

    SparsePlan(const SparseJob& job, void* memory) {
        const std::size_t n = weights(job), bits = job.last - job.first;
        chunks = ceil_div(job.x.n_features, plan_columns);
        values = static_cast<float*>(memory);
        ends = reinterpret_cast<std::int32_t*>(values + n);
        const std::size_t n_ends = block_bits(job) * (chunks + 1);
        columns = reinterpret_cast<std::uint16_t*>(ends + n_ends);
        outputs = columns + n;
        groups = outputs + bits * chunks;
    }

    static std::size_t weights(const SparseJob& job) {
        return static_cast<std::size_t>(job.map.indptr[job.last] -
                                        job.map.indptr[job.first]);
    }

    /// Whether 32 bits can number the weights.
    static bool fits(const SparseJob& job) { return weights(job) <= INT32_MAX; }

    static std::size_t block_bits(const SparseJob& job) {
        return smaller(plan_bits, job.last - job.first);
    }

    static std::size_t bytes(const SparseJob& job) {
        const std::size_t chunks = ceil_div(job.x.n_features, plan_columns);
        const std::size_t bits = job.last - job.first;
        return weights(job) * 6 + block_bits(job) * (chunks + 1) * 4 +
               bits * chunks * 2 +
               ceil_div(bits, plan_bits) * chunks * (plan_columns + 1) * 2;
    }

    void build(const SparseJob& job) const {
        std::size_t start = 0;
        std::uint16_t *sorted = outputs, *sizes = groups;
        for (std::size_t j = job.first; j < job.last; j += plan_bits) {
            const std::size_t bits = smaller(plan_bits, job.last - j);
            find_ends(job.map, j, bits);
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                start = sort_chunk(chunk, bits, start, sorted, sizes);
                sorted += bits;
                sizes += plan_columns + 1;
            }
            copy_weights(job.map, j, bits);
        }
    }

private:
    /// ends[j, c + 1]: how many weights of output `first + j` lie in chunks 0 to c.
    void find_ends(const SparseAffine& map, std::size_t first, std::size_t bits) const {
        for (std::size_t j = 0; j < bits; ++j) {
            std::int32_t* end = ends + j * (chunks + 1);
            for (std::size_t c = 0; c <= chunks; ++c) end[c] = 0;
            const std::int64_t start = map.indptr[first + j];
            const auto n = static_cast<std::int32_t>(map.indptr[first + j + 1] - start);
            const std::int32_t* indices = map.indices + start;
            for (std::int32_t i = 0; i < n; ++i)
                end[1 + static_cast<std::uint32_t>(indices[i]) / plan_columns] = i + 1;
            for (std::size_t c = 1; c <= chunks; ++c)
                if (end[c] < end[c - 1]) end[c] = end[c - 1];
        }
    }

    /// Order the outputs of a block by their number of weights in one chunk. Weights
    /// go to position `start` on; ends[j, chunk] becomes what to add to a weight's
    /// number within its output to get its position.
    std::size_t sort_chunk(std::size_t chunk, std::size_t bits, std::size_t start,
                           std::uint16_t* sorted, std::uint16_t* sizes) const {
        const std::size_t stride = chunks + 1;
        std::size_t rank[plan_columns + 1], place[plan_columns + 1];
        std::memset(sizes, 0, (plan_columns + 1) * sizeof *sizes);
        for (std::size_t j = 0; j < bits; ++j) {
            const std::int32_t* end = ends + j * stride + chunk;
            ++sizes[end[1] - end[0]];
        }
        std::size_t outputs_before = 0;
        for (std::size_t count = 0; count <= plan_columns; ++count) {
            rank[count] = outputs_before;
            place[count] = start;
            outputs_before += sizes[count];
            start += sizes[count] * count;
        }
        for (std::size_t j = 0; j < bits; ++j) {
            std::int32_t* end = ends + j * stride + chunk;
            const std::int32_t before = end[0];
            const auto count = static_cast<std::size_t>(end[1] - before);
            sorted[rank[count]++] = static_cast<std::uint16_t>(j);
            end[0] = static_cast<std::int32_t>(place[count]) - before;
            place[count] += count;
        }
        return start;
    }

    void copy_weights(const SparseAffine& map, std::size_t first,
                      std::size_t bits) const {
        for (std::size_t j = 0; j < bits; ++j) {
            const std::int32_t* shift = ends + j * (chunks + 1);
            const std::int64_t start = map.indptr[first + j];
            const std::int64_t n = map.indptr[first + j + 1] - start;
            for (std::int64_t i = 0; i < n; ++i) {
                const auto index = static_cast<std::size_t>(map.indices[start + i]);
                const std::size_t chunk = index / plan_columns;
                const auto to = shift[chunk] + i;
                columns[to] = static_cast<std::uint16_t>(index - chunk * plan_columns);
                values[to] = map.values[start + i];
            }
        }
    }
};

}  // namespace
}  // namespace fewbits
