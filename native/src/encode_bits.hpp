#pragma once

#include <cstring>

#include "encode_kernels.hpp"

// Included by each instruction set's own file: everything here is a template over its
// vector class `V`, or local to that file, so that no code compiled for one processor
// is ever linked into the kernels of another. For the same reason these headers use
// nothing from the standard library that has code of its own.

namespace fewbits {
namespace {

inline std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

inline std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }

inline std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

struct Span {
    std::size_t first, last;
};

/// The thresholded lanes of `regs` registers from `sums`, lane 0 in bit 0.
template <typename V>
std::uint64_t signs(const float* sums, std::size_t regs, bool zero_bit) {
    std::uint64_t bits = 0;
    for (std::size_t r = 0; r < regs; ++r) {
        const auto reg = V::load(sums + r * V::lanes);
        const std::uint64_t lanes =
            zero_bit ? V::not_negative(reg) : V::positive(reg);
        bits |= lanes << (r * V::lanes);
    }
    return bits;
}

/// Mirror the bits of every byte.
inline std::uint64_t mirrored(std::uint64_t x) {
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    return (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
}

/// Swap bit `8 * i + j` with bit `8 * j + i`.
inline std::uint64_t transposed(std::uint64_t x) {
    std::uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000cccc;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
    return x ^ t ^ t << 28;
}

/// Write `count` (at most 64) sums of neighbouring outputs of one row. `sums` is
/// readable up to whole registers; `bit` is a multiple of 8.
template <typename V>
void put_row(const Output& out, std::size_t n_bits, std::size_t row, std::size_t bit,
             const float* sums, std::size_t count) {
    if (out.scores) {
        std::memcpy(out.scores + row * n_bits + bit, sums, count * sizeof(float));
        return;
    }
    std::uint64_t bits = signs<V>(sums, ceil_div(count, V::lanes), out.zero_bit);
    if (count < 64) bits &= (std::uint64_t{1} << count) - 1;
    bits = mirrored(bits);
    std::uint8_t* code = out.codes + row * ceil_div(n_bits, 8) + bit / 8;
    for (std::size_t i = 0; i < ceil_div(count, 8); ++i)
        code[i] = static_cast<std::uint8_t>(bits >> 8 * i);
}

/// Write outputs [first, first + count) of one row: what lies in `z`, and the bias.
template <typename V, typename Job>
void put_with_bias(const Job& job, std::size_t row, std::size_t first, const float* z,
                     std::size_t count) {
    alignas(64) float sums[64] = {};
    for (std::size_t j = 0; j < count; j += 64) {
        const std::size_t some = smaller(64, count - j), regs = some / V::lanes;
        const float* bias = job.map.bias + first + j;
        for (std::size_t i = 0; i < regs * V::lanes; i += V::lanes)
            V::store(sums + i, V::add(V::load(z + j + i), V::load(bias + i)));
        for (std::size_t i = regs * V::lanes; i < some; ++i)
            sums[i] = z[j + i] + bias[i];
        put_row<V>(job.out, job.map.n_bits, row, first + j, sums, some);
    }
}

}  // namespace
}  // namespace fewbits
