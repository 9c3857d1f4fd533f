#include "fewbits/pair_join.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "join_buckets.hpp"
#include "multi_index_dispatch.hpp"
#include "parallel.hpp"
#include "substrings.hpp"

namespace fewbits {
namespace {

constexpr std::size_t kBlock = 1 << 18;      // pairs, or entries, after which a call returns
constexpr std::size_t kFewPairs = 1 << 14;   // and the fewest pairs after which it does
constexpr std::size_t kGrain = 256;          // entries that a thread takes at once,
constexpr std::size_t kGrainPairs = 1 << 16; // or fewer that may have so many pairs
constexpr int kMostBits = 24;                // of the number of a bucket

/// Pairs of some entries, in order.
class Pairs {
public:
    Pairs() : pairs_(256) {}

    PairSink sink() { return {pairs_.data(), pairs_.data() + pairs_.size(), full, this}; }
    void close(const PairSink& sink) {
        pairs_.resize(static_cast<std::size_t>(sink.next - pairs_.data()));
        pairs_.shrink_to_fit();
    }
    const std::vector<Pair>& all() const { return pairs_; }

private:
    static void full(PairSink& sink) {
        auto& self = *static_cast<Pairs*>(sink.owner);
        const std::size_t n = self.pairs_.size();
        self.pairs_.resize(2 * n);
        sink.next = self.pairs_.data() + n;
        sink.end = self.pairs_.data() + 2 * n;
    }

    std::vector<Pair> pairs_;
};

}  // namespace

struct PairJoin::State {
    CodeView codes;
    std::vector<JoinPart> parts;
    std::int32_t radius;
    std::size_t before, n_threads;

    State(CodeView all, std::vector<JoinPart> by, std::int32_t within, std::size_t end,
          std::size_t threads)
        : codes(all), parts(std::move(by)), radius(within),
          before(std::min(end, all.rows)), n_threads(std::max<std::size_t>(1, threads)),
          n(all.rows) {}

    std::size_t n;                      // allowed rows
    std::vector<std::uint32_t> chosen;  // which, where not all are
    std::vector<BitSpan> spans;
    std::vector<int> most;

    std::size_t part = 0, entry = 0;  // what is next
    std::size_t built = ~std::size_t{0};
    int bucket_bits = 0;
    std::vector<std::uint32_t> starts, rows;
    std::vector<std::uint8_t> entries;
    std::vector<std::pair<std::size_t, Pairs>> found;  // by first entry

    std::size_t row(std::size_t i) const { return chosen.empty() ? i : chosen[i]; }

    /// Sort the codes by the buckets of the next part.
    void build() {
        const JoinPart& by = parts[part];
        const int bits = std::min(bucket_bits, static_cast<int>(by.length));
        const std::size_t n_buckets = std::size_t{1} << bits;
        std::vector<std::uint32_t> buckets(n);  // gone before pairs are found
        rows.resize(n);
        entries.resize(n * codes.bytes);
        starts.assign(n_buckets + 1, 0);
        parallel_for(n, 4096, n_threads, [&](std::size_t b, std::size_t e, std::size_t) {
            for (std::size_t i = b; i < e; ++i)
                buckets[i] = static_cast<std::uint32_t>(bucket_of(
                    substring_value(codes.row(row(i)), codes.bytes, by.begin, by.length),
                    by.length, bucket_bits));
        });
        for (const std::uint32_t bucket : buckets) ++starts[bucket + 1];
        for (std::size_t v = 0; v < n_buckets; ++v) starts[v + 1] += starts[v];
        parallel_for(n_buckets, 1, n_threads,
                     [&](std::size_t low, std::size_t high, std::size_t) {
                         fill(buckets, low, high);
                     });
        std::memmove(starts.data() + 1, starts.data(), n_buckets * sizeof starts[0]);
        starts[0] = 0;
        built = part;
        entry = 0;
    }

