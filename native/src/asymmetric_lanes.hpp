#pragma once

#include "encode_bits.hpp"

namespace fewbits {
namespace {

/// 16 sums in registers of `V::lanes`.
template <typename V>
class Costs {
    typedef float Lanes __attribute__((vector_size(4 * V::lanes)));
    typedef std::int32_t Masks __attribute__((vector_size(4 * V::lanes)));
    static constexpr std::size_t regs = 16 / V::lanes;
    static constexpr std::int32_t bits[16] = {
        0x80,   0x40,   0x20,   0x10,   0x08,   0x04,   0x02,   0x01,
        0x8000, 0x4000, 0x2000, 0x1000, 0x0800, 0x0400, 0x0200, 0x0100};

public:
    Costs() { std::memcpy(places, bits, sizeof bits); }

    /// Add the costs of those of 16 bits that are set in `differ` (two bytes, the
    /// first in the low half).
    void add(const float* costs, std::int32_t differ) {
        for (std::size_t r = 0; r < regs; ++r) {
            Masks cost;
            std::memcpy(&cost, costs + r * V::lanes, sizeof cost);
            cost &= (places[r] & differ) == places[r];
            sums[r] += reinterpret_cast<Lanes>(cost);
        }
    }

    /// The total, halves added to halves.
    float total() const {
        float part[16];
        std::memcpy(part, sums, sizeof part);
        for (std::size_t half = 8; half > 0; half /= 2)
            for (std::size_t i = 0; i < half; ++i) part[i] += part[i + half];
        return part[0];
    }

private:
    Lanes sums[regs] = {};
    Masks places[regs];
};

template <typename V>
float asymmetric_distance(const AsymmetricJob& job, const std::uint8_t* code) {
    Costs<V> costs;
    std::size_t i = 0;
    for (; i + 2 <= job.n_bytes; i += 2) {
        const int low = job.signs[i] ^ code[i], high = job.signs[i + 1] ^ code[i + 1];
        costs.add(job.costs + 8 * i, low | high << 8);
    }
    if (i < job.n_bytes) costs.add(job.costs + 8 * i, job.signs[i] ^ code[i]);
    return costs.total();
}

template <typename V>
void asymmetric_share(const AsymmetricJob& job) {
    constexpr std::size_t ahead = 8, line = 64;
    const auto row = [&](std::size_t i) {
        return job.rows ? job.rows[i] : static_cast<std::int64_t>(i);
    };
    const auto code = [&](std::size_t i) {
        return job.database + static_cast<std::size_t>(row(i)) * job.n_bytes;
    };
    for (std::size_t i = 0; i < job.n_rows; ++i) {
        if (i + ahead < job.n_rows && row(i + ahead) >= 0)
            for (std::size_t byte = 0; byte < job.n_bytes; byte += line)
                __builtin_prefetch(code(i + ahead) + byte);
        job.distances[i] =
            row(i) < 0 ? __builtin_inff() : asymmetric_distance<V>(job, code(i));
    }
}

}  // namespace
}  // namespace fewbits
