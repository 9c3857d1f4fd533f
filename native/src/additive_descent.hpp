#pragma once

#include <cstdint>
#include <cstring>

#include "additive_kernels.hpp"

namespace fewbits {
namespace {

/// Rounding could change bits to and fro.
constexpr std::size_t most_changes = 4;  // of each bit, a round

/// One row after the other: bits as -1 and 1, and what a change of each would gain.
class Descent {
    typedef float Lanes __attribute__((vector_size(4 * descent_lanes)));
    typedef std::int32_t Same __attribute__((vector_size(4 * descent_lanes)));

public:
    explicit Descent(const DescentJob& job)
        : gram_(job.rows.gram),
          n_(job.rows.n_bits),
          n_groups_((n_ + descent_lanes - 1) / descent_lanes),
          tolerance_(job.tolerance),
          scores_(job.scratch),
          sums_(scores_ + padded()),
          bits_(sums_ + padded()),
          diagonal_(bits_ + padded()),
          gains_(diagonal_ + padded()) {
        for (std::size_t j = 0; j < padded(); ++j) {
            scores_[j] = sums_[j] = 0;
            bits_[j] = 1;
            // Beyond the last bit nothing is gained.
            diagonal_[j] = j < n_ ? gram_[j * n_ + j] : __builtin_inff();
        }
    }

    void run(float* scores, const float* sums, std::size_t n_rounds) {
        std::memcpy(scores_, scores, n_ * sizeof *scores);
        std::memcpy(sums_, sums, n_ * sizeof *sums);
        for (std::size_t j = 0; j < n_; ++j) bits_[j] = scores[j] > 0 ? 1.0F : -1.0F;
        float scale = 1;
        for (std::size_t round = 0; round < n_rounds; ++round) {
            if (round && !rescale(scale)) break;
            for (std::size_t i = 0; i < most_changes * n_; ++i)
                if (!change_best(scale)) break;
        }
        for (std::size_t j = 0; j < n_; ++j)
            scores[j] = (scale * scores_[j] - sums_[j]) + bits_[j] * diagonal_[j];
    }

private:
    std::size_t padded() const { return n_groups_ * descent_lanes; }

    /// Not returned: how wide vectors are returned differs between processors.
    static void load(Lanes& x, const float* numbers) {
        std::memcpy(&x, numbers, sizeof x);
    }

    /// Scale the row so that the sum's component along it is as long as it is.
    bool rescale(float& scale) const {
        double along = 0, squared = 0;
        for (std::size_t j = 0; j < n_; ++j) {
            along += static_cast<double>(scores_[j] * bits_[j]);
            squared += static_cast<double>(sums_[j] * bits_[j]);
        }
        const float found = static_cast<float>(squared / along);
        if (!(along > 0 && found > 0 && found < __builtin_inff())) return false;
        scale = found;
        return true;
    }

    bool change_best(float scale) {
        Lanes least = Lanes{} - tolerance_;
        for (std::size_t j = 0; j < padded(); j += descent_lanes) {
            Lanes score, sum, bit, diagonal;
            load(score, scores_ + j);
            load(sum, sums_ + j);
            load(bit, bits_ + j);
            load(diagonal, diagonal_ + j);
            const Lanes gains = bit * (scale * score - sum) + diagonal;
            std::memcpy(gains_ + j, &gains, sizeof gains);
            least = gains < least ? gains : least;
        }
        float best = least[0];
        for (std::size_t l = 1; l < descent_lanes; ++l)
            best = least[l] < best ? least[l] : best;
        if (!(best < -tolerance_)) return false;
        change(first(best));
        return true;
    }

    /// The first bit that gains so much.
    std::size_t first(float gain) const {
        std::size_t j = 0;
        for (; j + descent_lanes < padded(); j += descent_lanes) {
            Lanes gains;
            load(gains, gains_ + j);
            const Same same = gains == gain;
            std::int64_t parts[sizeof same / 8], any = 0;
            std::memcpy(parts, &same, sizeof same);
            for (const std::int64_t part : parts) any |= part;
            if (any) break;
        }
        while (gains_[j] != gain) ++j;
        return j;
    }

    void change(std::size_t bit) {
        bits_[bit] = -bits_[bit];
        const float step = 2 * bits_[bit];
        const float* row = gram_ + bit * n_;
        for (std::size_t j = 0; j < n_; ++j) sums_[j] += step * row[j];
    }

    const float* gram_;
    std::size_t n_, n_groups_;
    float tolerance_;
    float *scores_, *sums_, *bits_, *diagonal_, *gains_;
};

inline void descend(const DescentJob& job) {
    Descent descent(job);
    const std::size_t n = job.rows.n_bits;
    for (std::size_t i = job.first; i < job.last; ++i)
        descent.run(job.rows.scores + i * n, job.rows.sums + i * n, job.n_rounds);
}

}  // namespace
}  // namespace fewbits
