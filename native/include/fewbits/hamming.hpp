#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fewbits {

/// Row-major packed codes: `rows` codes of `bytes` bytes each. The *position* of a code
/// is where it stands here, from 0 on.
struct CodeView {
    const std::uint8_t* data;
    std::size_t rows;
    std::size_t bytes;

    const std::uint8_t* row(std::size_t i) const { return data + i * bytes; }
};

/// One bit per code, most significant first; null allows every code.
using Mask = const std::uint8_t*;

/// All distances, `queries.rows * database.rows` of them.
void hamming_distances(CodeView queries, CodeView database, std::int32_t* distances,
                       std::size_t n_threads);

/// The `k` nearest allowed codes of every query: distances, and positions in `rows`,
/// ordered by (distance, position) and padded with -1. `k` is at most `database.rows`.
void hamming_topk(CodeView queries, CodeView database, Mask allowed, std::size_t k,
                  std::int32_t* distances, std::int64_t* rows, std::size_t n_threads);

/// How many allowed codes lie within `radius` of each query.
void hamming_within_count(CodeView queries, CodeView database, std::int32_t radius,
                          Mask allowed, std::int64_t* counts, std::size_t n_threads);

/// These codes, found by one scan.
class HammingHits {
public:
    HammingHits(CodeView queries, CodeView database, std::int32_t radius, Mask allowed,
                std::size_t n_threads);

    /// How many each query has.
    void counts(std::int64_t* counts) const;

    /// All hits, query by query, ordered by (distance, position): `rows` gets positions.
    void write(std::int32_t* distances, std::int64_t* rows) const;

private:
    struct OfQuery {
        std::vector<std::int32_t> distances;
        std::vector<std::int64_t> rows;
    };
    std::vector<OfQuery> found_;
};

}  // namespace fewbits
