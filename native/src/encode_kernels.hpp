#pragma once

#include <cstddef>
#include <cstdint>

#include "fewbits/asymmetric.hpp"
#include "fewbits/encode.hpp"
#include "fewbits/isa.hpp"
#include "sparse_layouts.hpp"

namespace fewbits {

/// What one thread does: all rows of `x`, outputs [first, last). `first` is a multiple
/// of 64, so that no two threads share a byte or a register.
template <typename Map>
struct EncodeJob {
    Features x;
    Map map;
    Output out;
    std::size_t first;
    std::size_t last;
};
using LinearJob = EncodeJob<Affine>;

/// Up to this many rows are encoded one by one, with woven weights.
constexpr std::size_t single_rows = 2;
/// From this many rows on, a batch plan pays.
constexpr std::size_t batch_from = 33;

/// A sparse map with the layout that suits the number of rows, if there is one. With a
/// plan, `first` is a multiple of its block.
struct SparseWeights : SparseAffine {
    const WovenWeights* woven = nullptr;
    const BatchPlan* plan = nullptr;
};
using SparseJob = EncodeJob<SparseWeights>;

/// These give all outputs of a row at once: `first` and `last` are those of the whole
/// map.
using HadamardJob = EncodeJob<HadamardMap>;
using CirculantJob = EncodeJob<CirculantMap>;
using BilinearJob = EncodeJob<BilinearMap>;
using BlocksJob = EncodeJob<BlockMap>;

/// One query of `asymmetric_distances` or `bit_sums`.
struct AsymmetricJob {
    // Of bit `j` at `j ^ 7`: lowest bits first. Zero up to the last pair of bytes.
    const float* costs;
    const std::uint8_t* signs;  // a bit costs where it differs from this
    const std::uint8_t* database;
    const std::int64_t* rows;  // -1 for none; null for the first `n_rows`
    std::size_t n_rows;
    std::size_t n_bytes;
    float* distances;
};

/// The kernels of one instruction set. They allocate nothing and call no threads; each
/// `_scratch` tells how many floats of work space its kernel needs, aligned to 64
/// bytes.
struct EncodeKernels {
    std::size_t (*linear_scratch)(const LinearJob&);
    void (*linear)(const LinearJob&, float* scratch);
    std::size_t (*sparse_scratch)(const SparseJob&);
    void (*sparse)(const SparseJob&, float* scratch);
    void (*asymmetric)(const AsymmetricJob&);
    std::size_t (*hadamard_scratch)(const HadamardJob&);
    void (*hadamard)(const HadamardJob&, float* scratch);
    std::size_t (*circulant_scratch)(const CirculantJob&);
    void (*circulant)(const CirculantJob&, float* scratch);
    std::size_t (*bilinear_scratch)(const BilinearJob&);
    void (*bilinear)(const BilinearJob&, float* scratch);
    std::size_t (*blocks_scratch)(const BlocksJob&);
    void (*blocks)(const BlocksJob&, float* scratch);
};

extern const EncodeKernels encode_portable;
extern const EncodeKernels encode_avx2;
extern const EncodeKernels encode_avx512;
extern const EncodeKernels encode_neon;

const EncodeKernels& encode_kernels(Isa isa);

}  // namespace fewbits
