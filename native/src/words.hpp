#pragma once

// Codes word by word. Each unit that includes this compiles it with its own flags; the
// anonymous namespace keeps them apart.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fewbits {
namespace {

inline std::uint64_t load_word(const std::uint8_t* p) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
}

/// The last `bytes` < 8 bytes of a code, padded with zeros, by loads that may overlap: a
/// copy of so many bytes, known only here, is a call that takes 20 times as long.
inline std::uint64_t load_tail(const std::uint8_t* p, std::size_t bytes) {
    static_assert(std::endian::native == std::endian::little);
    const auto shifted = [=](std::uint64_t part, std::size_t at) { return part << 8 * at; };
    if (bytes == 0) return 0;
    if (bytes < 4)
        return p[0] | shifted(p[bytes / 2], bytes / 2) | shifted(p[bytes - 1], bytes - 1);
    std::uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + bytes - 4, 4);
    return first | shifted(last, bytes - 4);
}

constexpr std::size_t kAnyWords = ~std::size_t{0};

/// The width of a code: `kWords` full words and perhaps some bytes more.
template <std::size_t kWordsOf, bool kTailOf>
struct Width {
    static constexpr std::size_t kWords = kWordsOf;
    static constexpr bool kTail = kTailOf;
};

template <typename W>
inline std::int32_t distance(W, const std::uint8_t* a, const std::uint8_t* b,
                             std::size_t bytes) {
    const std::size_t words = W::kWords == kAnyWords ? bytes / 8 : W::kWords;
    std::int32_t sum = 0;
    for (std::size_t w = 0; w < words; ++w)
        sum += __builtin_popcountll(load_word(a + 8 * w) ^ load_word(b + 8 * w));
    if constexpr (W::kTail) {
        const std::size_t rest = bytes - 8 * words;
        sum += __builtin_popcountll(load_tail(a + 8 * words, rest) ^
                                    load_tail(b + 8 * words, rest));
    }
    return sum;
}

/// Call `visit(Width<...>)` with the width of the codes.
template <typename Visit>
inline void for_width(std::size_t bytes, const Visit& visit) {
    if (bytes % 8) {
        switch (bytes / 8) {
            case 0: return visit(Width<0, true>{});
            case 1: return visit(Width<1, true>{});
            case 2: return visit(Width<2, true>{});
            case 3: return visit(Width<3, true>{});
            default: return visit(Width<kAnyWords, true>{});
        }
    }
    switch (bytes / 8) {
        case 1: return visit(Width<1, false>{});
        case 2: return visit(Width<2, false>{});
        case 3: return visit(Width<3, false>{});
        case 4: return visit(Width<4, false>{});
        case 6: return visit(Width<6, false>{});
        case 8: return visit(Width<8, false>{});
        case 12: return visit(Width<12, false>{});
        case 16: return visit(Width<16, false>{});
        default: return visit(Width<kAnyWords, false>{});
    }
}

}  // namespace
}  // namespace fewbits
