#pragma once

// Many queries at once. A block of codes is turned into planes, one for each bit. For each
// group of a few bits and each pattern that a query may have there, the number of bits
// that differ is counted once, for all codes of the block (bit_slices.hpp); a query then
// only adds up one count of each group. Wide codes are taken in chunks, whose sums are
// added in memory.

#include <type_traits>

#include "bit_slices.hpp"
#include "hamming_rows.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kChunkWords = 4;
// A group of 7 or 3 bits fills all values of its 3 or 2 planes. Longer groups make
// queries cheaper and tables dearer, which pays from some number of queries on. Where an
// addition takes two operations it never does: tables of short groups are near.
constexpr int kLongGroup = 7;
constexpr int kShortGroup = 3;
constexpr std::size_t kLongGroupFrom = 256;
#if defined(__AVX512F__)
constexpr bool kHasLongGroups = false;
#else
constexpr bool kHasLongGroups = true;
#endif

using Word [[gnu::may_alias]] = std::uint64_t;

constexpr std::size_t words_of(std::size_t bytes) { return (bytes + 7) / 8; }

constexpr std::size_t chunks_of(std::size_t bytes) {
    return (words_of(bytes) + kChunkWords - 1) / kChunkWords;
}

/// The widest chunk, in groups of either length.
using LongGroups = Groups<64 * kChunkWords, kLongGroup>;
using ShortGroups = Groups<64 * kChunkWords, kShortGroup>;

constexpr bool in_long_groups(std::size_t n_queries) {
    return kHasLongGroups && n_queries >= kLongGroupFrom;
}

inline std::uint64_t word_at(const std::uint8_t* code, std::size_t bytes, std::size_t w) {
    return 8 * w + 8 <= bytes ? load_word(code + 8 * w)
                              : load_tail(code + 8 * w, bytes - 8 * w);
}

/// The memory of a batch, carved from what the caller provides.
struct Batch {
    const std::uint8_t* queries;
    std::size_t n_queries;
    std::size_t bytes;
    int planes;              // of a distance
    std::size_t most_places;  // of a query in a chunk
    Plane* bits;             // of a chunk of a block
    Plane* tables;           // of the same
    Plane* totals;           // distance in the chunks so far, for each query
    std::uint64_t* limits;   // the threshold of each query, as masks
    std::int32_t* taus;      // the same as numbers
    Place* places;           // where a query finds its counts, for each chunk and query

    static std::size_t size(std::size_t n_queries, std::size_t bytes) {
        return layout(nullptr, nullptr, n_queries, bytes);
    }

    static Batch make(const std::uint8_t* queries, std::size_t n_queries,
                      std::size_t bytes, std::uint8_t* memory) {
        Batch batch;
        batch.queries = queries;
        batch.n_queries = n_queries;
        batch.bytes = bytes;
        batch.planes = planes_up_to(64 * words_of(bytes));
        batch.most_places = places_in_chunk(n_queries);
        layout(&batch, memory, n_queries, bytes);
        return batch;
    }

    const std::uint64_t* limit(std::size_t q) const {
        return limits + q * static_cast<std::size_t>(planes);
    }
    Plane* total(std::size_t q) const {
        return totals + q * static_cast<std::size_t>(planes);
    }
    template <typename G>
    Place* places_of(std::size_t chunk, std::size_t q) const {
        return places + chunk * n_queries * most_places +
               q * static_cast<std::size_t>(G::kCount);
    }

    void set_limit(std::size_t q, std::int32_t tau) {
        taus[q] = tau;
        // No distance reaches the largest number of so many planes.
        const std::int32_t most = (1 << planes) - 1;
        const std::int32_t limit = tau < 0 ? 0 : tau < most ? tau : most;
        for (int w = 0; w < planes; ++w)
            limits[q * static_cast<std::size_t>(planes) + static_cast<std::size_t>(w)] =
                limit >> w & 1 ? ~std::uint64_t{0} : 0;
    }

private:
    static std::size_t places_in_chunk(std::size_t n_queries) {
        return in_long_groups(n_queries) ? LongGroups::kCount : ShortGroups::kCount;
    }

