#pragma once

// Comparison of one query with codes as they lie in memory, word by word. Each unit that
// includes this compiles it with its own flags; the anonymous namespace keeps them apart.

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

/// The last `bytes` < 8 bytes of a code, padded with zeros.
inline std::uint64_t load_tail(const std::uint8_t* p, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, bytes);
    return word;
}

/// The width of a code: `kWords` full words, or 0 for any number of them, and perhaps
/// some bytes more.
template <std::size_t kWordsOf, bool kTailOf>
struct Width {
    static constexpr std::size_t kWords = kWordsOf;
    static constexpr bool kTail = kTailOf;
};

template <typename W>
inline std::int32_t distance(W, const std::uint8_t* a, const std::uint8_t* b,
                             std::size_t bytes) {
    const std::size_t words = W::kWords ? W::kWords : bytes / 8;
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
    if (bytes % 8) return visit(Width<0, true>{});
    switch (bytes / 8) {
        case 1: return visit(Width<1, false>{});
        case 2: return visit(Width<2, false>{});
        case 3: return visit(Width<3, false>{});
        case 4: return visit(Width<4, false>{});
        case 6: return visit(Width<6, false>{});
        case 8: return visit(Width<8, false>{});
        case 12: return visit(Width<12, false>{});
        case 16: return visit(Width<16, false>{});
        default: return visit(Width<0, false>{});
    }
}

template <typename W>
void distances_of(W width, const std::uint8_t* query, Codes codes, std::int32_t* out) {
    const std::size_t bytes = W::kTail || !W::kWords ? codes.bytes : 8 * W::kWords;
    const std::uint8_t* code = codes.data;
    for (std::size_t i = 0; i < codes.rows; ++i, code += bytes)
        out[i] = distance(width, query, code, bytes);
}

template <typename W>
void scan_of(W width, const std::uint8_t* query, Codes codes, Sink& sink) {
    const std::size_t bytes = W::kTail || !W::kWords ? codes.bytes : 8 * W::kWords;
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
