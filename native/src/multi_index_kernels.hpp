#pragma once

// What an instruction set provides for multi_index.cpp and pair_join.cpp. As in
// hamming_kernels.hpp, nothing here may have a body that the linker could share.

#include <cstddef>
#include <cstdint>

namespace fewbits {

/// The bits of a substring, in one word of a code or in two successive ones.
struct BitSpan {
    std::size_t word;
    std::uint64_t first, second;
};

/// The rows that a query has found: keys of distance << 32 | row, of rows not farther
/// than `bound`. With `k` of them the bound is the distance of the k-th. `full` makes
/// room; keys beyond `last` are not wanted then.
struct Found {
    std::int32_t bound;
    std::uint64_t last;
    std::uint64_t* next;
    std::uint64_t* end;
    std::int64_t* counts;  // of each distance up to the bound
    std::int64_t within, k;
    const std::uint8_t* allowed;
    void (*full)(Found&);
    void* owner;
};

/// Look-ups of one query in the table of one substring: of all values that differ from
/// its own in `flips` bits.
struct Probe {
    const std::uint32_t* starts;
    const std::uint32_t* rows;
    const std::uint8_t* entries;  // codes in the order of buckets, or null
    const std::uint8_t* codes;    // codes by row
    std::size_t stride;           // bytes of an entry, or of a code
    const std::uint64_t* query;   // laid out as an entry, or a code, is
    const BitSpan* spans;         // of all substrings, in that layout
    std::size_t m, number;
    std::uint32_t value, hole;    // `hole`: bits of the value that entries lack
    int length, flips;
    std::int64_t n_lookups;
};

/// What a query has cost so far, and may.
struct Work {
    std::int64_t lookups, candidates;
    std::int64_t lookup_cost, candidate_cost, limit;
};

struct Pair {
    std::uint32_t first, second;
    std::int32_t distance;
};

/// Where a join reports pairs; `full` makes room.
struct PairSink {
    Pair* next;
    Pair* end;
    void (*full)(PairSink&);
    void* owner;
};

/// Codes in buckets of equal bits, or of equal hashes of long substrings. `most` are the
/// bits of each substring so far that pairs may differ in, negative for any.
struct JoinTable {
    const std::uint32_t* starts;
    const std::uint32_t* rows;
    const std::uint8_t* entries;  // whole codes
    std::size_t bytes;
    std::size_t begin, length;    // bits of the substring
    int flips, bucket_bits;
    const BitSpan* spans;         // of the substrings before this one, and of this one
    const int* most;
    std::size_t number;           // of substrings before this one
    std::int32_t radius;
    bool limited;                 // only rows below `before` come first in a pair
    std::uint32_t before;
};

struct MultiIndexKernels {
    /// Report what no earlier step has; false where the budget is not enough.
    bool (*probe)(const Probe& probe, Found& found, Work& work);

    /// Report the pairs of the entries [begin, end) with later ones of their bucket, and
    /// with those of the buckets that follow by flips.
    void (*join)(const JoinTable& table, std::size_t begin, std::size_t end,
                 PairSink& sink);
};

const MultiIndexKernels& multi_index_portable();
#if defined(__x86_64__) || defined(_M_X64)
const MultiIndexKernels& multi_index_avx2();
const MultiIndexKernels& multi_index_avx512();
#elif defined(__aarch64__)
const MultiIndexKernels& multi_index_neon();
#endif

}  // namespace fewbits