    static std::size_t layout(Batch* batch, std::uint8_t* memory, std::size_t n_queries,
                              std::size_t bytes) {
        const auto planes = static_cast<std::size_t>(planes_up_to(64 * words_of(bytes)));
        const std::size_t totals = chunks_of(bytes) > 1 ? n_queries * planes : 0;
        std::size_t used = 0;
        const auto carve = [&](auto Batch::*member, std::size_t n) {
            using Item = std::remove_reference_t<decltype(*(batch->*member))>;
            if (batch) batch->*member = reinterpret_cast<Item*>(memory + used);
            used += (n * sizeof(Item) + 63) / 64 * 64;
        };
        carve(&Batch::bits, 64 * kChunkWords);
        carve(&Batch::tables, in_long_groups(n_queries)
                                  ? LongGroups::table(LongGroups::kCount)
                                  : ShortGroups::table(ShortGroups::kCount));
        carve(&Batch::totals, totals);
        carve(&Batch::limits, n_queries * planes);
        carve(&Batch::taus, n_queries);
        carve(&Batch::places, chunks_of(bytes) * n_queries * places_in_chunk(n_queries));
        return used;
    }
};

/// A plane for each bit of words [begin, begin + n) of up to `kPlaneCodes` codes; missing
/// codes are zero.
[[maybe_unused]] void slice(Codes block, std::size_t begin, std::size_t n, Plane* bits) {
    const bool full = block.rows == kPlaneCodes;
    for (std::size_t w = begin; w < begin + n; ++w, bits += 64) {
        auto* words = reinterpret_cast<Word*>(bits);
        if (full && 8 * w + 8 <= block.bytes) {
            const std::uint8_t* code = block.data + 8 * w;
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                for (std::size_t i = 0; i < 64; ++i, code += block.bytes)
                    words[kLanes * i + lane] = load_word(code);
        } else {
            for (std::size_t row = 0; row < kPlaneCodes; ++row)
                words[kLanes * (row % 64) + row / 64] =
                    row < block.rows
                        ? word_at(block.data + row * block.bytes, block.bytes, w)
                        : 0;
        }
        transpose_bits(bits);
    }
}

/// Where a query finds its counts in the tables of the chunk that begins at word `begin`.
template <typename G>
void find_places(const Batch& batch, std::size_t q, std::size_t begin,
                 Place* places) {
    const std::uint8_t* query = batch.queries + q * batch.bytes;
    const auto bit = [&](std::size_t i) {
        const std::size_t at = 64 * begin + i;
        return word_at(query, batch.bytes, at / 64) >> at % 64 & 1;
    };
    for (int g = 0; g < G::kCount; ++g) {
        std::size_t pattern = 0;
        for (int i = 0; i < G::bits(g); ++i)
            pattern |= bit(static_cast<std::size_t>(g * G::kGroup + i)) << i;
        places[g] = static_cast<Place>(
            pattern * static_cast<std::size_t>(G::planes(g)) * kLanes);
    }
}

[[gnu::always_inline]] inline bool any(const Plane& plane) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask(__m512i(plane), __m512i(plane));
#elif defined(__AVX2__)
    const auto bits = reinterpret_cast<__m256i>(plane);
    return !_mm256_testz_si256(bits, bits);
#else
    std::uint64_t all = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) all |= plane[lane];
    return all;
#endif
}

