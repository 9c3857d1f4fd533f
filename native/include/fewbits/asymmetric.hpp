#pragma once

#include <cstddef>
#include <cstdint>

namespace fewbits {

/// Scores of `n` queries, and for each the positions of the codes to compare it with.
struct Candidates {
    const float* scores;       // (n, n_bits)
    const std::int64_t* rows;  // (n, per_query), positions; -1 for none
    std::size_t n;
    std::size_t n_bits;
    std::size_t per_query;
};

/// Write to `distances` (n, per_query) the sum of |score| over the bits on which a code
/// of `database` (., ceil(n_bits / 8)) and the sign of the score disagree; infinity
/// where there is no code.
///
/// The order of the additions is fixed: 16 sums, one for each place within two bytes,
/// then halves added to halves.
void asymmetric_distances(const Candidates& candidates, const std::uint8_t* database,
                          float* distances, std::size_t n_threads);

/// Rows of weights, one weight for each bit, and codes to apply them to.
struct WeightedBits {
    const float* weights;
    const std::uint8_t* codes;  // (n_codes, ceil(n_bits / 8))
    std::size_t n;
    std::size_t n_bits;
    std::size_t n_codes;
};

/// Write to `sums` (n, n_codes) the sum of the weights of the bits that are set in each
/// code, added in the same order.
void bit_sums(const WeightedBits& all, float* sums, std::size_t n_threads);

}  // namespace fewbits
