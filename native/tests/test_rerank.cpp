// Every instruction set that runs here against the definition, in plain float64.
// All arrays end at an unreadable page, so that a read or write too far is a crash.

#include "fewbits/rerank.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "fewbits/isa.hpp"
#include "checks.hpp"
#include "guarded.hpp"

namespace {

using fewbits::Half;
using fewbits::Metric;

double normal(Random& random) { return std::normal_distribution<double>()(random); }

void fill(Random& random, double& x) { x = normal(random); }
void fill(Random& random, float& x) { x = static_cast<float>(normal(random)); }
void fill(Random& random, Half& x) {
    do x.bits = static_cast<std::uint16_t>(between(random, 0, 0xffff));
    while ((x.bits & 0x7c00) == 0x7c00 && between(random, 0, 99));
}
void fill(Random& random, std::int8_t& x) {
    x = static_cast<std::int8_t>(static_cast<int>(between(random, 0, 255)) - 128);
}

double number(double x, float, float) { return x; }
double number(float x, float, float) { return x; }
double number(Half x, float, float) {
    const int exponent = x.bits >> 10 & 31, rest = x.bits & 1023;
    const double sign = x.bits >> 15 ? -1 : 1;
    if (exponent == 31)
        return rest ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
    return sign * (exponent ? std::ldexp(1024 + rest, exponent - 25)
                            : std::ldexp(rest, -24));
}
double number(std::int8_t x, float scale, float offset) {
    const float product = static_cast<float>(x) * scale;
    return product + offset;
}

double sum(const std::vector<double>& terms) {
    double part[16] = {};
    for (std::size_t i = 0; i < terms.size(); ++i) part[i % 16] += terms[i];
    for (std::size_t half = 8; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) part[i] += part[i + half];
    return part[0];
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> terms;
    for (std::size_t i = 0; i < a.size(); ++i) terms.push_back(a[i] * b[i]);
    return sum(terms);
}

double distance(const std::vector<double>& q, const std::vector<double>& d,
                Metric metric) {
    if (metric == Metric::dot) return -dot(q, d);
    if (metric == Metric::cosine) {
        const double lengths = std::sqrt(dot(q, q)) * std::sqrt(dot(d, d));
        return lengths > 0 ? 1 - dot(q, d) / lengths : std::isnan(lengths) ? lengths : 1;
    }
    std::vector<double> apart;
    for (std::size_t i = 0; i < q.size(); ++i) apart.push_back(q[i] - d[i]);
    return std::sqrt(dot(apart, apart));
}

bool same(float found, double expected) {
    if (!std::isfinite(expected)) return std::isnan(found);
    const auto rounded = static_cast<float>(expected);
    return std::memcmp(&found, &rounded, sizeof found) == 0;
}

template <typename T>
void check_distances(Random& random) {
    const std::size_t n = between(random, 0, 4), d = between(random, 1, 100), size = 12,
                      m = between(random, 0, 40);
    Guarded<double> queries(n * d);
    Guarded<std::int64_t> rows(n * m);
    const std::size_t n_blocks = (d + fewbits::int8_block - 1) / fewbits::int8_block;
    Guarded<float> found(n * m), blocks(size * n_blocks * 2);
    std::vector<T> stored(size * d);
    for (std::size_t i = 0; i < n * d; ++i) fill(random, queries[i]);
    for (std::size_t i = 0; i < blocks.size(); ++i) fill(random, blocks[i]);
    for (T& x : stored) fill(random, x);
    Guarded<std::uint8_t> bytes(stored.size() * sizeof(T));
    std::memcpy(bytes.get(), stored.data(), bytes.size());
    for (std::size_t i = 0; i < n * m; ++i)
        rows[i] = static_cast<std::int64_t>(between(random, 0, size)) - 1;
    const auto metric = static_cast<Metric>(between(random, 0, 2));
    const auto* vectors = reinterpret_cast<const T*>(bytes.get());
    fewbits::vector_distances<T>({queries.get(), rows.get(), n, m, metric},
                                 {vectors, d, blocks.get()}, found.get(),
                                 between(random, 1, 3));
    for (std::size_t i = 0; i < n * m; ++i) {
        if (rows[i] < 0) {
            check(std::isinf(found[i]) && found[i] > 0, "no row");
            continue;
        }
        const double* query = &queries[i / m * d];
        std::vector<double> row;
        const auto r = static_cast<std::size_t>(rows[i]);
        for (std::size_t j = 0; j < d; ++j) {
            const float* block = &blocks[(r * n_blocks + j / fewbits::int8_block) * 2];
            row.push_back(number(stored[r * d + j], block[0], block[1]));
        }
        check(same(found[i], distance({query, query + d}, row, metric)), "distance");
    }
}

void check_first_pairs(Random& random) {
    const std::size_t n = between(random, 0, 4), m = between(random, 1, 60),
                      k = between(random, 1, m);
    Guarded<float> distances(n * m), first(n * k);
    Guarded<std::int64_t> rows(n * m), first_rows(n * k);
    for (std::size_t i = 0; i < n * m; ++i) {
        distances[i] = static_cast<float>(between(random, 0, 5));
        rows[i] = static_cast<std::int64_t>(between(random, 0, 30)) - 1;
    }
    fewbits::first_pairs({distances.get(), rows.get(), n, m}, k, first.get(),
                         first_rows.get(), 2);
    for (std::size_t q = 0; q < n; ++q) {
        std::vector<std::pair<float, std::uint64_t>> pairs;
        for (std::size_t i = q * m; i < (q + 1) * m; ++i)
            pairs.emplace_back(distances[i], static_cast<std::uint64_t>(rows[i]));
        std::sort(pairs.begin(), pairs.end());
        for (std::size_t i = 0; i < k; ++i)
            check(first[q * k + i] == pairs[i].first &&
                      static_cast<std::uint64_t>(first_rows[q * k + i]) ==
                          pairs[i].second,
                  "first pairs");
    }
}

}  // namespace

int main() {
    for (const auto isa : fewbits::available_isas()) {
        fewbits::force_isa(isa);
        Random random(1);
        for (int repeat = 0; repeat < 300; ++repeat) {
            check_distances<double>(random);
            check_distances<float>(random);
            check_distances<Half>(random);
            check_distances<std::int8_t>(random);
            check_first_pairs(random);
        }
        std::printf("%s ok\n", fewbits::isa_name(isa));
    }
}
