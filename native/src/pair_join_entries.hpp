#pragma once

// Pairs of near codes in buckets. Each unit that includes this compiles it with its own
// flags; the anonymous namespace keeps them apart.

#include "join_buckets.hpp"
#include "multi_index_kernels.hpp"
#include "substrings.hpp"

namespace fewbits {
namespace {

constexpr int kBucketsAhead = 32;  // buckets whose memory is asked for together

/// The first of the entries [i, end) within a radius of a code, or `end`.
struct PlainScan {
    template <typename W>
    static std::size_t next(W width, const std::uint8_t* code, const JoinTable& table,
                            std::size_t i, std::size_t end) {
        const std::uint8_t* other = table.entries + i * table.bytes;
        for (; i < end; ++i, other += table.bytes)
            if (distance(width, code, other, table.bytes) <= table.radius) break;
        return i;
    }
};

inline std::uint64_t word_of(const std::uint8_t* code, std::size_t w, std::size_t bytes) {
    return bytes - 8 * w >= 8 ? load_word(code + 8 * w) : load_tail(code + 8 * w, bytes % 8);
}

/// Bits of a substring that differ.
inline int apart_in(BitSpan span, const std::uint8_t* a, const std::uint8_t* b,
                    std::size_t bytes) {
    int apart = __builtin_popcountll(
        (word_of(a, span.word, bytes) ^ word_of(b, span.word, bytes)) & span.first);
    if (span.second)
        apart += __builtin_popcountll((word_of(a, span.word + 1, bytes) ^
                                       word_of(b, span.word + 1, bytes)) &
                                      span.second);
    return apart;
}

inline bool found_before(const JoinTable& table, const std::uint8_t* a,
                         const std::uint8_t* b) {
    for (std::size_t i = 0; i < table.number; ++i)
        if (apart_in(table.spans[i], a, b, table.bytes) <= table.most[i]) return true;
    return false;
}

inline std::uint64_t next_flips(std::uint64_t x) {
    const std::uint64_t low = x & (~x + 1), ripple = x + low;
    return ripple | (((x ^ ripple) >> 2) / low);
}

/// Report the pairs of an entry with those in [i, end) that differ from it in exactly
/// the `flipped` bits of the substring.
template <typename Scan, typename W>
void join_span(W width, const JoinTable& table, std::size_t entry, std::uint64_t wanted,
               std::size_t i, std::size_t end, PairSink& sink) {
    const std::uint8_t* code = table.entries + entry * table.bytes;
    for (; (i = Scan::next(width, code, table, i, end)) < end; ++i) {
        const std::uint8_t* other = table.entries + i * table.bytes;
        if (table.limited && table.rows[i] < table.rows[entry]) continue;
        if (substring_value(other, table.bytes, table.begin, table.length) != wanted ||
            found_before(table, code, other))
            continue;
        if (sink.next == sink.end) sink.full(sink);
        const std::uint32_t a = table.rows[entry], b = table.rows[i];
        *sink.next++ = {a < b ? a : b, a < b ? b : a,
                        distance(width, code, other, table.bytes)};
    }
}

/// The pairs with entries that differ in `flips` bits: those of larger values or, where
/// not every entry looks for others, of later rows.
template <typename Scan, typename W>
void join_flipped(W width, const JoinTable& table, std::size_t entry, std::uint64_t value,
                  int flips, PairSink& sink) {
    const std::uint64_t beyond = std::uint64_t{1} << table.length;
    std::uint64_t flipped = (std::uint64_t{1} << flips) - 1;
    while (flipped < beyond) {
        std::uint64_t wanted[kBucketsAhead];
        std::size_t buckets[kBucketsAhead];
        int n = 0;
        for (; n < kBucketsAhead && flipped < beyond; flipped = next_flips(flipped)) {
            // Those find this entry.
            if (!table.limited && (value ^ flipped) < value) continue;
            wanted[n] = value ^ flipped;
            buckets[n] = bucket_of(wanted[n], table.length, table.bucket_bits);
            __builtin_prefetch(table.starts + buckets[n++]);
        }
        for (int b = 0; b < n; ++b)
            __builtin_prefetch(table.entries + table.starts[buckets[b]] * table.bytes);
        for (int b = 0; b < n; ++b)
            join_span<Scan>(width, table, entry, wanted[b], table.starts[buckets[b]],
                            table.starts[buckets[b] + 1], sink);
    }
}

template <typename Scan, typename W>
void join_of(W width, const JoinTable& table, std::size_t begin, std::size_t end,
             PairSink& sink) {
    for (std::size_t entry = begin; entry < end; ++entry) {
        if (table.limited && table.rows[entry] >= table.before) continue;
        const std::uint8_t* code = table.entries + entry * table.bytes;
        const std::uint64_t value =
            substring_value(code, table.bytes, table.begin, table.length);
        const std::size_t bucket = bucket_of(value, table.length, table.bucket_bits);
        join_span<Scan>(width, table, entry, value, entry + 1, table.starts[bucket + 1],
                        sink);
        for (int flips = 1; flips <= table.flips; ++flips)
            join_flipped<Scan>(width, table, entry, value, flips, sink);
    }
}

template <typename Scan>
void join_any(const JoinTable& table, std::size_t begin, std::size_t end, PairSink& sink) {
    for_width(table.bytes,
              [&](auto width) { join_of<Scan>(width, table, begin, end, sink); });
}

}  // namespace
}  // namespace fewbits
