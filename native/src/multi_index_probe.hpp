#pragma once

// Look-ups in the buckets of one substring. Each unit that includes this compiles it with
// its own flags; the anonymous namespace keeps them apart.

#include "multi_index_kernels.hpp"
#include "words.hpp"

namespace fewbits {
namespace {

constexpr int kAhead = 32;          // look-ups whose memory is asked for together
constexpr std::size_t kNear = 256;  // bytes of a bucket that are asked for ahead,
constexpr std::size_t kFar = 512;   // and how far ahead the rest is
constexpr std::uint32_t kRowsAhead = 8;

struct Bucket {
    std::uint32_t begin, end;
    std::int32_t apart;  // bits that differ and that entries lack
};

/// Word `w` of an entry or a code. Eight bytes of room follow the last entry, so that
/// what is too much may be read; codes end where they end.
template <bool kInside, typename W>
inline std::uint64_t word_at(W, const std::uint8_t* code, std::size_t w,
                             std::size_t stride) {
    const std::size_t words = W::kWords == kAnyWords ? stride / 8 : W::kWords;
    if (!W::kTail || w < words) return load_word(code + 8 * w);
    if constexpr (kInside)
        return load_word(code + 8 * w) & ((std::uint64_t{1} << 8 * (stride % 8)) - 1);
    return load_tail(code + 8 * w, stride % 8);
}

template <bool kInside, typename W>
inline std::int32_t apart_of(W width, const Probe& probe, const std::uint8_t* code) {
    const std::size_t words = W::kWords == kAnyWords ? probe.stride / 8 : W::kWords;
    std::int32_t sum = 0;
    for (std::size_t w = 0; w < words + W::kTail; ++w)
        sum += __builtin_popcountll(word_at<kInside>(width, code, w, probe.stride) ^
                                    probe.query[w]);
    return sum;
}

/// Whether an earlier step has found a code: a substring before this one differs in as
/// few bits, or any other in fewer.
template <bool kInside, typename W>
bool seen_before(W width, const Probe& probe, const std::uint8_t* code) {
    const auto differing = [&](std::size_t w) {
        return word_at<kInside>(width, code, w, probe.stride) ^ probe.query[w];
    };
    const std::size_t others = probe.flips ? probe.m : probe.number;
    for (std::size_t i = 0; i < others; ++i) {
        if (i == probe.number) continue;
        const BitSpan& span = probe.spans[i];
        int apart = __builtin_popcountll(differing(span.word) & span.first);
        if (span.second)
            apart += __builtin_popcountll(differing(span.word + 1) & span.second);
        if (apart < probe.flips + (i < probe.number)) return true;
    }
    return false;
}

void keep(Found& found, std::int32_t distance, std::uint32_t row) {
    if (found.allowed && !(found.allowed[row >> 3] >> (7 - (row & 7)) & 1)) return;
    const std::uint64_t key = static_cast<std::uint64_t>(distance) << 32 | row;
    if (found.next == found.end) found.full(found);
    if (key > found.last || distance > found.bound) return;
    *found.next++ = key;
    ++found.counts[distance];
    ++found.within;
    while (found.within - found.counts[found.bound] >= found.k)
        found.within -= found.counts[found.bound--];
}

template <typename W>
void scan_entries(W width, const Probe& probe, Bucket bucket, Found& found) {
    const std::uint8_t* code = probe.entries + bucket.begin * probe.stride;
    for (std::uint32_t i = bucket.begin; i < bucket.end; ++i, code += probe.stride) {
        __builtin_prefetch(code + kFar);
        const std::int32_t distance = apart_of<true>(width, probe, code) + bucket.apart;
        if (distance > found.bound) [[likely]]
            continue;
        if (!seen_before<true>(width, probe, code)) keep(found, distance, probe.rows[i]);
    }
}

template <typename W>
void scan_rows(W width, const Probe& probe, Bucket bucket, Found& found) {
    for (std::uint32_t i = bucket.begin; i < bucket.end; ++i) {
        if (bucket.end - i > kRowsAhead)
            __builtin_prefetch(probe.codes + probe.rows[i + kRowsAhead] * probe.stride);
        const std::uint8_t* code = probe.codes + probe.rows[i] * probe.stride;
        const std::int32_t distance = apart_of<false>(width, probe, code);
        if (distance > found.bound) [[likely]]
            continue;
        if (!seen_before<false>(width, probe, code)) keep(found, distance, probe.rows[i]);
    }
}

/// Ask for the first entries of some buckets, or for the rows and then their codes.
void ask_for(const Probe& probe, const Bucket* buckets, int n) {
    for (int b = 0; b < n; ++b) {
        if (!probe.entries) {
            __builtin_prefetch(probe.rows + buckets[b].begin);
            continue;
        }
        const std::size_t size = (buckets[b].end - buckets[b].begin) * probe.stride;
        const std::uint8_t* at = probe.entries + buckets[b].begin * probe.stride;
        const std::size_t before = reinterpret_cast<std::uintptr_t>(at) % 64;
        for (std::size_t line = 0; line < before + size && line < kNear; line += 64)
            __builtin_prefetch(at - before + line);
    }
    if (probe.entries) return;
    for (int b = 0; b < n; ++b)
        for (std::uint32_t i = buckets[b].begin;
             i < buckets[b].end && i < buckets[b].begin + kRowsAhead; ++i)
            __builtin_prefetch(probe.codes + probe.rows[i] * probe.stride);
}

inline std::int64_t cost(const Work& work, std::int64_t lookups, std::int64_t candidates) {
    return (work.lookups + lookups) * work.lookup_cost +
           (work.candidates + candidates) * work.candidate_cost;
}

/// The next larger number with as many bits set.
inline std::uint32_t next_pattern(std::uint32_t x) {
    const std::uint32_t low = x & (~x + 1), ripple = x + low;
    return ripple | (((x ^ ripple) >> 2) / low);
}

/// Some look-ups on their way: patterns first, then the buckets that are not empty.
struct Chunk {
    std::uint32_t patterns[kAhead];
    Bucket buckets[kAhead];
    int n, filled;
};

/// Choose the next look-ups and ask for where their buckets begin; return the pattern
/// that follows.
inline std::uint32_t choose(const Probe& probe, std::uint32_t pattern, std::int64_t left,
                            Chunk& chunk) {
    chunk.n = 0;
    while (chunk.n < kAhead && chunk.n < left) {
        chunk.patterns[chunk.n++] = pattern;
        __builtin_prefetch(probe.starts + (probe.value ^ pattern));
        if (pattern) pattern = next_pattern(pattern);
    }
    return pattern;
}

/// Find the buckets and ask for what is in them; return how many codes that is.
inline std::int64_t find(const Probe& probe, Chunk& chunk) {
    std::int64_t candidates = 0;
    chunk.filled = 0;
    for (int b = 0; b < chunk.n; ++b) {
        const std::uint32_t* at = probe.starts + (probe.value ^ chunk.patterns[b]);
        if (at[0] == at[1]) continue;
        chunk.buckets[chunk.filled++] = {
            at[0], at[1], __builtin_popcount(chunk.patterns[b] & probe.hole)};
        candidates += at[1] - at[0];
    }
    ask_for(probe, chunk.buckets, chunk.filled);
    return candidates;
}

template <typename W>
void scan(W width, const Probe& probe, const Chunk& chunk, Found& found) {
    for (int b = 0; b < chunk.filled; ++b) {
        if (probe.entries)
            scan_entries(width, probe, chunk.buckets[b], found);
        else
            scan_rows(width, probe, chunk.buckets[b], found);
    }
}

/// While some buckets are scanned, those after them are on their way from memory, and so
/// is where the ones after these begin.
template <typename W>
bool probe_of(W width, const Probe& probe, Found& found, Work& work) {
    Chunk chunks[3];
    std::uint32_t pattern = (std::uint32_t{1} << probe.flips) - 1;
    std::int64_t chosen = 0, known = 0, candidates = 0;
    const std::int64_t n_chunks = (probe.n_lookups + kAhead - 1) / kAhead;
    for (std::int64_t c = 0; c < n_chunks + 2; ++c) {
        if (c < n_chunks) {
            pattern = choose(probe, pattern, probe.n_lookups - chosen, chunks[c % 3]);
            chosen += chunks[c % 3].n;
        }
        if (c >= 1 && c <= n_chunks) {
            Chunk& chunk = chunks[(c - 1) % 3];
            candidates += find(probe, chunk);
            known += chunk.n;
            // What the whole step will cost, as far as one can tell.
            if (cost(work, probe.n_lookups, candidates * probe.n_lookups / known) >
                work.limit) {
                work.lookups += known;
                work.candidates += candidates;
                return false;
            }
        }
        if (c >= 2) scan(width, probe, chunks[(c - 2) % 3], found);
    }
    work.lookups += probe.n_lookups;
    work.candidates += candidates;
    return true;
}

bool probe_any(const Probe& probe, Found& found, Work& work) {
    bool enough = true;
    for_width(probe.stride,
              [&](auto width) { enough = probe_of(width, probe, found, work); });
    return enough;
}

}  // namespace
}  // namespace fewbits
