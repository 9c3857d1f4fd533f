#pragma once

#include <cstring>

#include "rerank_kernels.hpp"

// Included by each instruction set's own file: everything here is a template over its
// vector class `V`, or local to that file, as in encode_bits.hpp. `V` loads `V::lanes`
// numbers of each type and widens them; sums are of `V::Reg`, of float64.

namespace fewbits {
namespace {

/// Two registers as one, where a register holds two numbers of float64.
template <typename Double2>
struct DoublePair {
    Double2 low, high;

    friend DoublePair operator+(DoublePair a, DoublePair b) {
        return {a.low + b.low, a.high + b.high};
    }
    friend DoublePair operator-(DoublePair a, DoublePair b) {
        return {a.low - b.low, a.high - b.high};
    }
    friend DoublePair operator*(DoublePair a, DoublePair b) {
        return {a.low * b.low, a.high * b.high};
    }
};

/// 16 sums.
template <typename V>
class Sums {
public:
    typename V::Reg part[rerank_lanes / V::lanes] = {};

    /// Halves added to halves.
    double total() const {
        typedef double Two __attribute__((vector_size(16)));
        Two two[rerank_lanes / 2];
        std::memcpy(two, part, sizeof two);
        for (std::size_t i = 0; i < 4; ++i) two[i] += two[i + 4];
        const Two sums = (two[0] + two[2]) + (two[1] + two[3]);
        return sums[0] + sums[1];
    }
};

/// One vector. `number` is its number `i` as float32, `load` those from `i` on in
/// float64.
template <typename V, typename T>
struct Row {
    const T* numbers;

    Row(const Vectors<T>& all, std::size_t row) : numbers(all.data + row * all.n_features) {}

    typename V::Reg load(std::size_t i) const { return V::widen(V::load(numbers + i)); }
    T number(std::size_t i) const { return numbers[i]; }
};

template <typename V>
struct Row<V, double> {
    const double* numbers;

    Row(const Vectors<double>& all, std::size_t row)
        : numbers(all.data + row * all.n_features) {}

    typename V::Reg load(std::size_t i) const { return V::load(numbers + i); }
    double number(std::size_t i) const { return numbers[i]; }
};

inline std::size_t n_blocks(std::size_t n_features) {
    return (n_features + int8_block - 1) / int8_block;
}

template <typename V>
struct Row<V, std::int8_t> {
    const std::int8_t* numbers;
    const float* blocks;

    Row(const Vectors<std::int8_t>& all, std::size_t row)
        : numbers(all.data + row * all.n_features),
          blocks(all.blocks + row * 2 * n_blocks(all.n_features)) {}

    typename V::Reg load(std::size_t i) const {
        const float* const block = blocks + i / int8_block * 2;
        return V::widen(V::load(numbers + i) * block[0] + block[1]);
    }
    float number(std::size_t i) const {
        const float* const block = blocks + i / int8_block * 2;
        return static_cast<float>(numbers[i]) * block[0] + block[1];
    }
};

/// The sums that a metric needs, of one row.
template <typename V, Metric metric>
struct Comparison {
    Sums<V> sums;
    Sums<V> squares;  // of the row, for cosines

    /// Take 16 numbers of the query, at `q`, and of the row, from its `i` on.
    template <typename T>
    void add(const double* q, const Row<V, T>& row, std::size_t i) {
        for (std::size_t r = 0; r < rerank_lanes / V::lanes; ++r) {
            const std::size_t lane = r * V::lanes;
            const auto x = row.load(i + lane);
            const auto y = V::load(q + lane);
            if constexpr (metric == Metric::euclidean) {
                const auto apart = y - x;
                sums.part[r] = sums.part[r] + apart * apart;
            } else {
                sums.part[r] = sums.part[r] + y * x;
            }
            if constexpr (metric == Metric::cosine)
                squares.part[r] = squares.part[r] + x * x;
        }
    }

