#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fewbits {

/// Scores are defined down to the last bit: the score of output `j` starts as
/// `bias[j]` and takes one fused multiply-add for each feature, in rising order, in
/// float32. Every output is one lane of a register, so blocks, batches, threads and
/// instruction sets never change it. Features must be finite.

/// A row-major (n, n_features) matrix of features.
struct Features {
    const float* data;
    std::size_t n;
    std::size_t n_features;
};

/// Row-major weights (n_features, n_bits) and one bias for each bit.
struct Affine {
    const float* weights;
    const float* bias;
    std::size_t n_bits;
};

/// One row of a CSR matrix (n_bits, n_features) and one bias for each bit. Indices
/// rise within a row.
struct SparseAffine {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    const float* bias;
    std::size_t n_bits;
};

struct SparseLayouts;

/// A sparse map that is used again and again: its weights are laid out anew for single
/// rows and for batches, each when it is first needed. `csr` must outlive it.
class SparseMap {
public:
    SparseMap(const SparseAffine& csr, std::size_t n_features);
    ~SparseMap();

    const SparseAffine csr;
    const std::size_t n_features;
    const std::unique_ptr<SparseLayouts> layouts;
};

/// Rounds of a block-diagonal matrix and a Walsh-Hadamard transform (Sylvester's order,
/// not scaled), the first `n_bits` outputs of one or more series of such rounds, and one
/// bias for each. The blocks of the matrix are `width` numbers wide and high, 1 (a
/// diagonal) or 16; row `i` of the weights is what number `i` is worth to each of the
/// outputs of its block, which start as the product of the first number of the block
/// and take one fused multiply-add for each of the others, in rising order. The
/// transform then replaces every pair `a` and `b` of numbers `size / 2` apart by `a + b`
/// and `a - b`, then those `size / 4` apart, and so on down to neighbours, and the bias
/// is added last, all in float32 without fused operations.
struct HadamardMap {
    const float* weights;  // (ceil(n_bits / size), n_rounds, size, width)
    const float* bias;
    std::size_t n_bits;
    std::size_t n_rounds;
    std::size_t size;   // a power of 2, at least 16 and at least the number of features
    std::size_t width;  // of the blocks, 1 or 16
};

/// One or more circulant matrices of the features, as products of polynomials modulo
/// `X^size - i` with complex coefficients. A row, multiplied by the diagonal, is real;
/// it is transformed, multiplied by each spectrum, and transformed back, which gives
/// `n_features` outputs each, the real parts. The bias is added last.
///
/// Node `k` of the tree of factors, from 1 on, replaces pairs of numbers as far apart
/// as half its length by `a + root[k] * b` and `a - root[k] * b`, and its children are
/// `2 k` and `2 k + 1`; the way back replaces them by `a + b` and `(a - b) *
/// conj(root[k])`. Complex products are rounded product by product. All in float32
/// without fused operations.
struct CirculantMap {
    const float* diagonal;  // (n_features,)
    const float* roots;     // (2, size), real and imaginary parts; nodes from 1 on
    const float* spectra;   // (ceil(n_bits / n_features), 2, size), over `size`
    const float* bias;
    std::size_t n_bits;
    std::size_t size;  // a power of 2, at least 16 and at least the number of features
};

/// A row, with zeros behind it, fills a matrix Z (d1, d2) row by row; output `j` is
/// entry `(j % b1, j / b1)` of `left' Z right`. Z times `right` comes first; each number
/// of both products starts at zero and takes one fused multiply-add for each term, in
/// rising order. The bias is added last.
struct BilinearMap {
    const float* left;   // (d1, b1)
    const float* right;  // (d2, b2), with b2 = ceil(n_bits / b1)
    const float* bias;
    std::size_t n_bits;
    std::size_t d1, b1, d2, b2;  // d1 * d2 is at least the number of features
};

/// A dense map for each of some blocks: those outputs `bit_starts[b]` up to
/// `bit_starts[b + 1]` see the features that `features` lists from `feature_starts[b]`
/// up to `feature_starts[b + 1]`. The weights of a block, (features, outputs) row by row,
/// lie behind those of the one before; `beyond_weights` numbers behind the last are read
/// and ignored. No block is empty. A score is that of a dense map
/// of the features of its block, in the order listed.
struct BlockMap {
    static constexpr std::size_t beyond_weights = 16;
    const std::int32_t* features;
    const std::int64_t* feature_starts;  // (n_blocks + 1,)
    const std::int64_t* bit_starts;      // (n_blocks + 1,), from 0 to n_bits
    const float* weights;
    const float* bias;
    std::size_t n_bits;
    std::size_t n_blocks;
};

/// Where scores go: to `scores` (n, n_bits), or thresholded to `codes`
/// (n, ceil(n_bits / 8)), most significant bit first, padding bits zero. A bit is
/// `score >= 0` with `zero_bit`, else `score > 0`.
struct Output {
    float* scores;
    std::uint8_t* codes;
    bool zero_bit;
};

void linear(const Features& x, const Affine& map, const Output& out,
            std::size_t n_threads);
void sparse(const Features& x, const SparseMap& map, const Output& out,
            std::size_t n_threads);
void hadamard(const Features& x, const HadamardMap& map, const Output& out,
              std::size_t n_threads);
void circulant(const Features& x, const CirculantMap& map, const Output& out,
               std::size_t n_threads);
void blocks(const Features& x, const BlockMap& map, const Output& out,
            std::size_t n_threads);
void bilinear(const Features& x, const BilinearMap& map, const Output& out,
              std::size_t n_threads);

}  // namespace fewbits
