#pragma once

#include <cstddef>
#include <cstdint>

namespace fewbits {

/// Rows to approximate by sums of vectors, one vector a bit, each added or subtracted.
struct AdditiveRows {
    float* scores;      // (n, n_bits): products of rows with the vectors; overwritten
    float* sums;        // (n, n_bits): products of the signs of scores with `gram`
    const float* gram;  // (n_bits, n_bits): products of the vectors with each other
    std::size_t n;
    std::size_t n_bits;
};

/// Choose the bits of each row by coordinate descent, starting at the signs of its
/// scores, and write the score of each bit given all the others, whose sign is the bit.
///
/// In each round the bit whose change brings the sum nearest to the row is changed,
/// until no change gains more than `tolerance`; before the next round the row is scaled
/// so that its approximation has the right length along it. No sum depends on the
/// processor: float32 operations are one for each bit, totals are in float64, in order.
void additive_scores(const AdditiveRows& rows, std::size_t n_rounds, float tolerance,
                     std::size_t n_threads);

/// Columns of `SignedPairs::products` come in blocks of so many.
constexpr std::size_t pair_block = 64;

/// Codes, and a whole number for each pair of bits.
struct SignedPairs {
    // (n_bits, columns), -127 to 127; zero where the column is not after the row.
    // `columns` is `n_bits`, rounded up to whole blocks.
    const std::int8_t* products;
    const std::uint8_t* codes;  // (n, ceil(n_bits / 8))
    std::size_t n;
    std::size_t n_bits;
};

/// Write for each code the sum of the products of all pairs of bits, those of bits that
/// differ subtracted.
void pair_sums(const SignedPairs& pairs, std::int64_t* sums, std::size_t n_threads);

}  // namespace fewbits
