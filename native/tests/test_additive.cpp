// Every instruction set that runs here against the definition. All arrays end at an
// unreadable page, so that a read or write too far is a crash.

#include "fewbits/additive.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "guarded.hpp"

namespace {

void check_pair_sums(Random& random) {
    const std::size_t n_bits = between(random, 1, 400), n = between(random, 0, 20),
                      n_bytes = (n_bits + 7) / 8, columns = (n_bits + 63) / 64 * 64;
    Guarded<std::int8_t> products(n_bits * columns);
    Guarded<std::uint8_t> codes(n * n_bytes);
    Guarded<std::int64_t> sums(n);
    // All alike: sums of 16 bits come near their end.
    const bool alike = between(random, 0, 1);
    for (std::size_t i = 0; i < n_bits; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            const int any = static_cast<int>(between(random, 0, 254)) - 127;
            const bool after = i < j && j < n_bits;
            products[i * columns + j] =
                static_cast<std::int8_t>(after ? (alike ? 127 : any) : 0);
        }
    std::vector<std::vector<int>> signs(n, std::vector<int>(n_bits));
    std::fill_n(codes.get(), codes.size(), std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n_bits; ++j) {
            const bool set = alike ? between(random, 0, 9) > 0 : between(random, 0, 1);
            signs[i][j] = set ? 1 : -1;
            if (set)
                codes[i * n_bytes + j / 8] |= static_cast<std::uint8_t>(128 >> j % 8);
        }
    fewbits::pair_sums({products.get(), codes.get(), n, n_bits}, sums.get(),
                       between(random, 1, 3));
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t expected = 0;
        for (std::size_t j = 0; j < n_bits; ++j)
            for (std::size_t k = 0; k < n_bits; ++k)
                expected += products[j * columns + k] * signs[i][j] * signs[i][k];
        check(sums[i] == expected, "pair sums");
    }
}

/// What the portable kernel chooses, which the tests in Python compare with NumPy's.
void check_scores(Random& random) {
    const std::size_t b = between(random, 1, 100), n = between(random, 0, 9);
    std::normal_distribution<float> normal;
    Guarded<float> gram(b * b), scores(n * b), sums(n * b);
    for (std::size_t i = 0; i < b; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            gram[i * b + j] = gram[j * b + i] =
                i == j ? static_cast<float>(b) : normal(random);
    std::vector<float> first(n * b), other(n * b, 0.0F);
    for (float& x : first) x = 9 * normal(random);
    for (std::size_t i = 0; i < n * b; ++i)
        for (std::size_t j = 0; j < b; ++j)
            other[i] += (first[i / b * b + j] > 0 ? 1.0F : -1.0F) * gram[j * b + i % b];
    const fewbits::Isa isa = fewbits::active_isa();
    std::vector<float> found[2];
    for (const auto each : {isa, fewbits::Isa::portable}) {
        fewbits::force_isa(each);
        std::copy(first.begin(), first.end(), scores.get());
        std::copy(other.begin(), other.end(), sums.get());
        fewbits::additive_scores({scores.get(), sums.get(), gram.get(), n, b}, 3, 1e-3F,
                                 between(random, 1, 3));
        found[each != isa].assign(scores.get(), scores.get() + n * b);
        if (isa == fewbits::Isa::portable) found[1] = found[0];
    }
    fewbits::force_isa(isa);
    check(found[0] == found[1], "scores");
}

}  // namespace

int main() {
    for (const auto isa : fewbits::available_isas()) {
        fewbits::force_isa(isa);
        Random random(1);
        for (int i = 0; i < 200; ++i) check_pair_sums(random);
        for (int i = 0; i < 100; ++i) check_scores(random);
    }
    std::puts("ok");
}
