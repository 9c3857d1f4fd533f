// Every instruction set that runs here against a naive loop. All arrays end at an
// unreadable page, so that a read or write too far is a crash.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "fewbits/hamming.hpp"
#include "fewbits/isa.hpp"
#include "guarded.hpp"

namespace {

struct Place {
    std::size_t bytes, rows, queries, k, threads;
    const char* mask;
} place{};

void check(bool ok, const char* what) {
    if (ok) return;
    std::fprintf(stderr,
                 "FAILED on %s: %s; %zu bytes, %zu rows, %zu queries, k %zu, "
                 "%zu threads, mask %s\n",
                 fewbits::isa_name(fewbits::active_isa()), what, place.bytes, place.rows,
                 place.queries, place.k, place.threads, place.mask);
    std::exit(1);
}

using Bytes = Guarded<std::uint8_t>;
using Random = std::mt19937;
using Pairs = std::vector<std::pair<std::int32_t, std::int64_t>>;  // (distance, row)

void fill_random(Random& random, Bytes& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(random() >> 7);
}

/// Random codes, every fifth a copy of a query, every seventh a complement of one.
void fill_codes(Random& random, Bytes& queries, Bytes& database, std::size_t bytes) {
    fill_random(random, queries);
    fill_random(random, database);
    const std::size_t n_queries = queries.size() / bytes;
    for (std::size_t row = 0; n_queries && row < database.size() / bytes; ++row) {
        if (row % 5 && row % 7) continue;
        const std::uint8_t* query = queries.get() + row % n_queries * bytes;
        for (std::size_t b = 0; b < bytes; ++b)
            database[row * bytes + b] =
                static_cast<std::uint8_t>(row % 7 ? query[b] : ~query[b]);
    }
}

std::int32_t naive(const std::uint8_t* a, const std::uint8_t* b, std::size_t bytes) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < bytes; ++i)
        sum += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
    return sum;
}

void check_distances(fewbits::CodeView queries, fewbits::CodeView database,
                     const std::vector<Pairs>& all) {
    Guarded<std::int32_t> found(queries.rows * database.rows);
    fewbits::hamming_distances(queries, database, found.get(), place.threads);
    for (std::size_t q = 0; q < queries.rows; ++q)
        for (std::size_t row = 0; row < database.rows; ++row)
            check(found[q * database.rows + row] == all[q][row].first, "distances");
}

void check_topk(fewbits::CodeView queries, fewbits::CodeView database,
                fewbits::Mask mask, const std::vector<Pairs>& sorted) {
    for (const std::size_t k : {std::size_t{1}, database.rows / 3, database.rows}) {
        if (k == 0) continue;
        place.k = k;
        Guarded<std::int32_t> distances(queries.rows * k);
        Guarded<std::int64_t> rows(queries.rows * k);
        fewbits::hamming_topk(queries, database, mask, k, distances.get(), rows.get(),
                              place.threads);
        for (std::size_t i = 0; i < queries.rows * k; ++i) {
            const Pairs& expected = sorted[i / k];
            const bool there = i % k < expected.size();
            check(distances[i] == (there ? expected[i % k].first : -1), "topk distance");
            check(rows[i] == (there ? expected[i % k].second : -1), "topk row");
        }
    }
}

void check_within(fewbits::CodeView queries, fewbits::CodeView database,
                  fewbits::Mask mask, std::int32_t radius,
                  const std::vector<Pairs>& sorted) {
    Guarded<std::int64_t> counts(queries.rows);
    fewbits::hamming_within_count(queries, database, radius, mask, counts.get(),
                                  place.threads);
    std::vector<std::int64_t> offsets{0};
    for (std::size_t q = 0; q < queries.rows; ++q) {
        const auto end = std::partition_point(
            sorted[q].begin(), sorted[q].end(),
            [&](const auto& pair) { return pair.first <= radius; });
        check(counts[q] == end - sorted[q].begin(), "within count");
        offsets.push_back(offsets.back() + counts[q]);
    }
    Guarded<std::int32_t> distances(static_cast<std::size_t>(offsets.back()));
    Guarded<std::int64_t> rows(static_cast<std::size_t>(offsets.back()));
    const fewbits::HammingHits hits(queries, database, radius, mask, place.threads);
    Guarded<std::int64_t> again(queries.rows);
    hits.counts(again.get());
    for (std::size_t q = 0; q < queries.rows; ++q)
        check(again[q] == counts[q], "within hits");
    hits.write(distances.get(), rows.get());
    for (std::size_t q = 0, i = 0; q < queries.rows; ++q)
        for (std::size_t j = 0; j < static_cast<std::size_t>(counts[q]); ++j, ++i)
            check(distances[i] == sorted[q][j].first && rows[i] == sorted[q][j].second,
                  "within hit");
}

