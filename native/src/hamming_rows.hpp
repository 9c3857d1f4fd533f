#pragma once

// Comparison of one query with codes as they lie in memory, word by word. Each unit that
// includes this compiles it with its own flags; the anonymous namespace keeps them apart.

#include <bit>
#include <cstring>

#include "hamming_kernels.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kPrefetchBytes = 2048;

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

std::size_t count_bytes(const std::uint8_t* bytes, std::size_t n) {
    std::size_t count = 0;
    for (std::size_t w = 0; w < n / 8; ++w)
        count += static_cast<std::size_t>(__builtin_popcountll(load_word(bytes + 8 * w)));
    const std::uint64_t tail = load_tail(bytes + n / 8 * 8, n % 8);
    return count + static_cast<std::size_t>(__builtin_popcountll(tail));
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

/// The bytes of a code, known to the compiler where the width is.
template <typename W>
inline std::size_t row_bytes(W, Codes codes) {
    return W::kTail || W::kWords == kAnyWords ? codes.bytes : 8 * W::kWords;
}

template <typename W>
void distances_of(W width, const std::uint8_t* query, Codes codes, std::int32_t* out) {
    const std::size_t bytes = row_bytes(width, codes);
    const std::uint8_t* code = codes.data;
    for (std::size_t i = 0; i < codes.rows; ++i, code += bytes)
        out[i] = distance(width, query, code, bytes);
}

template <typename W>
void scan_of(W width, const std::uint8_t* query, Codes codes, Sink& sink) {
    const std::size_t bytes = row_bytes(width, codes);
    const std::uint8_t* code = codes.data;
    std::int32_t tau = sink.tau;
    for (std::size_t i = 0; i < codes.rows; ++i, code += bytes) {
        for (std::size_t line = 0; line < bytes; line += 64)
            __builtin_prefetch(code + kPrefetchBytes + line);
        const std::int32_t d = distance(width, query, code, bytes);
        if (d >= tau) [[likely]]
            continue;
        report(sink, d, codes.first + static_cast<std::int64_t>(i));
        tau = sink.tau;
    }
}

void distances_of_rows(const std::uint8_t* query, Codes codes, std::int32_t* out) {
    for_width(codes.bytes, [=](auto width) { distances_of(width, query, codes, out); });
}

void scan_rows_by_words(const std::uint8_t* query, Codes codes, Sink& sink) {
    for_width(codes.bytes, [&](auto width) { scan_of(width, query, codes, sink); });
}

}  // namespace
}  // namespace fewbits
