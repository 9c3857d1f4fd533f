#include "fewbits/asymmetric.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "encode_kernels.hpp"
#include "parallel.hpp"

namespace fewbits {
namespace {

/// Where the number of bit `j` lies: the last bit of a byte first, as kernels count.
constexpr std::size_t lane_of(std::size_t j) { return j ^ 7; }

/// One query as the kernels take it.
struct Query {
    std::vector<float> costs;
    std::vector<std::uint8_t> signs;

    explicit Query(std::size_t n_bytes)
        : costs((n_bytes + 1) / 2 * 16), signs(n_bytes) {}

    /// Without branches: which signs scores have, nothing can predict.
    void set(const float* scores, std::size_t n_bits) {
        const std::size_t whole = n_bits / 8;
        for (std::size_t byte = 0; byte < whole; ++byte) set_byte(scores, byte, 8);
        if (n_bits % 8) set_byte(scores, whole, n_bits % 8);
    }

private:
    void set_byte(const float* scores, std::size_t byte, std::size_t n) {
        unsigned sign = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const float score = scores[8 * byte + j];
            costs[8 * byte + lane_of(j)] = std::fabs(score);
            sign |= static_cast<unsigned>(score > 0.0F) << (7 - j);
        }
        signs[byte] = static_cast<std::uint8_t>(sign);
    }
};

/// Starting a thread costs as much as this many additions.
constexpr std::size_t thread_work = std::size_t{1} << 21;
/// Codes that all weights are applied to before the next ones, so that they stay near.
constexpr std::size_t block = 1024;

}  // namespace

void asymmetric_distances(const Candidates& all, const std::uint8_t* database,
                          float* distances, std::size_t n_threads) {
    const auto kernel = encode_kernels(active_isa()).asymmetric;
    const std::size_t n_bytes = (all.n_bits + 7) / 8;
    const std::size_t work = all.n * all.per_query * all.n_bits;
    n_threads = std::clamp<std::size_t>(work / thread_work, 1, n_threads);
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

void bit_sums(const WeightedBits& all, float* sums, std::size_t n_threads) {
    const auto kernel = encode_kernels(active_isa()).asymmetric;
    const std::size_t n_bytes = (all.n_bits + 7) / 8, padded = (n_bytes + 1) / 2 * 16;
    std::vector<float> weights(all.n * padded);
    for (std::size_t q = 0; q < all.n; ++q)
        for (std::size_t j = 0; j < all.n_bits; ++j)
            weights[q * padded + lane_of(j)] = all.weights[q * all.n_bits + j];
    const std::vector<std::uint8_t> none(n_bytes);
    const std::size_t work = all.n * all.n_codes * all.n_bits;
    n_threads = std::clamp<std::size_t>(work / thread_work, 1, n_threads);
    parallel_for(all.n_codes, block, n_threads, [&](auto begin, auto end, auto) {
        for (std::size_t i = begin; i < end; i += block)
            for (std::size_t q = 0; q < all.n; ++q)
                kernel({&weights[q * padded], none.data(), all.codes + i * n_bytes,
                        nullptr, std::min(block, end - i), n_bytes,
                        sums + q * all.n_codes + i});
    });
}

}  // namespace fewbits
