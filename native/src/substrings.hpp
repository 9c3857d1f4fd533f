#pragma once

// Where the bits of a substring lie in codes and in entries. Included by units that are
// compiled with different flags: nothing of the standard library may have a body here.

#include <cstddef>
#include <cstdint>

#include "multi_index_kernels.hpp"
#include "words.hpp"

namespace fewbits {
namespace {

/// The number whose binary digits are `length` <= 56 bits of a code from `begin` on.
inline std::uint64_t substring_value(const std::uint8_t* code, std::size_t bytes,
                                     std::size_t begin, std::size_t length) {
    if (length == 0) return 0;
    const std::size_t at = bytes < 8 ? 0 : begin / 8 < bytes - 8 ? begin / 8 : bytes - 8;
    const std::uint64_t word =
        __builtin_bswap64(bytes < 8 ? load_tail(code, bytes) : load_word(code + at));
    const std::size_t unused = 64 - (begin - 8 * at) - length;
    return word >> unused & ((std::uint64_t{1} << length) - 1);
}

/// The bytes [begin, end) that entries lack.
struct Hole {
    std::size_t begin = 0, end = 0;

    static Hole of(std::size_t first_bit, std::size_t last_bit) {
        const std::size_t begin = (first_bit + 7) / 8;
        return {begin, last_bit / 8 < begin ? begin : last_bit / 8};
    }
    std::size_t size() const { return end - begin; }

    /// Copy a code without them; return where the copy ends.
    std::uint8_t* copy(const std::uint8_t* code, std::size_t bytes, std::uint8_t* to) const {
        std::memcpy(to, code, begin);
        std::memcpy(to + begin, code + end, bytes - end);
        return to + bytes - size();
    }
};

/// Where the bits [begin, end) are; none of them may lie in the hole.
inline BitSpan bit_span(std::size_t begin, std::size_t end, Hole hole) {
    BitSpan span{0, 0, 0};
    for (std::size_t bit = begin; bit < end; ++bit) {
        const std::size_t byte = bit / 8 < hole.begin ? bit / 8 : bit / 8 - hole.size();
        if (bit == begin) span.word = byte / 8;
        (byte / 8 == span.word ? span.first : span.second) |=
            std::uint64_t{1} << (8 * (byte % 8) + 7 - bit % 8);
    }
    return span;
}

}  // namespace
}  // namespace fewbits
