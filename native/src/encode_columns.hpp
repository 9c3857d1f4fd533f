#pragma once

#include "encode_bits.hpp"

// Blocks of rows with a row in each lane: features transposed, sums (outputs, rows).

namespace fewbits {
namespace {

/// Rows [first, first + n) of the features, transposed: (n_features, width), zero
/// beyond the last row. One cache line of four rows at a time.
template <typename V>
void transpose(const Features& x, std::size_t first, std::size_t n, std::size_t width,
               float* out) {
    constexpr std::size_t line = 16;
    const std::size_t d = x.n_features, fours = n / 4 * 4, lines = d / line * line;
    const float* rows = x.data + first * d;
    if (n < width) std::memset(out, 0, d * width * sizeof(float));
    const auto copy = [&](std::size_t r, std::size_t c) {
        out[c * width + r] = rows[r * d + c];
    };
    for (std::size_t i = 0; i < lines; i += line) {
        for (std::size_t r = 0; r < fours; r += 4) {
            for (std::size_t ahead = r; ahead < r + 4; ++ahead)
                __builtin_prefetch(rows + ahead * d + i + 2 * line);
            for (std::size_t c = i; c < i + line; c += 4)
                V::transpose4(rows + r * d + c, d, out + c * width + r, width);
        }
        for (std::size_t r = fours; r < n; ++r)
            for (std::size_t c = i; c < i + line; ++c) copy(r, c);
    }
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = lines; c < d; ++c) copy(r, c);
}

/// Write sums (outputs, width) of rows [row, row + n) and 8 outputs or fewer.
template <typename V>
void put_columns(const SparseJob& job, std::size_t row, std::size_t n, std::size_t bit,
                 std::size_t count, const float* sums, std::size_t width) {
    const std::size_t n_bits = job.map.n_bits;
    if (job.out.scores) {
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t i = 0; i < count; ++i)
                job.out.scores[(row + r) * n_bits + bit + i] = sums[i * width + r];
        return;
    }
    std::uint64_t masks[8] = {};
    for (std::size_t i = 0; i < count; ++i)
        masks[i] = signs<V>(sums + i * width, width / V::lanes, job.out.zero_bit);
    std::uint8_t* codes = job.out.codes + row * ceil_div(n_bits, 8) + bit / 8;
    for (std::size_t r = 0; r < n; r += 8) {
        std::uint64_t square = 0;
        for (std::size_t i = 0; i < 8; ++i)
            square |= (masks[i] >> r & 0xff) << 8 * (7 - i);
        square = transposed(square);
        for (std::size_t i = 0; i < smaller(8, n - r); ++i)
            codes[(r + i) * ceil_div(n_bits, 8)] =
                static_cast<std::uint8_t>(square >> 8 * i);
    }
}

}  // namespace
}  // namespace fewbits
