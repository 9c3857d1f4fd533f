#pragma once

#include "encode_bits.hpp"

// Rows of the CSR matrix as they are. Neighbouring outputs run as independent chains of
// additions, to hide the latency of each.

namespace fewbits {
namespace {

/// The weights of `Chains` neighbouring outputs.
template <std::size_t Chains>
struct Strands {
    const std::int32_t* indices[Chains];
    const float* values[Chains];
    std::int64_t length[Chains];
    std::int64_t common = INT64_MAX;

    Strands(const SparseAffine& map, std::size_t first) {
        for (std::size_t c = 0; c < Chains; ++c) {
            const std::int64_t start = map.indptr[first + c];
            length[c] = map.indptr[first + c + 1] - start;
            common = length[c] < common ? length[c] : common;
            indices[c] = map.indices + start;
            values[c] = map.values + start;
        }
    }
};

/// The strands lie one behind the other, so this walks through all of them ahead of
/// their use; the processor does not foresee such short runs itself.
template <std::size_t Chains>
void prefetch(const Strands<Chains>& strands, std::int64_t i) {
    constexpr std::int64_t ahead = 2048;
    const auto offset = static_cast<std::int64_t>(Chains) * i + ahead;
    __builtin_prefetch(strands.indices[0] + offset);
    __builtin_prefetch(strands.values[0] + offset);
}

}  // namespace
}  // namespace fewbits