    void fill(const std::vector<std::uint32_t>& buckets, std::size_t low,
              std::size_t high) {
        for (std::size_t i = 0; i < n; ++i) {
            if (buckets[i] - low >= high - low) continue;
            const std::size_t at = starts[buckets[i]]++;
            rows[at] = static_cast<std::uint32_t>(row(i));
            std::memcpy(entries.data() + at * codes.bytes, codes.row(row(i)), codes.bytes);
        }
    }

    /// The end of the next grain of entries.
    std::size_t grain(std::size_t begin) const {
        std::size_t end = begin, pairs = 0;
        const JoinPart& by = parts[part];
        while (end < n && end < begin + kGrain && pairs < kGrainPairs) {
            const std::size_t bucket = bucket_of(
                substring_value(entries.data() + end * codes.bytes, codes.bytes, by.begin,
                                by.length),
                by.length, bucket_bits);
            if (rows[end] < before) pairs += starts[bucket + 1] - end;
            ++end;
        }
        return end;
    }

    void join() {
        const JoinPart& by = parts[part];
        const JoinTable table{starts.data(), rows.data(), entries.data(), codes.bytes,
                              by.begin,      by.length,   by.flips,       bucket_bits,
                              spans.data(),  most.data(), part,           radius,
                              before < codes.rows, static_cast<std::uint32_t>(before)};
        const std::size_t stop = std::min(n, entry + kBlock);
        // Few beside the codes, so that pairs take no more memory than these.
        const std::size_t enough = std::clamp(n / 16, kFewPairs, kBlock);
        std::mutex mutex;
        std::size_t total = 0;
        parallel_for(n_threads, 1, n_threads, [&](std::size_t, std::size_t, std::size_t) {
            std::unique_lock<std::mutex> lock(mutex);
            while (entry < stop && total < enough) {
                const std::size_t begin = entry, end = grain(begin);
                entry = end;
                lock.unlock();
                Pairs pairs;
                PairSink sink = pairs.sink();
                multi_index_kernels().join(table, begin, end, sink);
                pairs.close(sink);
                lock.lock();
                total += pairs.all().size();
                if (!pairs.all().empty()) found.emplace_back(begin, std::move(pairs));
            }
        });
        std::sort(found.begin(), found.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
    }
};

PairJoin::PairJoin(CodeView codes, Mask allowed, std::vector<JoinPart> parts,
                   std::int32_t radius, std::size_t before, std::size_t n_threads)
    : state_(new State(codes, std::move(parts), radius, before, n_threads)) {
    State& state = *state_;
    for (std::size_t row = 0; allowed && row < codes.rows; ++row)
        if (allowed[row / 8] >> (7 - row % 8) & 1)
            state.chosen.push_back(static_cast<std::uint32_t>(row));
    if (allowed) state.n = state.chosen.size();
    // From three to six buckets for four codes.
    const int enough = static_cast<int>(std::bit_width(state.n - state.n / 4));
    state.bucket_bits = std::min(kMostBits, std::max(1, enough));
    for (const JoinPart& part : state.parts) {
        state.spans.push_back(bit_span(part.begin, part.begin + part.length, Hole{}));
        state.most.push_back(part.flips);
    }
}

PairJoin::~PairJoin() = default;

bool PairJoin::advance() {
    State& state = *state_;
    state.found.clear();
    while (state.part < state.parts.size() &&
           (state.n < 2 || state.parts[state.part].flips < 0 ||
            (state.built == state.part && state.entry == state.n)))
        ++state.part;
    if (state.part == state.parts.size()) return false;
    if (state.built != state.part) state.build();
    state.join();
    return true;
}

std::size_t PairJoin::size() const {
    std::size_t n = 0;
    for (const auto& each : state_->found) n += each.second.all().size();
    return n;
}

void PairJoin::write(std::int32_t* distances, std::int64_t* pairs) const {
    for (const auto& each : state_->found)
        for (const Pair& pair : each.second.all()) {
            *distances++ = pair.distance;
            *pairs++ = pair.first;
            *pairs++ = pair.second;
        }
}

}  // namespace fewbits
