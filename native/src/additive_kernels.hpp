#pragma once

#include <cstddef>
#include <cstdint>

#include "fewbits/additive.hpp"

namespace fewbits {

/// Numbers that are looked at side by side when the best change is looked for.
constexpr std::size_t descent_lanes = 16;

/// Rows [first, last).
struct DescentJob {
    AdditiveRows rows;
    std::size_t first;
    std::size_t last;
    std::size_t n_rounds;
    float tolerance;
    float* scratch;  // 5 times `n_bits` floats, rounded up to whole lanes
};

/// Codes [first, last).
struct PairJob {
    SignedPairs pairs;
    const std::int64_t* row_sums;  // of the products of each bit with all the others
    std::int64_t sum;              // of all products
    std::size_t first;
    std::size_t last;
    std::uint64_t* scratch;  // room for a code in words
    std::int64_t* sums;
};

/// The kernels of one instruction set. They allocate nothing and call no threads.
struct AdditiveKernels {
    void (*descend)(const DescentJob&);
    void (*pair_sums)(const PairJob&);
};

extern const AdditiveKernels additive_portable;
extern const AdditiveKernels additive_avx2;
extern const AdditiveKernels additive_avx512;
extern const AdditiveKernels additive_neon;

}  // namespace fewbits
