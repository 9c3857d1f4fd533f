#include "fewbits/multi_index.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "multi_index_dispatch.hpp"
#include "parallel.hpp"
#include "substrings.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kBlock = 64;  // rows whose values are computed together

/// One substring and its table.
struct Table {
    std::size_t begin, length;
    Hole hole;  // none where codes are left out
    std::size_t stride;
    const std::uint32_t* starts;
    const std::uint32_t* rows;
    const std::uint8_t* entries;

    std::size_t value(const std::uint8_t* code, std::size_t bytes) const {
        return substring_value(code, bytes, begin, length);
    }

    /// The bits of a value that entries lack.
    std::uint32_t hole_bits() const {
        const std::size_t after = begin + length - 8 * hole.end;
        return hole.size() ? ((std::uint32_t{1} << 8 * hole.size()) - 1) << after : 0;
    }
};

std::vector<Table> tables_of(const MultiIndex& index) {
    std::vector<Table> tables;
    const std::uint32_t* starts = index.starts;
    const std::uint8_t* entries = index.entries;
    for (std::size_t j = 0; j < index.m; ++j) {
        const auto begin = static_cast<std::size_t>(index.cuts[j]);
        const auto end = static_cast<std::size_t>(index.cuts[j + 1]);
        const Hole hole = entries ? Hole::of(begin, end) : Hole{};
        const std::size_t stride = index.codes.bytes - hole.size();
        tables.push_back({begin, end - begin, hole, stride, starts,
                          index.rows + j * index.codes.rows, entries});
        starts += (std::size_t{1} << (end - begin)) + 1;
        if (entries) entries += index.codes.rows * stride;
    }
    return tables;
}

/// Call `visit(row, value)` with the rows whose value is in [low, high), in order.
template <typename Visit>
void for_rows(CodeView codes, const Table& table, std::size_t low, std::size_t high,
              const std::uint32_t* starts, const Visit& visit) {
    std::size_t values[kBlock];
    for (std::size_t row = 0; row < codes.rows; row += kBlock) {
        const std::size_t n = std::min(kBlock, codes.rows - row);
        for (std::size_t i = 0; i < n; ++i) {
            values[i] = table.value(codes.row(row + i), codes.bytes);
            if (values[i] - low < high - low) __builtin_prefetch(starts + values[i], 1);
        }
        for (std::size_t i = 0; i < n; ++i)
            if (values[i] - low < high - low) visit(row + i, values[i]);
    }
}

/// A counting sort. Each thread reads all codes and has some of the values.
void build(CodeView codes, const Table& table, std::size_t n_threads) {
    auto* const starts = const_cast<std::uint32_t*>(table.starts);
    auto* const rows = const_cast<std::uint32_t*>(table.rows);
    auto* const entries = const_cast<std::uint8_t*>(table.entries);
    const std::size_t n_values = std::size_t{1} << table.length;
    starts[0] = 0;
    parallel_for(n_values, 1, n_threads,
                 [&](std::size_t low, std::size_t high, std::size_t) {
                     std::fill(starts + low + 1, starts + high + 1, 0);
                     for_rows(codes, table, low, high, starts,
                              [&](std::size_t, std::size_t v) { ++starts[v + 1]; });
                 });
    for (std::size_t v = 0; v < n_values; ++v) starts[v + 1] += starts[v];
    const auto value_at = [&](std::size_t share, std::size_t shares) {
        const std::size_t rank = codes.rows / shares * share;
        return share == shares ? n_values
                               : static_cast<std::size_t>(
                                     std::lower_bound(starts, starts + n_values, rank) -
                                     starts);
    };
    const std::size_t shares = std::max<std::size_t>(1, n_threads);
    std::vector<std::size_t> bounds;
    for (std::size_t s = 0; s <= shares; ++s) bounds.push_back(s ? value_at(s, shares) : 0);
    parallel_for(shares, 1, shares, [&](std::size_t s, std::size_t, std::size_t) {
        for_rows(codes, table, bounds[s], bounds[s + 1], starts,
                 [&](std::size_t row, std::size_t v) {
                     const std::size_t at = starts[v]++;
                     rows[at] = static_cast<std::uint32_t>(row);
                     if (entries)
                         table.hole.copy(codes.row(row), codes.bytes,
                                         entries + at * table.stride);
                 });
    });
    // Each number has moved to the end of its bucket, where the next one begins.
    std::memmove(starts + 1, starts, n_values * sizeof *starts);
    starts[0] = 0;
}