    template <typename T>
    void add_row(const double* query, const Row<V, T>& row, std::size_t n_features) {
        std::size_t i = 0;
        for (; i + rerank_lanes <= n_features; i += rerank_lanes) add(query + i, row, i);
        if (i == n_features) return;
        // The last few are followed by zeros.
        decltype(row.number(0)) rest[rerank_lanes] = {};
        for (std::size_t j = i; j < n_features; ++j) rest[j - i] = row.number(j);
        add(query + i, Row<V, decltype(row.number(0))>({rest, 0}, 0), 0);
    }

    /// The distance; `length` is that of the query, for cosines.
    double distance(double length) const {
        const double sum = sums.total();
        if constexpr (metric == Metric::euclidean) return __builtin_sqrt(sum);
        if constexpr (metric == Metric::dot) return -sum;
        const double square = squares.total(), lengths = length * __builtin_sqrt(square);
        if (!(square <= __DBL_MAX__)) return square;
        return lengths > 0 ? 1.0 - sum / lengths : 1.0;
    }
};

template <typename V, typename T>
double length(const RerankJob<T>& job) {
    const std::size_t d = job.vectors.n_features;
    Comparison<V, Metric::dot> own;
    own.add_row(job.query, Row<V, double>({job.query, d}, 0), d);
    return __builtin_sqrt(own.sums.total());
}

/// Into the second cache: the first has room for few lines that are under way. Always
/// inlined: GCC leaves out calls of functions that do nothing else.
template <typename T>
__attribute__((always_inline)) inline void prefetch(const T* numbers, std::size_t n) {
    constexpr std::size_t line = 64;
    constexpr int to_read = 0, second_cache = 2;
    const char* const first = reinterpret_cast<const char*>(numbers);
    const char* const end = reinterpret_cast<const char*>(numbers + n);
    for (const char* at = first; at < end; at += line)
        __builtin_prefetch(at, to_read, second_cache);
    __builtin_prefetch(end - 1, to_read, second_cache);
}

template <typename V, Metric metric, typename T>
void rerank_rows(const RerankJob<T>& job) {
    constexpr std::size_t bytes_ahead = 8192, most_ahead = 32;
    const std::size_t d = job.vectors.n_features, row_bytes = d * sizeof(T);
    const std::size_t wanted = bytes_ahead / row_bytes + 1;
    const std::size_t ahead = wanted < most_ahead ? wanted : most_ahead;
    const double own = metric == Metric::cosine ? length<V>(job) : 0;
    const auto row = [&](std::size_t i) {
        return Row<V, T>(job.vectors, static_cast<std::size_t>(job.rows[i]));
    };
    for (std::size_t i = 0; i < job.n_rows; ++i) {
        if (i + ahead < job.n_rows && job.rows[i + ahead] >= 0) {
            const auto later = row(i + ahead);
            prefetch(later.numbers, d);
            if constexpr (requires { later.blocks; })
                prefetch(later.blocks, 2 * n_blocks(d));
        }
        if (job.rows[i] < 0) {
            job.distances[i] = __builtin_inff();
            continue;
        }
        Comparison<V, metric> comparison;
        comparison.add_row(job.query, row(i), d);
        const double distance = comparison.distance(own);
        const bool finite = __builtin_fabs(distance) <= __DBL_MAX__;
        job.distances[i] = finite ? static_cast<float>(distance) : __builtin_nanf("");
    }
}

template <typename V, typename T>
void rerank_share(const RerankJob<T>& job) {
    switch (job.metric) {
        case Metric::euclidean: return rerank_rows<V, Metric::euclidean>(job);
        case Metric::cosine: return rerank_rows<V, Metric::cosine>(job);
        case Metric::dot: return rerank_rows<V, Metric::dot>(job);
    }
}

template <typename V>
constexpr RerankKernels rerank_kernels_of() {
    return {&rerank_share<V, double>, &rerank_share<V, float>, &rerank_share<V, Half>,
            &rerank_share<V, std::int8_t>};
}

}  // namespace
}  // namespace fewbits
