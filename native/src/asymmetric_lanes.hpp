#pragma once

#include "encode_bits.hpp"

namespace fewbits {
namespace {

// 16 lanes whatever the processor: the compiler splits them as it must. `V` only keeps
// the files of different instruction sets apart.
typedef float Lanes __attribute__((vector_size(64)));
typedef std::int32_t Masks __attribute__((vector_size(64)));

/// Add the costs of those of 16 bits that are set in `differ` (two bytes, the first in
/// the low half).
inline void add_costs(Lanes& total, const float* costs, std::int32_t differ) {
    constexpr Masks place = {0x80,   0x40,   0x20,   0x10,   0x08,   0x04,
                             0x02,   0x01,   0x8000, 0x4000, 0x2000, 0x1000,
                             0x0800, 0x0400, 0x0200, 0x0100};
    Masks cost;
    std::memcpy(&cost, costs, sizeof cost);
    cost &= (place & differ) != 0;
    total += reinterpret_cast<Lanes>(cost);
}

inline float sum(const Lanes& lanes) {
    float part[16];
    std::memcpy(part, &lanes, sizeof part);
    for (std::size_t half = 8; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) part[i] += part[i + half];
    return part[0];
}

template <typename V>
float asymmetric_distance(const AsymmetricJob& job, const std::uint8_t* code) {
    Lanes total = {};
    std::size_t i = 0;
    for (; i + 2 <= job.n_bytes; i += 2) {
        const int low = job.signs[i] ^ code[i], high = job.signs[i + 1] ^ code[i + 1];
        add_costs(total, job.costs + 8 * i, low | high << 8);
    }
    if (i < job.n_bytes)
        add_costs(total, job.costs + 8 * i, job.signs[i] ^ code[i]);
    return sum(total);
}

template <typename V>
void asymmetric_share(const AsymmetricJob& job) {
    for (std::size_t i = 0; i < job.n_rows; ++i) {
        const std::int64_t row = job.rows[i];
        job.distances[i] =
            row < 0 ? __builtin_inff()
                    : asymmetric_distance<V>(
                          job, job.database + static_cast<std::size_t>(row) * job.n_bytes);
    }
}

}  // namespace
}  // namespace fewbits
