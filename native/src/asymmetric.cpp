#include "fewbits/asymmetric.hpp"

#include <cmath>
#include <vector>

#include "encode_kernels.hpp"
#include "parallel.hpp"

namespace fewbits {
namespace {

/// One query as the kernels take it.
struct Query {
    std::vector<float> costs;
    std::vector<std::uint8_t> signs;

    explicit Query(std::size_t n_bytes)
        : costs((n_bytes + 1) / 2 * 16), signs(n_bytes) {}

    void set(const float* scores, std::size_t n_bits) {
        std::fill(signs.begin(), signs.end(), std::uint8_t{0});
        for (std::size_t j = 0; j < n_bits; ++j) {
            costs[j] = std::fabs(scores[j]);
            if (scores[j] > 0.0F)
                signs[j / 8] = static_cast<std::uint8_t>(signs[j / 8] | 0x80 >> j % 8);
        }
    }
};

}  // namespace

void asymmetric_distances(const Candidates& all, const std::uint8_t* database,
                          float* distances, std::size_t n_threads) {
    const auto kernel = encode_kernels(active_isa()).asymmetric;
    const std::size_t n_bytes = (all.n_bits + 7) / 8;
    parallel_for(all.n, 1, n_threads, [&](auto begin, auto end, auto) {
        Query query(n_bytes);
        for (std::size_t q = begin; q < end; ++q) {
            query.set(all.scores + q * all.n_bits, all.n_bits);
            kernel({query.costs.data(), query.signs.data(), database,
                    all.rows + q * all.per_query, all.per_query, n_bytes,
                    distances + q * all.per_query});
        }
    });
}

}  // namespace fewbits