void check_masked(fewbits::CodeView queries, fewbits::CodeView database,
                  std::uint8_t* mask, const std::vector<Pairs>& all,
                  std::initializer_list<std::int32_t> radii) {
    const auto inside = [&](const auto& pair) {
        const auto row = static_cast<std::size_t>(pair.second);
        return !mask || mask[row / 8] >> (7 - row % 8) & 1;
    };
    std::vector<Pairs> sorted(queries.rows);
    for (std::size_t q = 0; q < queries.rows; ++q)
        std::copy_if(all[q].begin(), all[q].end(), std::back_inserter(sorted[q]), inside);
    check_topk(queries, database, mask, sorted);
    for (const std::int32_t radius : radii)
        check_within(queries, database, mask, radius, sorted);
}

/// One problem with every mask; `place` says which.
void check_problem(Random& random) {
    Bytes query_codes(place.queries * place.bytes), codes(place.rows * place.bytes);
    fill_codes(random, query_codes, codes, place.bytes);
    const fewbits::CodeView queries{query_codes.get(), place.queries, place.bytes};
    const fewbits::CodeView database{codes.get(), place.rows, place.bytes};
    std::vector<Pairs> all(queries.rows);
    for (std::size_t q = 0; q < queries.rows; ++q)
        for (std::size_t row = 0; row < database.rows; ++row)
            all[q].emplace_back(naive(queries.row(q), database.row(row), place.bytes),
                                static_cast<std::int64_t>(row));
    place.mask = "none";
    check_distances(queries, database, all);
    for (Pairs& pairs : all) std::sort(pairs.begin(), pairs.end());
    const auto bits = static_cast<std::int32_t>(8 * database.bytes);
    check_masked(queries, database, nullptr, all, {0, bits / 2, bits - 1, bits});
    Bytes mask((place.rows + 7) / 8);
    fill_random(random, mask);
    place.mask = "half";
    check_masked(queries, database, mask.get(), all, {0, bits / 2, bits});
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 4 ? 0 : 0x10;
    place.mask = "few";
    check_masked(queries, database, mask.get(), all, {0, bits});
    std::fill_n(mask.get(), mask.size(), std::uint8_t{0});
    place.mask = "empty";
    check_masked(queries, database, mask.get(), all, {bits});
}

void check_width(Random& random, std::size_t bytes, std::size_t most_rows) {
    constexpr std::size_t n_queries[] = {1, 2, 5, 11, 12, 13, 20};
    const std::size_t sizes[] = {0, 1, 15 + random() % 3, 31 + random() % 3,
                                 63 + random() % 3, 127 + random() % 3, 255 + random() % 3, most_rows};
    for (const std::size_t rows : sizes) {
        place = {bytes, rows, n_queries[random() % 7], 0, 1 + random() % 8, "none"};
        check_problem(random);
    }
}

/// Enough rows for several threads to share them, and for a sample of them.
void check_large(Random& random, std::size_t bytes, std::size_t rows,
                 std::initializer_list<std::size_t> numbers_of_queries) {
    for (const std::size_t n_queries : numbers_of_queries) {
        place = {bytes, rows, n_queries, 0, n_queries == 1 ? 1u : 8u, "none"};
        check_problem(random);
    }
}

}  // namespace

/// Test every instruction set that runs here, or the one of this name.
int main(int argc, char** argv) {
    for (const auto isa : fewbits::available_isas()) {
        if (argc > 1 && std::strcmp(argv[1], fewbits::isa_name(isa))) continue;
        check(fewbits::force_isa(isa), "force_isa");
        Random random(7);
        // A chunk has 32 bytes: beyond, the edges of the others.
        for (std::size_t bytes = 1; bytes <= 34; ++bytes)
            check_width(random, bytes, 200 + random() % 200);
        for (const std::size_t bytes : {40, 55, 56, 63, 64, 65, 70, 96, 100, 129, 255, 300})
            check_width(random, bytes, 250);
        check_width(random, 8192, 130);
        check_large(random, 4, 10'001, {1, 12});
        check_large(random, 8, 10'001, {1, 11, 12});
        check_large(random, 33, 10'001, {1, 12});
        check_large(random, 8, 66'001, {1});
        // Enough queries for the long groups of bits, and for more than one pass.
        for (const std::size_t bytes : {3, 8, 13, 24, 41, 64}) {
            place = {bytes, 270, 256, 0, 1, "none"};
            check_problem(random);
        }
        place = {16, 300, 1300, 0, 8, "none"};
        check_problem(random);
        std::printf("%s: ok\n", fewbits::isa_name(isa));
    }
}
