// Every instruction set that runs here against the scan. All arrays end at an unreadable
// page, so that a read or write too far is a crash.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "checks.hpp"
#include "fewbits/multi_index.hpp"
#include "fewbits/pair_join.hpp"
#include "guarded.hpp"

namespace {

using fewbits::CodeView;

constexpr std::size_t kQueries = 5;
constexpr fewbits::Budget kNoLimit{1, 1, std::int64_t{1} << 60};

/// Copies of a few codes with some bits flipped.
void fill_clustered(Random& random, Guarded<std::uint8_t>& codes, std::size_t bytes) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::size_t row = i / bytes;
        codes[i] = static_cast<std::uint8_t>((row % 3) * 85 + i % bytes);
        if (random() % 3 == 0) codes[i] ^= static_cast<std::uint8_t>(1u << random() % 8);
    }
}

struct Tables {
    Tables(CodeView codes, std::size_t m, bool inside, std::size_t n_threads)
        : cuts(cut(codes, m)), starts(count(cuts)), rows(m * codes.rows),
          entries(inside ? size(codes, cuts) : 0),
          index{codes, m, cuts.data(), starts.get(), rows.get(),
                inside ? entries.get() : nullptr} {
        fewbits::multi_index_build(codes, m, cuts.data(), starts.get(), rows.get(),
                                   inside ? entries.get() : nullptr, n_threads);
    }

    static std::vector<std::int64_t> cut(CodeView codes, std::size_t m) {
        std::vector<std::int64_t> cuts;
        for (std::size_t j = 0; j <= m; ++j)
            cuts.push_back(static_cast<std::int64_t>(8 * codes.bytes * j / m));
        return cuts;
    }
    static std::size_t count(const std::vector<std::int64_t>& cuts) {
        std::size_t n = 0;
        for (std::size_t j = 0; j + 1 < cuts.size(); ++j)
            n += (std::size_t{1} << (cuts[j + 1] - cuts[j])) + 1;
        return n;
    }
    static std::size_t size(CodeView codes, const std::vector<std::int64_t>& cuts) {
        std::size_t n = 8;
        for (std::size_t j = 0; j + 1 < cuts.size(); ++j) {
            const std::int64_t whole = cuts[j + 1] / 8 - (cuts[j] + 7) / 8;
            n += codes.rows *
                 (codes.bytes - static_cast<std::size_t>(std::max<std::int64_t>(0, whole)));
        }
        return n;
    }

    std::vector<std::int64_t> cuts;
    Guarded<std::uint32_t> starts, rows;
    Guarded<std::uint8_t> entries;
    fewbits::MultiIndex index;
};

void check_topk(CodeView queries, const fewbits::MultiIndex& index, fewbits::Mask mask,
                std::size_t k, std::size_t n_threads) {
    const std::size_t n = queries.rows * k;
    Guarded<std::int32_t> distances(n), expected_distances(n);
    Guarded<std::int64_t> rows(n), expected_rows(n), work(2 * queries.rows);
    Guarded<std::uint8_t> done(queries.rows);
    fewbits::hamming_topk(queries, index.codes, mask, k, expected_distances.get(),
                          expected_rows.get(), n_threads);
    for (const std::int64_t limit : {kNoLimit.limit, std::int64_t{100}}) {
        fewbits::multi_index_topk(queries, index, mask, k, {1, 1, limit},
                                  distances.get(), rows.get(), work.get(), done.get(),
                                  n_threads);
        for (std::size_t i = 0; i < n; ++i) {
            check(done[i / k] || limit < kNoLimit.limit, "done");
            if (!done[i / k]) continue;
            check(distances[i] == expected_distances[i], "topk distance");
            check(rows[i] == expected_rows[i], "topk row");
        }
    }
}

void check_within(CodeView queries, const fewbits::MultiIndex& index, fewbits::Mask mask,
                  std::int32_t radius, std::size_t n_threads) {
    Guarded<std::int64_t> counts(queries.rows), expected(queries.rows),
        work(2 * queries.rows);
    Guarded<std::uint8_t> done(queries.rows);
    const fewbits::RangeHits hits(queries, index, mask, radius, kNoLimit, n_threads);
    hits.counts(counts.get(), work.get(), done.get());
    fewbits::hamming_within_count(queries, index.codes, radius, mask, expected.get(), 1);
    std::size_t n = 0;
    for (std::size_t q = 0; q < queries.rows; ++q) {
        check(counts[q] == expected[q], "within count");
        n += static_cast<std::size_t>(counts[q]);
    }
    Guarded<std::int32_t> distances(n), expected_distances(n);
    Guarded<std::int64_t> rows(n), expected_rows(n);
    hits.write(distances.get(), rows.get());
    const fewbits::HammingHits scanned(queries, index.codes, radius, mask, 1);
    scanned.write(expected_distances.get(), expected_rows.get());
    for (std::size_t i = 0; i < n; ++i) {
        check(distances[i] == expected_distances[i], "within distance");
        check(rows[i] == expected_rows[i], "within row");
    }
}