/// What has been found for one query.
class Keys {
public:
    /// Rows not farther than the k-th, of which `most` are kept; 0 means all.
    Keys(std::size_t n_bits, std::size_t k, std::size_t most, Mask allowed)
        : most_(most), counts_(n_bits + 1), keys_(256) {
        found_.k = k ? static_cast<std::int64_t>(k) : std::numeric_limits<std::int64_t>::max();
        found_.allowed = allowed;
        found_.full = full;
        found_.owner = this;
    }
    Keys(const Keys&) = delete;
    Keys& operator=(const Keys&) = delete;

    Found& start(std::int32_t bound) {
        std::fill(counts_.begin(), counts_.end(), 0);
        found_.bound = bound;
        found_.last = ~std::uint64_t{0};
        found_.within = 0;
        found_.counts = counts_.data();
        point(0);
        return found_;
    }

    /// The keys within the bound, in order.
    const std::uint64_t* sorted(std::size_t& n) {
        const std::uint64_t beyond = (static_cast<std::uint64_t>(found_.bound) + 1)
                                     << 32;
        auto* const end = std::remove_if(keys_.data(), found_.next,
                                         [=](std::uint64_t key) { return key >= beyond; });
        n = static_cast<std::size_t>(end - keys_.data());
        if (most_ && n > most_) {
            std::nth_element(keys_.data(), keys_.data() + most_, end);
            n = most_;
        }
        sort(n);
        return keys_.data();
    }

private:
    static constexpr std::size_t kFew = 256;  // keys that are compared; more are counted
    static constexpr int kDigit = 11;

    /// Sort by one digit after the other, from the lowest on.
    void sort(std::size_t n) {
        if (n <= kFew) return std::sort(keys_.data(), keys_.data() + n);
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < n; ++i) all |= keys_[i];
        spare_.resize(std::max(spare_.size(), keys_.size()));
        for (int shift = 0; shift < 64; shift += kDigit) {
            const auto digit = [=](std::uint64_t key) {
                return key >> shift & ((1u << kDigit) - 1);
            };
            if (!digit(all)) continue;
            std::size_t places[(1 << kDigit) + 1] = {0};
            for (std::size_t i = 0; i < n; ++i) ++places[digit(keys_[i]) + 1];
            for (std::size_t d = 0; d < std::size_t{1} << kDigit; ++d)
                places[d + 1] += places[d];
            for (std::size_t i = 0; i < n; ++i) spare_[places[digit(keys_[i])]++] = keys_[i];
            keys_.resize(spare_.size());
            keys_.swap(spare_);
        }
    }

    static void full(Found& found) { static_cast<Keys*>(found.owner)->make_room(); }

    void point(std::size_t used) {
        found_.next = keys_.data() + used;
        found_.end = keys_.data() + keys_.size();
    }

    void make_room() {
        const std::size_t n = keys_.size();
        if (most_ == 0 || n < 2 * most_ + 4096) {
            keys_.resize(2 * n);
            return point(n);
        }
        // Of the farthest kept those of the lowest rows.
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(most_) - 1,
                         keys_.end());
        found_.last = keys_[most_ - 1];
        point(most_);
        std::fill(counts_.begin(), counts_.end(), 0);
        for (std::size_t i = 0; i < most_; ++i) ++counts_[keys_[i] >> 32];
        found_.bound = static_cast<std::int32_t>(found_.last >> 32);
        found_.within = static_cast<std::int64_t>(most_);
    }

    std::size_t most_;
    std::vector<std::int64_t> counts_;
    std::vector<std::uint64_t> keys_, spare_;
    Found found_{};
};

/// The search of one thread, query after query.
class Search {
public:
    Search(const MultiIndex& index, const std::vector<Table>& tables, Budget budget)
        : index_(index), tables_(tables), budget_(budget) {
        const std::size_t layouts = index.entries ? index.m : 1;
        words_ = index.codes.bytes / 8 + 1;
        queries_.resize(layouts * words_);
        for (std::size_t j = 0; j < layouts; ++j)
            for (const Table& other : tables)
                spans_.push_back(&other == &tables[j] && index.entries
                                     ? BitSpan{0, 0, 0}
                                     : bit_span(other.begin, other.begin + other.length,
                                                tables[j].hole));
        for (std::size_t j = 0; j < index.m; ++j) probes_.push_back(probe(j));
    }