/// Report the codes of a block that are nearer to query `q` than its threshold. They are
/// few, so that their distances are computed once more.
inline void report_near(const Plane& near, Codes block, std::size_t q, Batch& batch,
                        Sink& sink) {
    const std::uint8_t* query = batch.queries + q * batch.bytes;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (std::uint64_t left = near[lane]; left; left &= left - 1) {
            const std::size_t row =
                64 * lane + static_cast<std::size_t>(__builtin_ctzll(left));
            const auto number = block.first + static_cast<std::int64_t>(row);
            if (row >= block.rows) break;
            if (!is_allowed(sink, number)) continue;
            const std::int32_t found =
                distance(Width<kAnyWords, true>{}, query, block.data + row * block.bytes,
                         block.bytes);
            if (found < sink.tau) report(sink, found, number);
        }
    }
    if (sink.tau != batch.taus[q]) batch.set_limit(q, sink.tau);
}

/// Queries with near codes, to be looked at later: a branch for each query, taken now and
/// then, would cost as much as the comparison.
struct Found {
    static constexpr std::size_t kRoom = 64;

    std::size_t n = 0;
    std::size_t query[kRoom + 1];
    Plane near[kRoom + 1];
};

/// Report what `near_to(q)` finds in a block, for each query.
template <typename NearTo>
[[gnu::always_inline]] inline void report_block(Batch& batch, Codes block, Sink* sinks,
                                                const NearTo& near_to) {
    Found found;
    for (std::size_t first = 0; first < batch.n_queries; first += Found::kRoom) {
        const std::size_t rest = batch.n_queries - first;
        const std::size_t last = first + (rest < Found::kRoom ? rest : Found::kRoom);
        found.n = 0;
        for (std::size_t q = first; q < last; ++q) {
            const Plane near = near_to(q);
            found.near[found.n] = near;
            found.query[found.n] = q;
            found.n += any(near);
        }
        for (std::size_t i = 0; i < found.n; ++i)
            report_near(found.near[i], block, found.query[i], batch,
                        sinks[found.query[i]]);
    }
}

/// Codes of a single chunk.
template <typename G>
[[gnu::noinline]] void scan_only_chunk(Batch& batch, Codes block, Sink* sinks) {
    report_block(batch, block, sinks, [&](std::size_t q) {
        Plane sum[G::kSumPlanes];
        sum_counts<G>(batch.tables, batch.places_of<G>(0, q), sum);
        return below(sum, batch.limit(q), G::kSumPlanes);
    });
}

/// The last of several chunks: the distance is added up and compared plane by plane.
template <typename G>
[[gnu::noinline]] void scan_last_chunk(Batch& batch, std::size_t chunk, Codes block,
                                       Sink* sinks) {
    report_block(batch, block, sinks, [&](std::size_t q) {
        Plane sum[G::kSumPlanes], carry{}, near{}, bit;
        sum_counts<G>(batch.tables, batch.places_of<G>(chunk, q), sum);
        const Plane* total = batch.total(q);
        const std::uint64_t* limit = batch.limit(q);
        for (int w = 0; w < G::kSumPlanes; ++w) {
            full_add(total[w], sum[w], carry, bit, carry);
            near = below_at(near, bit, limit[w]);
        }
        for (int w = G::kSumPlanes; w < batch.planes; ++w) {
            near = below_at(near, total[w] ^ carry, limit[w]);
            carry &= total[w];
        }
        return near;
    });
}

/// Set each query's total to its distances in the first of several chunks.
template <typename G>
[[gnu::noinline]] void set_totals(Batch& batch) {
    for (std::size_t q = 0; q < batch.n_queries; ++q) {
        Plane sum[G::kSumPlanes];
        sum_counts<G>(batch.tables, batch.places_of<G>(0, q), sum);
        Plane* total = batch.total(q);
        for (int w = 0; w < G::kSumPlanes; ++w) total[w] = sum[w];
        for (int w = G::kSumPlanes; w < batch.planes; ++w) total[w] = Plane{};
    }
}