/// Cut in `m` parts, which find all pairs of some radius.
std::vector<fewbits::JoinPart> parts_of(std::size_t n_bits, std::size_t m, int radius) {
    std::vector<fewbits::JoinPart> parts;
    const int parted = static_cast<int>(m), most = radius / parted;
    for (std::size_t j = 0; j < m; ++j) {
        const std::size_t begin = n_bits * j / m, end = n_bits * (j + 1) / m;
        const bool first = static_cast<int>(j) <= radius - parted * most;
        parts.push_back({begin, std::min<std::size_t>(56, end - begin), most - !first});
    }
    return parts;
}

void check_join(CodeView codes, const std::int32_t* all, fewbits::Mask mask,
                std::size_t m, int radius, std::size_t before, std::size_t n_threads) {
    std::vector<std::array<std::int64_t, 3>> expected, found;
    const auto allowed = [&](std::size_t row) {
        return !mask || mask[row / 8] >> (7 - row % 8) & 1;
    };
    for (std::size_t a = 0; a < std::min(before, codes.rows); ++a)
        for (std::size_t b = a + 1; b < codes.rows; ++b) {
            const std::int32_t d = all[a * codes.rows + b];
            if (d <= radius && allowed(a) && allowed(b))
                expected.push_back({static_cast<std::int64_t>(a),
                                    static_cast<std::int64_t>(b), d});
        }
    fewbits::PairJoin join(codes, mask, parts_of(8 * codes.bytes, m, radius), radius,
                           before, n_threads);
    while (join.advance()) {
        Guarded<std::int32_t> distances(join.size());
        Guarded<std::int64_t> pairs(2 * join.size());
        join.write(distances.get(), pairs.get());
        for (std::size_t i = 0; i < join.size(); ++i)
            found.push_back({pairs[2 * i], pairs[2 * i + 1], distances[i]});
    }
    std::sort(found.begin(), found.end());
    check(found == expected, "pairs");
}

void check_problem(Random& random, std::size_t bytes, std::size_t rows, bool inside) {
    Guarded<std::uint8_t> codes(rows * bytes), queries(kQueries * bytes);
    fill_clustered(random, codes, bytes);
    fill_clustered(random, queries, bytes);
    const CodeView database{codes.get(), rows, bytes};
    const CodeView asked{queries.get(), kQueries, bytes};
    const std::size_t fewest = (8 * bytes + 9) / 10;
    const std::size_t n_threads = between(random, 0, 1) ? 1 : between(random, 2, 4);
    const Tables tables(database, between(random, fewest, std::min(8 * bytes, 2 * fewest)),
                        inside, n_threads);
    Guarded<std::uint8_t> half((rows + 7) / 8);
    for (std::size_t i = 0; i < half.size(); ++i)
        half[i] = static_cast<std::uint8_t>(random() >> 7);
    const bool joined = rows <= 500;
    Guarded<std::int32_t> all(joined ? rows * rows : 0);
    if (joined) fewbits::hamming_distances(database, database, all.get(), 1);
    for (const fewbits::Mask mask : {fewbits::Mask{nullptr}, fewbits::Mask{half.get()}}) {
        for (const std::size_t k : {std::size_t{1}, (rows + 2) / 3, rows})
            if (k) check_topk(asked, tables.index, mask, k, n_threads);
        for (const std::int32_t radius : {0, 1, 4, 11})
            check_within(asked, tables.index, mask,
                         std::min(radius, static_cast<std::int32_t>(8 * bytes)),
                         n_threads);
        for (const int radius : {0, 1, 3, 6})
            if (joined)
                check_join(database, all.get(), mask,
                           between(random, static_cast<std::size_t>(radius / 3) + 1,
                                   static_cast<std::size_t>(std::min(radius + 1, 8))),
                           radius, rows - between(random, 0, rows), n_threads);
    }
}

}  // namespace

/// Test every instruction set that runs here, or the one of this name.
int main(int argc, char** argv) {
    for (const auto isa : fewbits::available_isas()) {
        if (argc > 1 && std::strcmp(argv[1], fewbits::isa_name(isa))) continue;
        check(fewbits::force_isa(isa), "force_isa");
        Random random(7);
        for (std::size_t bytes = 1; bytes <= 34; ++bytes) {
            for (const bool inside : {true, false})
                for (const std::size_t rows : {std::size_t{40}, 150 + 10 * bytes})
                    check_problem(random, bytes, rows, inside);
            for (const std::size_t rows : {0, 1})
                check_problem(random, bytes, rows, bytes % 2);
        }
        for (const bool inside : {true, false}) check_problem(random, 8, 9000, inside);
        std::printf("%s: ok\n", fewbits::isa_name(isa));
    }
}
