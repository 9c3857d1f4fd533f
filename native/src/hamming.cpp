#include "fewbits/hamming.hpp"

#include <atomic>
#include <cstring>
#include <limits>
#include <memory>

#include "allowed_rows.hpp"
#include "fewbits/isa.hpp"
#include "hamming_collect.hpp"
#include "parallel.hpp"

namespace fewbits {
namespace {

using Collectors = std::vector<std::unique_ptr<Collector>>;

constexpr std::size_t kFewQueries = 11;     // for which sampling does not pay
constexpr std::size_t kPass = 1024;         // queries that share a block's tables
constexpr std::size_t kRowBlock = 16384;    // bytes of rows that a few queries share
constexpr std::size_t kGrain = 4096;        // rows that one thread takes at least
constexpr std::size_t kStart = 2 << 20;     // bytes for which a thread is worth starting
constexpr std::size_t kGathered = 65536;    // allowed rows that many queries share,
constexpr std::size_t kGatheredForFew = 4096;  // and that a few do
constexpr std::size_t kSample = 32768;      // rows that first thresholds come from,
constexpr std::size_t kSampleOfEach = 64;   // or as many for each neighbour wanted
constexpr std::size_t kSmallSample = 1024;  // rows that thresholds for these come from
constexpr std::size_t kSampleFrom = 65536;  // database from which sampling pays

const HammingKernels& kernels() {
    switch (active_isa()) {
#if defined(__x86_64__) || defined(_M_X64)
        case Isa::avx2: return hamming_avx2();
        case Isa::avx512: return hamming_avx512();
#elif defined(__aarch64__)
        case Isa::neon: return hamming_neon();
#endif
        default: return hamming_portable();
    }
}

std::int32_t beyond_all(CodeView codes) {
    return static_cast<std::int32_t>(8 * codes.bytes) + 1;
}

Codes part(CodeView database, std::size_t begin, std::size_t end) {
    return {database.row(begin), end - begin, database.bytes,
            static_cast<std::int64_t>(begin)};
}

/// Compare each query with the rows, a cache-sized block after the other.
void scan_by_rows(CodeView queries, Codes codes, std::vector<Sink>& sinks) {
    const std::size_t step = queries.rows == 1
                                 ? codes.rows
                                 : std::max<std::size_t>(1, kRowBlock / codes.bytes);
    for (std::size_t row = 0; row < codes.rows; row += step) {
        const Codes block{codes.data + row * codes.bytes,
                          std::min(step, codes.rows - row), codes.bytes,
                          codes.first + static_cast<std::int64_t>(row)};
        for (std::size_t q = 0; q < queries.rows; ++q)
            kernels().scan_rows(queries.row(q), block, sinks[q]);
    }
}

/// Compare all queries with the codes, block by block.
void scan_by_batch(CodeView queries, Codes codes, std::vector<Sink>& sinks) {
    struct alignas(64) Line {
        std::uint8_t bytes[64];
    };
    const std::size_t size = kernels().batch_bytes(queries.rows, queries.bytes);
    const std::unique_ptr<Line[]> memory(new Line[size / sizeof(Line) + 1]);
    kernels().scan_batch(queries.row(0), queries.rows, codes, sinks.data(),
                         memory[0].bytes);
}

/// Whether queries are too few for laying the codes out to pay. A code that does not fill
/// its words is loaded byte by byte, which costs as much as laying it out.
bool compares_rows(CodeView queries) {
    if (active_isa() == Isa::portable) return queries.rows <= 1;
    const bool full = queries.bytes % 8 == 0;
    return queries.rows <= (queries.bytes <= 8 ? full ? 19 : 1 : full ? 7 : 3);
}

void scan_codes(CodeView queries, Codes codes, std::vector<Sink>& sinks) {
    (compares_rows(queries) ? scan_by_rows : scan_by_batch)(queries, codes, sinks);
}

/// Copies of some codes, and the rows that they come from.
class Subset {
public:
    explicit Subset(CodeView database) : database_(database) {}

    void add(std::size_t row) { rows_.push_back(static_cast<std::int64_t>(row)); }
    void clear() { rows_.clear(); }
    std::size_t size() const { return rows_.size(); }
    const std::int64_t* rows() const { return rows_.data(); }

    /// Copy the codes of the rows, which lie far from each other: each is asked for early.
    CodeView copy() {
        const std::size_t n = rows_.size(), bytes = database_.bytes;
        codes_.resize(n * bytes);
        for (std::size_t i = 0; i < n; ++i) {
            if (i + kAhead < n) {
                const std::uint8_t* later = code(i + kAhead);
                for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(later + at);
            }
            const std::uint8_t* from = code(i);
            std::uint8_t* to = codes_.data() + i * bytes;
            std::size_t at = 0;
            for (; at + 8 <= bytes; at += 8) std::memcpy(to + at, from + at, 8);
            for (; at < bytes; ++at) to[at] = from[at];
        }
        return {codes_.data(), n, bytes};
    }

private:
    static constexpr std::size_t kAhead = 16;

