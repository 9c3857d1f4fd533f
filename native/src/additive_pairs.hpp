#pragma once

#include <cstring>

#include "additive_kernels.hpp"

namespace fewbits {
namespace {

/// Products of so many rows, added up in pairs of columns, fit into 16 bits.
constexpr std::size_t rows_of_sums = 128;

/// The first bit lowest, in place of the last bit of the first byte.
inline std::uint64_t first_bits_low(std::uint64_t word) {
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    word = (word >> 1 & ones / 3) | (word & ones / 3) << 1;
    word = (word >> 2 & ones / 5) | (word & ones / 5) << 2;
    return (word >> 4 & ones / 17) | (word & ones / 17) << 4;
}

/// The bits of a code in words.
inline void load_words(const std::uint8_t* code, std::size_t n_bytes,
                       std::uint64_t* words) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "bytes are taken to be little-endian"
#endif
    for (std::size_t i = 0; i < n_bytes; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, code + i, n_bytes - i < 8 ? n_bytes - i : 8);
        words[i / 8] = first_bits_low(word);
    }
}

/// Call `visit` with the number of each bit that is set.
template <typename Visit>
void each_set(std::uint64_t word, std::size_t first, const Visit& visit) {
    for (; word; word &= word - 1)
        visit(first + static_cast<std::size_t>(__builtin_ctzll(word)));
}

/// Rows of bits that are set are added, block after block of columns. With signs of bits
/// in place of bits: h h' = 4 b b' - 2 b - 2 b' + 1.
template <typename V>
std::int64_t pair_sum_of(const PairJob& job, const std::uint64_t* words) {
    constexpr std::size_t step = rows_of_sums / pair_block;
    const std::size_t n_words = (job.pairs.n_bits + pair_block - 1) / pair_block;
    const std::size_t columns = n_words * pair_block;
    std::int64_t both = 0, single = 0;
    for (std::size_t k = 0; k < n_words; ++k) {
        const V block(words[k]);
        const std::int8_t* const products = job.pairs.products + k * pair_block;
        for (std::size_t w = 0; w <= k; w += step) {
            typename V::Sums sums{};
            const auto add = [&](std::size_t row) {
                block.add(sums, products + row * columns);
            };
            for (std::size_t v = w; v < w + step && v < k; ++v)
                each_set(words[v], v * pair_block, add);
            if (k < w + step)
                each_set(words[k], k * pair_block, [&](std::size_t row) {
                    add(row);
                    single += job.row_sums[row];
                });
            both += block.total(sums);
        }
    }
    return 4 * both - 2 * single + job.sum;
}

template <typename V>
void pair_sums_of(const PairJob& job) {
    const std::size_t n_bytes = (job.pairs.n_bits + 7) / 8;
    for (std::size_t i = job.first; i < job.last; ++i) {
        load_words(job.pairs.codes + i * n_bytes, n_bytes, job.scratch);
        job.sums[i] = pair_sum_of<V>(job, job.scratch);
    }
}

/// A block of columns in plain vectors.
class PlainPairs {
    typedef std::int8_t Bytes __attribute__((vector_size(8)));
    typedef std::int16_t Shorts __attribute__((vector_size(16)));
    static constexpr std::size_t n = pair_block / 8;

public:
    struct Sums {
        Shorts parts[n];
    };

    explicit PlainPairs(std::uint64_t bits) : bits_(bits) {}

    void add(Sums& sums, const std::int8_t* products) const {
        for (std::size_t i = 0; i < n; ++i) {
            Bytes eight;
            std::memcpy(&eight, products + 8 * i, sizeof eight);
            sums.parts[i] += __builtin_convertvector(eight, Shorts);
        }
    }

    std::int64_t total(const Sums& sums) const {
        std::int64_t sum = 0;
        each_set(bits_, 0, [&](std::size_t j) { sum += sums.parts[j / 8][j % 8]; });
        return sum;
    }

private:
    std::uint64_t bits_;
};

}  // namespace
}  // namespace fewbits
