#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fewbits/hamming.hpp"

namespace fewbits {

/// Tables of `m` substrings: substring j has the bits [cuts[j], cuts[j + 1]), at most 24
/// of them. Its part of `starts`, 2**length + 1 numbers, says where the bucket of each
/// value begins; its `n` positions, `rows`, lie in the order of buckets. Behind them lie
/// the codes in the same order, without the whole bytes of the substring, which its value
/// tells; eight bytes of room follow the last. `entries` is null where the codes are left
/// out.
struct MultiIndex {
    CodeView codes;
    std::size_t m;
    const std::int64_t* cuts;
    const std::uint32_t* starts;
    const std::uint32_t* rows;
    const std::uint8_t* entries;
};

/// What a look-up and a comparison cost, and what one query may cost at most.
struct Budget {
    std::int64_t lookup, candidate, limit;
};

/// Fill the tables; `entries` may be null.
void multi_index_build(CodeView codes, std::size_t m, const std::int64_t* cuts,
                       std::uint32_t* starts, std::uint32_t* rows, std::uint8_t* entries,
                       std::size_t n_threads);

/// The `k` nearest allowed codes, as `hamming_topk` gives them, of the queries that the
/// budget is enough for: `done` says which. `work` counts look-ups and comparisons.
void multi_index_topk(CodeView queries, const MultiIndex& index, Mask allowed,
                      std::size_t k, Budget budget, std::int32_t* distances,
                      std::int64_t* rows, std::int64_t* work, std::uint8_t* done,
                      std::size_t n_threads);

/// The nearest code of each query, the lowest position if tied, and how many are tied; as
/// for `multi_index_topk` where the budget is enough, otherwise a position of -1.
void multi_index_nearest(CodeView queries, const MultiIndex& index, Budget budget,
                         std::int32_t* distances, std::int64_t* rows, std::int64_t* ties,
                         std::int64_t* work, std::uint8_t* done, std::size_t n_threads);

/// All allowed codes within a radius of each query that the budget is enough for.
class RangeHits {
public:
    RangeHits(CodeView queries, const MultiIndex& index, Mask allowed,
              std::int32_t radius, Budget budget, std::size_t n_threads);
    ~RangeHits();

    /// How many each query has, and as for `multi_index_topk`.
    void counts(std::int64_t* counts, std::int64_t* work, std::uint8_t* done) const;

    /// All hits, query by query, ordered by (distance, position): `rows` gets positions.
    void write(std::int32_t* distances, std::int64_t* rows) const;

private:
    struct Shares;
    std::unique_ptr<Shares> shares_;
};

}  // namespace fewbits