    const std::uint8_t* code(std::size_t i) const {
        return database_.row(static_cast<std::size_t>(rows_[i]));
    }

    CodeView database_;
    std::vector<std::int64_t> rows_;
    std::vector<std::uint8_t> codes_;
};

/// Copy the allowed rows of [begin, end), some at a time, and compare with the copies.
void scan_gathered(CodeView queries, CodeView database, std::size_t begin, std::size_t end,
                   std::vector<Sink>& sinks) {
    const std::size_t most = compares_rows(queries) ? kGatheredForFew : kGathered;
    AllowedRows allowed(sinks[0].allowed, begin, end);
    Subset some(database);
    for (std::size_t row = allowed.next(); row < end;) {
        some.clear();
        for (; row < end && some.size() < most; row = allowed.next()) some.add(row);
        for (Sink& sink : sinks) {
            sink.allowed = nullptr;
            sink.rows = some.rows();
        }
        scan_codes(queries, part(some.copy(), 0, some.size()), sinks);
    }
}

std::size_t count_allowed(Mask mask, std::size_t n) {
    if (!mask) return n;
    std::size_t count = kernels().count(mask, n / 8);
    if (n % 8) count += count_bits(mask_word(mask, n, n / 64) & (0xFFull << 56 >> n / 8 % 8 * 8));
    return count;
}

/// Which rows may be found.
struct Filter {
    Mask mask;
    std::size_t n_allowed;