    /// Look for what is near a query; false where that would cost too much.
    bool run(const std::uint8_t* query, Found& found, Work& work) {
        work = {0, 0, budget_.lookup, budget_.candidate, budget_.limit};
        ask_for(query);
        for (int flips = 0;; ++flips) {
            for (std::size_t j = 0; j < index_.m; ++j) {
                Probe& next = probes_[j];
                // All that is nearer than the number of this step has been seen.
                const auto step = static_cast<std::int64_t>(flips) *
                                      static_cast<std::int64_t>(index_.m) +
                                  static_cast<std::int64_t>(j);
                if (step > found.bound || flips > next.length) return true;
                next.n_lookups =
                    flips ? next.n_lookups * (next.length - flips + 1) / flips : 1;
                next.flips = flips;
                if (!affordable(next, work) || !multi_index_kernels().probe(next, found, work))
                    return false;
            }
        }
    }

private:
    Probe probe(std::size_t j) {
        const Table& table = tables_[j];
        const std::size_t layout = index_.entries ? j : 0;
        Probe probe{};
        probe.starts = table.starts;
        probe.rows = table.rows;
        probe.entries = table.entries;
        probe.codes = index_.codes.data;
        probe.stride = table.stride;
        probe.query = queries_.data() + layout * words_;
        probe.spans = spans_.data() + layout * index_.m;
        probe.m = index_.m;
        probe.number = j;
        probe.hole = table.hole_bits();
        probe.length = static_cast<int>(table.length);
        return probe;
    }

    /// Lay the query out for each table, and ask for the memory of the first look-ups.
    void ask_for(const std::uint8_t* query) {
        const std::size_t bytes = index_.codes.bytes;
        for (std::size_t j = 0; j < index_.m; ++j) {
            const std::size_t value = tables_[j].value(query, bytes);
            probes_[j].value = static_cast<std::uint32_t>(value);
            __builtin_prefetch(tables_[j].starts + value);
        }
        std::fill(queries_.begin(), queries_.end(), 0);
        for (std::size_t at = 0, j = 0; at < queries_.size(); at += words_, ++j)
            tables_[j].hole.copy(query, bytes,
                                 reinterpret_cast<std::uint8_t*>(queries_.data() + at));
        for (const Probe& probe : probes_) {
            const std::size_t first = probe.starts[probe.value];
            if (probe.entries) __builtin_prefetch(probe.entries + first * probe.stride);
            else __builtin_prefetch(probe.rows + first);
        }
    }

    bool affordable(const Probe& probe, const Work& work) const {
        const auto candidates = static_cast<double>(probe.n_lookups) *
                                static_cast<double>(index_.codes.rows) /
                                static_cast<double>(std::int64_t{1} << probe.length);
        const auto spent = static_cast<double>(work.lookups * work.lookup_cost +
                                               work.candidates * work.candidate_cost);
        return spent + static_cast<double>(probe.n_lookups) *
                           static_cast<double>(work.lookup_cost) +
                   candidates * static_cast<double>(work.candidate_cost) <=
               static_cast<double>(work.limit);
    }

    const MultiIndex& index_;
    const std::vector<Table>& tables_;
    Budget budget_;
    std::size_t words_;
    std::vector<std::uint64_t> queries_;
    std::vector<BitSpan> spans_;
    std::vector<Probe> probes_;
};

/// The rows not farther than `bound` and the k-th, of which `most` are kept; 0 means all.
struct Wanted {
    Mask allowed;
    std::size_t k, most;
    std::int32_t bound;
};

/// Call `store(thread, query, done, work, keys)` for each query.
template <typename Store>
void search(CodeView queries, const MultiIndex& index, const Wanted& wanted,
            Budget budget, std::size_t n_threads, const Store& store) {
    const std::vector<Table> tables = tables_of(index);
    parallel_for(queries.rows, 1, n_threads,
                 [&](std::size_t begin, std::size_t end, std::size_t t) {
                     Search search(index, tables, budget);
                     Keys keys(8 * index.codes.bytes, wanted.k, wanted.most,
                               wanted.allowed);
                     Work work{};
                     for (std::size_t q = begin; q < end; ++q) {
                         Found& found = keys.start(wanted.bound);
                         const bool done = search.run(queries.row(q), found, work);
                         store(t, q, done, work, keys);
                     }
                 });
}

std::int32_t farthest(const MultiIndex& index) {
    return static_cast<std::int32_t>(8 * index.codes.bytes);
}

}  // namespace

