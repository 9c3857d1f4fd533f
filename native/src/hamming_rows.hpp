#pragma once

// Comparison of one query with codes as they lie in memory, word by word. Each unit that
// includes this compiles it with its own flags; the anonymous namespace keeps them apart.

#include "hamming_kernels.hpp"
#include "words.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kPrefetchBytes = 2048;

std::size_t count_bytes(const std::uint8_t* bytes, std::size_t n) {
    std::size_t count = 0;
    for (std::size_t w = 0; w < n / 8; ++w)
        count += static_cast<std::size_t>(__builtin_popcountll(load_word(bytes + 8 * w)));
    const std::uint64_t tail = load_tail(bytes + n / 8 * 8, n % 8);
    return count + static_cast<std::size_t>(__builtin_popcountll(tail));
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
