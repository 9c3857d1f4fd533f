#include "fewbits/additive.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "parallel.hpp"

namespace fewbits {
namespace {

constexpr std::size_t lanes = 16;
/// Rounding could change bits to and fro.
constexpr std::size_t most_changes = 4;  // of each bit, a round
constexpr std::size_t grain = 16;

/// One row after the other: bits as -1 and 1, and what a change of each would gain.
class Descent {
public:
    Descent(const AdditiveRows& rows, float tolerance)
        : gram_(rows.gram),
          n_(rows.n_bits),
          padded_((n_ + lanes - 1) / lanes * lanes),
          tolerance_(tolerance),
          bits_(padded_),
          diagonal_(n_),
          gains_(padded_, std::numeric_limits<float>::infinity()) {
        for (std::size_t j = 0; j < n_; ++j) diagonal_[j] = gram_[j * n_ + j];
    }

    void run(float* scores, float* sums, std::size_t n_rounds) {
        for (std::size_t j = 0; j < n_; ++j) bits_[j] = scores[j] > 0 ? 1.0F : -1.0F;
        float scale = 1;
        for (std::size_t round = 0; round < n_rounds; ++round) {
            if (round && !rescale(scores, sums, scale)) break;
            for (std::size_t i = 0; i < most_changes * n_; ++i)
                if (!change_best(scores, sums, scale)) break;
        }
        for (std::size_t j = 0; j < n_; ++j)
            scores[j] = (scale * scores[j] - sums[j]) + bits_[j] * diagonal_[j];
    }

private:
    /// Scale the row so that the sum's component along it is as long as it is.
    bool rescale(const float* scores, const float* sums, float& scale) const {
        double along = 0, squared = 0;
        for (std::size_t j = 0; j < n_; ++j) {
            along += static_cast<double>(scores[j] * bits_[j]);
            squared += static_cast<double>(sums[j] * bits_[j]);
        }
        const float found = static_cast<float>(squared / along);
        if (!(along > 0 && found > 0 && found <= std::numeric_limits<float>::max()))
            return false;
        scale = found;
        return true;
    }

    bool change_best(const float* scores, float* sums, float scale) {
        for (std::size_t j = 0; j < n_; ++j)
            gains_[j] = bits_[j] * (scale * scores[j] - sums[j]) + diagonal_[j];
        std::array<float, lanes> least;
        least.fill(-tolerance_);
        for (std::size_t j = 0; j < padded_; j += lanes)
            for (std::size_t l = 0; l < lanes; ++l)
                least[l] = gains_[j + l] < least[l] ? gains_[j + l] : least[l];
        const float best = *std::min_element(least.begin(), least.end());
        if (!(best < -tolerance_)) return false;
        const auto at = static_cast<std::size_t>(
            std::find(gains_.begin(), gains_.end(), best) - gains_.begin());
        bits_[at] = -bits_[at];
        const float step = 2 * bits_[at];
        const float* row = gram_ + at * n_;
        for (std::size_t j = 0; j < n_; ++j) sums[j] += step * row[j];
        return true;
    }

    const float* gram_;
    std::size_t n_, padded_;
    float tolerance_;
    std::vector<float> bits_, diagonal_, gains_;
};

}  // namespace

void additive_scores(const AdditiveRows& rows, std::size_t n_rounds, float tolerance,
                     std::size_t n_threads) {
    parallel_for(rows.n, grain, n_threads, [&](auto begin, auto end, auto) {
        Descent descent(rows, tolerance);
        for (std::size_t i = begin; i < end; ++i)
            descent.run(rows.scores + i * rows.n_bits, rows.sums + i * rows.n_bits,
                        n_rounds);
    });
}

}  // namespace fewbits