void multi_index_build(CodeView codes, std::size_t m, const std::int64_t* cuts,
                       std::uint32_t* starts, std::uint32_t* rows, std::uint8_t* entries,
                       std::size_t n_threads) {
    for (const Table& table : tables_of({codes, m, cuts, starts, rows, entries}))
        build(codes, table, n_threads);
}

void multi_index_topk(CodeView queries, const MultiIndex& index, Mask allowed,
                      std::size_t k, Budget budget, std::int32_t* distances,
                      std::int64_t* rows, std::int64_t* work, std::uint8_t* done,
                      std::size_t n_threads) {
    std::fill_n(distances, queries.rows * k, -1);
    std::fill_n(rows, queries.rows * k, -1);
    search(queries, index, {allowed, k, k, farthest(index)}, budget, n_threads,
           [&](std::size_t, std::size_t q, bool enough, const Work& spent, Keys& keys) {
               done[q] = enough;
               work[2 * q] = spent.lookups;
               work[2 * q + 1] = spent.candidates;
               if (!enough) return;
               std::size_t n;
               const std::uint64_t* sorted = keys.sorted(n);
               for (std::size_t i = 0; i < n; ++i) {
                   distances[q * k + i] = static_cast<std::int32_t>(sorted[i] >> 32);
                   rows[q * k + i] = static_cast<std::uint32_t>(sorted[i]);
               }
           });
}

void multi_index_nearest(CodeView queries, const MultiIndex& index, Budget budget,
                         std::int32_t* distances, std::int64_t* rows, std::int64_t* ties,
                         std::int64_t* work, std::uint8_t* done, std::size_t n_threads) {
    search(queries, index, {nullptr, 1, 0, farthest(index)}, budget, n_threads,
           [&](std::size_t, std::size_t q, bool enough, const Work& spent, Keys& keys) {
               done[q] = enough;
               work[2 * q] = spent.lookups;
               work[2 * q + 1] = spent.candidates;
               std::size_t n;
               const std::uint64_t* sorted = keys.sorted(n);
               const bool any = enough && n;
               distances[q] = any ? static_cast<std::int32_t>(sorted[0] >> 32) : -1;
               rows[q] = any ? static_cast<std::int64_t>(sorted[0] & 0xFFFFFFFF) : -1;
               ties[q] = any ? static_cast<std::int64_t>(n) : 0;
           });
}

/// The keys that each thread has found for its queries, and what is said of all.
struct RangeHits::Shares {
    std::vector<std::vector<std::uint64_t>> keys;
    std::vector<std::int64_t> counts, work;
    std::vector<std::uint8_t> done;
};

RangeHits::RangeHits(CodeView queries, const MultiIndex& index, Mask allowed,
                     std::int32_t radius, Budget budget, std::size_t n_threads)
    : shares_(new Shares) {
    Shares& shares = *shares_;
    shares.keys.resize(std::max<std::size_t>(1, n_threads));
    shares.counts.resize(queries.rows);
    shares.work.resize(2 * queries.rows);
    shares.done.resize(queries.rows);
    search(queries, index, {allowed, 0, 0, radius}, budget, n_threads,
           [&](std::size_t t, std::size_t q, bool enough, const Work& spent, Keys& keys) {
               shares.done[q] = enough;
               shares.work[2 * q] = spent.lookups;
               shares.work[2 * q + 1] = spent.candidates;
               if (!enough) return;
               std::size_t n;
               const std::uint64_t* sorted = keys.sorted(n);
               shares.counts[q] = static_cast<std::int64_t>(n);
               shares.keys[t].insert(shares.keys[t].end(), sorted, sorted + n);
           });
}

RangeHits::~RangeHits() = default;

void RangeHits::counts(std::int64_t* counts, std::int64_t* work, std::uint8_t* done) const {
    std::copy(shares_->counts.begin(), shares_->counts.end(), counts);
    std::copy(shares_->work.begin(), shares_->work.end(), work);
    std::copy(shares_->done.begin(), shares_->done.end(), done);
}

void RangeHits::write(std::int32_t* distances, std::int64_t* rows) const {
    for (const auto& keys : shares_->keys)
        for (const std::uint64_t key : keys) {
            *distances++ = static_cast<std::int32_t>(key >> 32);
            *rows++ = static_cast<std::uint32_t>(key);
        }
}

}  // namespace fewbits
