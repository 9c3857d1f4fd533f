#include "fewbits/rerank.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "rerank_kernels.hpp"

namespace fewbits {
namespace {

/// Starting a thread costs as much as comparing this many numbers, or sorting as many
/// pairs.
constexpr std::size_t thread_work = std::size_t{1} << 20, thread_pairs = 1 << 13;
constexpr std::size_t grain = 64;  // pairs

const RerankKernels& kernels() {
    switch (active_isa()) {
#if defined(__x86_64__) || defined(_M_X64)
        case Isa::avx2: return rerank_avx2;
        case Isa::avx512: return rerank_avx512;
#elif defined(__aarch64__)
        case Isa::neon: return rerank_neon;
#endif
        default: return rerank_portable;
    }
}

void run(const RerankJob<double>& job) { kernels().f64(job); }
void run(const RerankJob<float>& job) { kernels().f32(job); }
void run(const RerankJob<Half>& job) { kernels().f16(job); }
void run(const RerankJob<std::int8_t>& job) { kernels().i8(job); }

/// A copy with zeros up to whole registers.
std::vector<double> padded(const double* numbers, std::size_t n) {
    std::vector<double> copy((n + rerank_lanes - 1) / rerank_lanes * rerank_lanes);
    std::copy_n(numbers, n, copy.begin());
    return copy;
}

struct Pair {
    float distance;
    std::uint64_t row;  // -1 becomes the largest

    bool operator<(const Pair& other) const {
        if (distance != other.distance) return distance < other.distance;
        return row < other.row;
    }
};

}  // namespace

template <typename T>
void vector_distances(const VectorCandidates& all, const Vectors<T>& vectors,
                      float* distances, std::size_t n_threads) {
    const std::size_t n_pairs = all.n * all.per_query, d = vectors.n_features;
    n_threads = std::clamp<std::size_t>(n_pairs * d / thread_work, 1, n_threads);
    // Pairs are shared, not queries: one query alone may have many.
    parallel_for(n_pairs, grain, n_threads, [&](auto begin, auto end, auto) {
        while (begin < end) {
            const std::size_t q = begin / all.per_query;
            const std::size_t n = std::min(end, (q + 1) * all.per_query) - begin;
            const auto query = padded(all.queries + q * d, d);
            run(RerankJob<T>{query.data(), vectors, all.rows + begin, n, all.metric,
                             distances + begin});
            begin += n;
        }
    });
}

template void vector_distances(const VectorCandidates&, const Vectors<double>&, float*,
                               std::size_t);
template void vector_distances(const VectorCandidates&, const Vectors<float>&, float*,
                               std::size_t);
template void vector_distances(const VectorCandidates&, const Vectors<Half>&, float*,
                               std::size_t);
template void vector_distances(const VectorCandidates&, const Vectors<std::int8_t>&,
                               float*, std::size_t);

void first_pairs(const Found& found, std::size_t k, float* distances,
                 std::int64_t* rows, std::size_t n_threads) {
    const std::size_t m = found.per_query;
    n_threads = std::clamp<std::size_t>(found.n * m / thread_pairs, 1, n_threads);
    parallel_for(found.n, 1, n_threads, [&](auto begin, auto end, auto) {
        std::vector<Pair> pairs(m);
        for (std::size_t q = begin; q < end; ++q) {
            for (std::size_t i = 0; i < m; ++i)
                pairs[i] = {found.distances[q * m + i],
                            static_cast<std::uint64_t>(found.rows[q * m + i])};
            const auto last = pairs.begin() + static_cast<std::ptrdiff_t>(k);
            if (k < m) std::nth_element(pairs.begin(), last, pairs.end());
            std::sort(pairs.begin(), last);
            for (std::size_t i = 0; i < k; ++i) {
                distances[q * k + i] = pairs[i].distance;
                rows[q * k + i] = static_cast<std::int64_t>(pairs[i].row);
            }
        }
    });
}

}  // namespace fewbits
