#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "fewbits/encode.hpp"

// The weights of a CSR matrix in the orders in which the kernels use them. Built once
// for a map, by code that is the same for every instruction set.

namespace fewbits {

/// For single rows: the weights of 16 outputs side by side, so that each output is one
/// lane of a register. Blocks of 64 outputs are sorted by their number of weights
/// first; where those of 16 still differ, the shorter are filled up with weights of -0
/// for a feature of 1 behind the last, which change no sum, not even one of -0.
struct WovenWeights {
    static constexpr std::size_t lanes = 16, block = 64, groups = block / lanes;

    std::vector<std::size_t> steps;     // where groups start: (group + 1) steps before
    std::vector<std::uint16_t> columns;  // (step, lane)
    std::vector<float> values;           // (step, lane)
    std::vector<float> bias;             // (group, lane)
    std::vector<std::uint8_t> outputs;   // (group, lane): which of the block it is

    WovenWeights(const SparseAffine& map, std::size_t n_features);

    /// Whether 16 bits can number the features, and little would be filling.
    static bool fits(const SparseAffine& map, std::size_t n_features);
};

/// For batches: blocks of outputs, chunks of columns within them, and within those
/// groups of outputs with equally many weights, so that the inner loop's length seldom
/// changes.
struct BatchPlan {
    static constexpr std::size_t block = 1024, chunk = 128;

    std::size_t chunks;
    std::vector<float> values;           // of each weight
    std::vector<std::uint16_t> columns;  // of each weight, counted from its chunk's
    std::vector<std::uint16_t> outputs;  // of each block and chunk, sorted by weights
    std::vector<std::uint16_t> sizes;    // how many of those have 0, 1, 2, ... weights

    BatchPlan(const SparseAffine& map, std::size_t n_features);

    /// Whether 32 bits can number the weights.
    static bool fits(const SparseAffine& map);
};

struct SparseLayouts {
    std::once_flag woven_once, plan_once;
    std::optional<WovenWeights> woven;
    std::optional<BatchPlan> plan;
};

/// The layout, or null where it does not fit. May be called by several threads.
const WovenWeights* woven_weights(const SparseMap& map);
const BatchPlan* batch_plan(const SparseMap& map);

}  // namespace fewbits
