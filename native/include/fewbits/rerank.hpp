#pragma once

#include <cstddef>
#include <cstdint>

namespace fewbits {

enum class Metric { euclidean, cosine, dot };

/// Half-precision numbers as they lie in memory.
struct Half {
    std::uint16_t bits;
};

/// Numbers of int8 vectors that share a scale and an offset.
constexpr std::size_t int8_block = 32;

/// Row-major vectors of `n_features` numbers. Those of int8 stand for `value * scale +
/// offset`, rounded to float32 twice; `blocks` (n, ceil(n_features / int8_block), 2)
/// holds the scale and the offset of each block of each vector.
template <typename T>
struct Vectors {
    const T* data;
    std::size_t n_features;
    const float* blocks = nullptr;  // of int8 only
};

/// Queries, and for each the positions of the vectors to compare it with.
struct VectorCandidates {
    const double* queries;     // (n, n_features), finite
    const std::int64_t* rows;  // (n, per_query), positions; -1 for none
    std::size_t n;
    std::size_t per_query;
    Metric metric;
};

/// Write to `distances` (n, per_query) the Euclidean distances, 1 - cosine (of a vector
/// of zeros 1), or minus the dot products; infinity where there is no vector, NaN where
/// a sum is not finite.
///
/// All arithmetic is in float64 and not fused, and the order of the additions is fixed:
/// 16 sums that start at zero, feature `i` in sum `i % 16`, then halves added to halves.
/// The result is rounded to float32 once.
template <typename T>
void vector_distances(const VectorCandidates& candidates, const Vectors<T>& vectors,
                      float* distances, std::size_t n_threads);

/// Pairs of a distance, not NaN, and a position for each of `n` queries.
struct Found {
    const float* distances;    // (n, per_query)
    const std::int64_t* rows;  // (n, per_query), positions; -1 for none
    std::size_t n;
    std::size_t per_query;
};

/// Write the first `k` (at most `per_query`) pairs of each query in the order of
/// (distance, position); those of -1 come last among equal distances.
void first_pairs(const Found& found, std::size_t k, float* distances,
                 std::int64_t* rows, std::size_t n_threads);

}  // namespace fewbits
