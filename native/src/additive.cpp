#include "fewbits/additive.hpp"

#include <algorithm>
#include <vector>

#include "additive_kernels.hpp"
#include "fewbits/isa.hpp"
#include "parallel.hpp"

namespace fewbits {
namespace {

constexpr std::size_t grain = 16;
/// Starting a thread costs as much as so many codes' pairs.
constexpr std::size_t thread_pairs = std::size_t{1} << 24;

const AdditiveKernels& kernels() {
    switch (active_isa()) {
#if defined(__x86_64__) || defined(_M_X64)
        case Isa::avx2: return additive_avx2;
        case Isa::avx512: return additive_avx512;
#elif defined(__aarch64__)
        case Isa::neon: return additive_neon;
#endif
        default: return additive_portable;
    }
}

}  // namespace

void additive_scores(const AdditiveRows& rows, std::size_t n_rounds, float tolerance,
                     std::size_t n_threads) {
    const std::size_t padded =
        (rows.n_bits + descent_lanes - 1) / descent_lanes * descent_lanes;
    parallel_for(rows.n, grain, n_threads, [&](auto begin, auto end, auto) {
        std::vector<float> scratch(5 * padded);
        kernels().descend({rows, begin, end, n_rounds, tolerance, scratch.data()});
    });
}

void pair_sums(const SignedPairs& pairs, std::int64_t* sums, std::size_t n_threads) {
    const std::size_t n = pairs.n_bits, n_words = (n + pair_block - 1) / pair_block;
    std::vector<std::int64_t> row_sums(n_words * pair_block);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int8_t* const row = pairs.products + i * row_sums.size();
        std::int64_t after = 0;
        for (std::size_t j = i + 1; j < n; ++j) {
            after += row[j];
            row_sums[j] += row[j];
        }
        row_sums[i] += after;
        sum += after;
    }
    n_threads = std::clamp<std::size_t>(pairs.n * n * n / thread_pairs, 1, n_threads);
    parallel_for(pairs.n, grain, n_threads, [&](auto begin, auto end, auto) {
        std::vector<std::uint64_t> words(n_words);
        kernels().pair_sums(
            {pairs, row_sums.data(), sum, begin, end, words.data(), sums});
    });
}

}  // namespace fewbits
