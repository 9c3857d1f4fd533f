#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fewbits/hamming.hpp"

namespace fewbits {

/// How many bits are set, without an instruction that this unit may not use.
inline std::size_t count_bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return word * 0x0101010101010101 >> 56;
}

/// 64 bits of a mask over `n` rows, the first row in the highest bit; zeros beyond it.
inline std::uint64_t mask_word(Mask mask, std::size_t n, std::size_t word) {
    static_assert(std::endian::native == std::endian::little);
    const std::size_t bytes = std::min<std::size_t>(8, (n + 7) / 8 - 8 * word);
    std::uint64_t bits = 0;
    if (bytes == 8)
        std::memcpy(&bits, mask + 8 * word, 8);
    else
        std::memcpy(&bits, mask + 8 * word, bytes);
    bits = __builtin_bswap64(bits);
    const std::size_t rows = n - 64 * word;
    return rows < 64 ? bits & ~(~std::uint64_t{0} >> rows) : bits;
}

/// The allowed rows of [begin, end) in rising order; `mask` has a bit for rows below `end`.
class AllowedRows {
public:
    AllowedRows(Mask mask, std::size_t begin, std::size_t end)
        : mask_(mask), end_(end), word_(begin / 64) {
        if (begin < end) left_ = load() & (~std::uint64_t{0} >> begin % 64);
    }

    /// Pass over `skip` allowed rows and return the next one, or `end` if there is none.
    std::size_t next(std::size_t skip = 0) {
        while (skip) {
            const std::size_t here = count_bits(left_);
            if (here > skip) break;
            skip -= here;
            if (!advance()) return end_;
        }
        for (; skip; --skip) drop();
        while (!left_)
            if (!advance()) return end_;
        const std::size_t row = 64 * word_ + leading();
        drop();
        return row;
    }

private:
    std::uint64_t load() const { return mask_word(mask_, end_, word_); }
    bool advance() {
        if (64 * (word_ + 1) >= end_) {
            left_ = 0;
            return false;
        }
        ++word_;
        left_ = load();
        return true;
    }
    std::size_t leading() const { return static_cast<std::size_t>(std::countl_zero(left_)); }
    void drop() { left_ &= ~(std::uint64_t{1} << 63 >> leading()); }

    Mask mask_;
    std::size_t end_, word_;
    std::uint64_t left_ = 0;
};

}  // namespace fewbits
