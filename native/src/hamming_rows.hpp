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

/// `kWords` full words are known when compiling, or 0 for any number of them.
template <std::size_t kWords, bool kTail>
inline std::int32_t distance(const std::uint8_t* a, const std::uint8_t* b,
                             std::size_t bytes) {
    const std::size_t words = kWords ? kWords : bytes / 8;
    std::int32_t sum = 0;
    for (std::size_t w = 0; w < words; ++w)
        sum += __builtin_popcountll(load_word(a + 8 * w) ^ load_word(b + 8 * w));
    if constexpr (kTail) {
        const std::size_t rest = bytes - 8 * words;
        sum += __builtin_popcountll(load_tail(a + 8 * words, rest) ^
                                    load_tail(b + 8 * words, rest));
    }
    return sum;
}

template <std::size_t kWords, bool kTail>
void distances_of(const std::uint8_t* query, Codes codes, std::int32_t* out) {
    for (std::size_t i = 0; i < codes.rows; ++i)
        out[i] = distance<kWords, kTail>(query, codes.data + i * codes.bytes,
                                         codes.bytes);
}

template <std::size_t kWords, bool kTail>
void scan_of(const std::uint8_t* query, Codes codes, Sink& sink) {
    for (std::size_t i = 0; i < codes.rows; ++i) {
        const std::uint8_t* code = codes.data + i * codes.bytes;
        __builtin_prefetch(code + kPrefetchBytes);
        const std::int32_t d = distance<kWords, kTail>(query, code, codes.bytes);
        if (d < sink.tau) report(sink, d, codes.first + static_cast<std::int64_t>(i));
    }
}

/// Call `visit.template run<kWords, kTail>()` for the width of the codes.
template <typename Visit>
void for_width(std::size_t bytes, const Visit& visit) {
    if (bytes % 8) return visit.template run<0, true>();
    switch (bytes / 8) {
        case 1: return visit.template run<1, false>();
        case 2: return visit.template run<2, false>();
        case 3: return visit.template run<3, false>();
        case 4: return visit.template run<4, false>();
        case 6: return visit.template run<6, false>();
        case 8: return visit.template run<8, false>();
        case 12: return visit.template run<12, false>();
        case 16: return visit.template run<16, false>();
        default: return visit.template run<0, false>();
    }
}

void distances_of_rows(const std::uint8_t* query, Codes codes, std::int32_t* out) {
    struct {
        const std::uint8_t* query;
        Codes codes;
        std::int32_t* out;
        template <std::size_t kWords, bool kTail>
        void run() const {
            distances_of<kWords, kTail>(query, codes, out);
        }
    } const visit{query, codes, out};
    for_width(codes.bytes, visit);
}

void scan_rows_by_words(const std::uint8_t* query, Codes codes, Sink& sink) {
    struct {
        const std::uint8_t* query;
        Codes codes;
        Sink& sink;
        template <std::size_t kWords, bool kTail>
        void run() const {
            scan_of<kWords, kTail>(query, codes, sink);
        }
    } const visit{query, codes, sink};
    for_width(codes.bytes, visit);
}

}  // namespace
}  // namespace fewbits