/// Add the distances in a chunk to each query's total.
template <typename G>
[[gnu::noinline]] void add_to_totals(Batch& batch, std::size_t chunk) {
    for (std::size_t q = 0; q < batch.n_queries; ++q) {
        Plane sum[G::kSumPlanes], carry{};
        sum_counts<G>(batch.tables, batch.places_of<G>(chunk, q), sum);
        Plane* total = batch.total(q);
        for (int w = 0; w < G::kSumPlanes; ++w)
            full_add(total[w], sum[w], carry, total[w], carry);
        for (int w = G::kSumPlanes; w < batch.planes; ++w) {
            const Plane next = total[w] & carry;
            total[w] ^= carry;
            carry = next;
        }
    }
}

/// Call `visit(Groups<...>)` with the groups of `words` words.
template <int kGroup, typename Visit>
void for_words(std::size_t words, const Visit& visit) {
    switch (words) {
        case 1: return visit(Groups<64, kGroup>{});
        case 2: return visit(Groups<128, kGroup>{});
        case 3: return visit(Groups<192, kGroup>{});
        default: return visit(Groups<256, kGroup>{});
    }
}

/// Call `visit(chunk, begin, words, Groups<...>)` for each chunk of a code.
template <int kGroup, typename Visit>
void for_chunks(std::size_t bytes, const Visit& visit) {
    for (std::size_t chunk = 0; chunk < chunks_of(bytes); ++chunk) {
        const std::size_t begin = chunk * kChunkWords;
        const std::size_t rest = words_of(bytes) - begin;
        const std::size_t words = rest < kChunkWords ? rest : kChunkWords;
        for_words<kGroup>(words, [&](auto groups) { visit(chunk, begin, words, groups); });
    }
}

/// Compare a block with every query; its tables are those of chunk `chunk`.
template <int kGroup, typename G>
void scan_chunk(Batch& batch, std::size_t chunk, Codes block, Sink* sinks) {
    using Full = Groups<64 * kChunkWords, kGroup>;
    const bool is_last = chunk + 1 == chunks_of(batch.bytes);
    if (is_last && chunk == 0) return scan_only_chunk<G>(batch, block, sinks);
    if (is_last) return scan_last_chunk<G>(batch, chunk, block, sinks);
    chunk == 0 ? set_totals<Full>(batch) : add_to_totals<Full>(batch, chunk);
}

template <int kGroup>
void scan_in_groups(Batch& batch, Codes codes, Sink* sinks) {
    for_chunks<kGroup>(batch.bytes, [&](std::size_t chunk, std::size_t begin,
                                        std::size_t, auto groups) {
        using G = decltype(groups);
        for (std::size_t q = 0; q < batch.n_queries; ++q)
            find_places<G>(batch, q, begin, batch.places_of<G>(chunk, q));
    });
    for (std::size_t row = 0; row < codes.rows; row += kPlaneCodes) {
        const std::size_t rest = codes.rows - row;
        const Codes block{codes.data + row * codes.bytes,
                          rest < kPlaneCodes ? rest : kPlaneCodes, codes.bytes,
                          codes.first + static_cast<std::int64_t>(row)};
        for_chunks<kGroup>(batch.bytes, [&](std::size_t chunk, std::size_t begin,
                                            std::size_t words, auto groups) {
            using G = decltype(groups);
            slice(block, begin, words, batch.bits);
            fill_tables<G>(batch.bits, batch.tables);
            scan_chunk<kGroup, G>(batch, chunk, block, sinks);
        });
    }
}

std::size_t batch_bytes(std::size_t n_queries, std::size_t bytes) {
    return Batch::size(n_queries, bytes);
}

void scan_batch(const std::uint8_t* queries, std::size_t n_queries, Codes codes,
                Sink* sinks, std::uint8_t* memory) {
    Batch batch = Batch::make(queries, n_queries, codes.bytes, memory);
    for (std::size_t q = 0; q < n_queries; ++q) batch.set_limit(q, sinks[q].tau);
    if constexpr (kHasLongGroups)
        if (in_long_groups(n_queries))
            return scan_in_groups<kLongGroup>(batch, codes, sinks);
    scan_in_groups<kShortGroup>(batch, codes, sinks);
}

}  // namespace
}  // namespace fewbits