    Filter(Mask mask, std::size_t n_rows)
        : mask(mask), n_allowed(count_allowed(mask, n_rows)) {}
};

/// Whether copies of the allowed rows are worth their while: what they cost in
/// nanoseconds, and what is saved by not looking at the rest.
bool gathers(CodeView queries, CodeView database, const Filter& filter) {
    if (!filter.mask) return false;
    const auto n = static_cast<double>(database.rows);
    const auto n_allowed = static_cast<double>(filter.n_allowed);
    const auto words = static_cast<double>((database.bytes + 7) / 8);
    const double word = !compares_rows(queries) ? 0.06 : words > 1 ? 0.33 : 0.14;
    const double row = static_cast<double>(queries.rows) * words * word;
    // Rows of one word lie several to a cache line.
    const double copy = words > 1 ? 14 + 2 * words : 7;
    return (n - n_allowed) * row > n_allowed * copy;
}

/// Report rows [begin, end) of the database to one collector for each query.
void scan(CodeView queries, CodeView database, std::size_t begin, std::size_t end,
          bool gather, Collectors& collectors) {
    std::vector<Sink> sinks;
    for (const auto& collector : collectors) sinks.push_back(collector->take());
    if (gather)
        scan_gathered(queries, database, begin, end, sinks);
    else
        scan_codes(queries, part(database, begin, end), sinks);
    for (std::size_t q = 0; q < queries.rows; ++q) collectors[q]->put(sinks[q]);
}

/// Bounds that finished shares pass to the rest: the k-th nearest of one share is no
/// nearer than that of all. Ties stay, so answers do not depend on who is first.
class Bounds {
public:
    explicit Bounds(std::size_t n) : bounds_(n) {
        for (auto& bound : bounds_) bound = std::numeric_limits<std::int32_t>::max();
    }
    void apply(Collectors& collectors) const {
        for (std::size_t q = 0; q < bounds_.size(); ++q) collectors[q]->lower(bounds_[q]);
    }
    void learn(const Collectors& collectors) {
        for (std::size_t q = 0; q < bounds_.size(); ++q) {
            const std::int32_t bound = collectors[q]->bound();
            std::int32_t known = bounds_[q];
            while (bound < known && !bounds_[q].compare_exchange_weak(known, bound)) {
            }
        }
    }

private:
    std::vector<std::atomic<std::int32_t>> bounds_;
};

template <typename Make>
Collectors make_collectors(std::size_t n, const Make& make) {
    Collectors collectors;
    for (std::size_t q = 0; q < n; ++q) collectors.push_back(make(q));
    return collectors;
}

/// Call `work(first, collectors)` with the hits of a few queries at a time. Many queries
/// are shared among the threads; for few it is the database that is shared.
template <typename Make, typename Work>
void search(CodeView queries, CodeView database, const Filter& filter,
            std::size_t n_threads, const Make& make, const Work& work) {
    const bool gather = gathers(queries, database, filter);
    n_threads = std::min(n_threads, 1 + queries.rows * database.rows * database.bytes / kStart);
    const auto pass = [&](std::size_t first, std::size_t n, std::size_t threads) {
        const CodeView some{queries.row(first), n, queries.bytes};
        const auto make_nth = [&](std::size_t q) { return make(first + q); };
        const std::size_t grains = (database.rows + kGrain - 1) / kGrain;
        const std::size_t n_shares =
            threads <= 1 ? 1 : std::max<std::size_t>(1, std::min(4 * threads, grains));
        std::vector<Collectors> shares(n_shares);
        for (auto& share : shares) share = make_collectors(n, make_nth);
        Bounds bounds(n);
        parallel_tasks(n_shares, threads, [&](std::size_t t) {
            const auto border = [&](std::size_t i) {
                return std::min(database.rows, grains * i / n_shares * kGrain);
            };
            bounds.apply(shares[t]);
            scan(some, database, border(t), border(t + 1), gather, shares[t]);
            if (n_shares > 1) bounds.learn(shares[t]);
        });
        for (std::size_t t = 1; t < shares.size(); ++t)
            for (std::size_t q = 0; q < n; ++q) shares[0][q]->append(*shares[t][q]);
        work(first, shares[0]);
    };
    if (queries.rows < 4 * n_threads) {
        if (queries.rows) pass(0, queries.rows, n_threads);
        return;
    }
    parallel_for(queries.rows, 4, n_threads,
                 [&](std::size_t begin, std::size_t end, std::size_t) {
                     for (std::size_t q = begin; q < end; q += kPass)
                         pass(q, std::min(kPass, end - q), 1);
                 });
}

/// Copy every `stride`-th allowed row.
Subset sampled(CodeView database, Mask allowed, std::size_t stride) {
    Subset chosen(database);
    if (!allowed) {
        for (std::size_t row = 0; row < database.rows; row += stride)
            chosen.add(row);
        return chosen;
    }
    AllowedRows rows(allowed, 0, database.rows);
    for (std::size_t row = rows.next(); row < database.rows; row = rows.next(stride - 1))
        chosen.add(row);
    return chosen;
}

/// The rank in a sample that the k-th nearest of all very likely does not exceed.
std::size_t sample_rank(std::size_t k, std::size_t n_sample, std::size_t n) {
    const double share =
        static_cast<double>(k) * static_cast<double>(n_sample) / static_cast<double>(n);
    return static_cast<std::size_t>(share + 3 * std::sqrt(share) + 2);
}

/// Distance of the `rank`-th nearest of a few codes.
std::int32_t distance_at(std::size_t rank, const std::uint8_t* query, Codes codes,
                         std::vector<std::int32_t>& distances) {
    distances.resize(codes.rows);
    kernels().distances(query, codes, distances.data());
    std::vector<std::size_t> count(8 * codes.bytes + 1, 0);
    for (const std::int32_t d : distances) ++count[static_cast<std::size_t>(d)];
    std::size_t at = 0;
    for (std::size_t near = count[0]; near < rank; near += count[at]) ++at;
    return static_cast<std::int32_t>(at);
}

/// For each query a distance that the k-th nearest very likely does not reach, from a
/// sample of the rows; the result is checked, so an unlucky sample only costs time.
std::vector<std::int32_t> first_thresholds(CodeView queries, CodeView database,
                                           const Filter& filter, std::size_t k,
                                           std::size_t n_threads) {
    const std::int32_t all = beyond_all(database);
    std::vector<std::int32_t> taus(queries.rows, all);
    const std::size_t n_allowed = filter.n_allowed;
    if (n_allowed < kSampleFrom || queries.rows <= kFewQueries || compares_rows(queries))
        return taus;
    const std::size_t wanted = std::max(kSample, kSampleOfEach * k);
    const std::size_t stride = n_allowed / std::min(wanted, n_allowed / 8);
    Subset sample = sampled(database, filter.mask, stride);
    const CodeView rows = sample.copy();
    const std::size_t rank = sample_rank(k, rows.rows, n_allowed);
    if (rank >= rows.rows) return taus;
    // The thresholds for the sample come from a smaller one.
    Subset few = sampled(rows, nullptr, rows.rows / kSmallSample);
    const CodeView few_rows = few.copy();
    const std::size_t few_rank = sample_rank(rank, few_rows.rows, rows.rows);
    if (few_rank < few_rows.rows)
        parallel_for(queries.rows, 16, n_threads,
                     [&](std::size_t begin, std::size_t end, std::size_t) {
                         const Codes codes = part(few_rows, 0, few_rows.rows);
                         std::vector<std::int32_t> room;
                         for (std::size_t q = begin; q < end; ++q)
                             taus[q] = distance_at(few_rank, queries.row(q), codes, room) + 1;
                     });
    search(
        queries, rows, Filter(nullptr, rows.rows), n_threads,
        [&](std::size_t q) {
            return std::make_unique<Collector>(Collector::Keep::nearest, rank, taus[q],
                                               nullptr);
        },
        [&](std::size_t first, Collectors& found) {
            for (std::size_t q = 0; q < found.size(); ++q) {
                const std::int32_t farthest = found[q]->farthest();
                taus[first + q] = farthest < 0 ? all : farthest + 1;
            }
        });
    return taus;
}

/// Search for the queries in `which` only, with a threshold for each.
void topk_of(CodeView queries, CodeView database, const Filter& filter, std::size_t k,
             const std::vector<std::int32_t>& taus, std::int32_t* distances,
             std::int64_t* rows, std::size_t n_threads, std::vector<std::size_t>& found) {
    search(
        queries, database, filter, n_threads,
        [&](std::size_t q) {
            return std::make_unique<Collector>(Collector::Keep::nearest, k, taus[q],
                                               filter.mask);
        },
        [&](std::size_t first, Collectors& collectors) {
            for (std::size_t q = 0; q < collectors.size(); ++q) {
                const std::size_t at = (first + q) * k;
                found[first + q] = collectors[q]->write(distances + at, rows + at);
            }
        });
}

}  // namespace

void hamming_distances(CodeView queries, CodeView database, std::int32_t* distances,
                       std::size_t n_threads) {
    const HammingKernels& kernel = kernels();
    parallel_for(queries.rows * database.rows, 1 << 14, n_threads,
                 [&](std::size_t begin, std::size_t end, std::size_t) {
                     while (begin < end) {
                         const std::size_t q = begin / database.rows;
                         const std::size_t row = begin % database.rows;
                         const std::size_t n = std::min(end - begin, database.rows - row);
                         kernel.distances(queries.row(q), part(database, row, row + n),
                                          distances + begin);
                         begin += n;
                     }
                 });
}

void hamming_topk(CodeView queries, CodeView database, Mask allowed, std::size_t k,
                  std::int32_t* distances, std::int64_t* rows, std::size_t n_threads) {
    const Filter filter(allowed, database.rows);
    std::fill_n(distances, queries.rows * k, -1);
    std::fill_n(rows, queries.rows * k, -1);
    if (filter.n_allowed == 0) return;

    std::vector<std::size_t> found(queries.rows);
    const auto taus = first_thresholds(queries, database, filter, k, n_threads);
    topk_of(queries, database, filter, k, taus, distances, rows, n_threads, found);
    for (std::size_t q = 0; q < queries.rows; ++q) {
        if (found[q] >= std::min(k, filter.n_allowed)) continue;
        const CodeView one{queries.row(q), 1, queries.bytes};
        std::vector<std::size_t> again(1);
        topk_of(one, database, filter, k, {beyond_all(database)}, distances + q * k,
                rows + q * k, n_threads, again);
    }
}

void hamming_within_count(CodeView queries, CodeView database, std::int32_t radius,
                          Mask allowed, std::int64_t* counts, std::size_t n_threads) {
    search(
        queries, database, Filter(allowed, database.rows), n_threads,
        [&](std::size_t) {
            return std::make_unique<Collector>(Collector::Keep::count, 0, radius + 1,
                                               allowed);
        },
        [&](std::size_t first, Collectors& found) {
            for (std::size_t q = 0; q < found.size(); ++q)
                counts[first + q] = static_cast<std::int64_t>(found[q]->size());
        });
}

HammingHits::HammingHits(CodeView queries, CodeView database, std::int32_t radius,
                         Mask allowed, std::size_t n_threads)
    : found_(queries.rows) {
    search(
        queries, database, Filter(allowed, database.rows), n_threads,
        [&](std::size_t) {
            return std::make_unique<Collector>(Collector::Keep::all, 0, radius + 1,
                                               allowed);
        },
        [&](std::size_t first, Collectors& collectors) {
            for (std::size_t q = 0; q < collectors.size(); ++q) {
                OfQuery& found = found_[first + q];
                found.distances.resize(collectors[q]->size());
                found.rows.resize(collectors[q]->size());
                collectors[q]->write(found.distances.data(), found.rows.data());
                collectors[q].reset();
            }
        });
}

void HammingHits::counts(std::int64_t* counts) const {
    for (const OfQuery& found : found_)
        *counts++ = static_cast<std::int64_t>(found.rows.size());
}

void HammingHits::write(std::int32_t* distances, std::int64_t* rows) const {
    for (const OfQuery& found : found_) {
        distances = std::copy(found.distances.begin(), found.distances.end(), distances);
        rows = std::copy(found.rows.begin(), found.rows.end(), rows);
    }
}

}  // namespace fewbits
