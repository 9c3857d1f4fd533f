#pragma once

#include "encode_bits.hpp"

namespace fewbits {
namespace {

typedef float Four __attribute__((vector_size(16)));

/// The total of four sums, halves added to halves.
inline float total(Four x) { return (x[0] + x[2]) + (x[1] + x[3]); }

/// The totals of four times four sums, added in the same order.
inline Four totals(Four a, Four b, Four c, Four d) {
    const Four ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
               ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5),
               cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Four ab = ab0 + ab2, cd = cd0 + cd2;  // of places 0 and 2, then 1 and 3
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/// Sums of 16 lanes: bit `i` of two bytes, the first byte in the low half, is lane `i`.
template <typename V>
class Costs {
    typedef float Lanes __attribute__((vector_size(4 * V::lanes)));
    typedef std::int32_t Masks __attribute__((vector_size(4 * V::lanes)));
    static constexpr std::size_t regs = 16 / V::lanes;
    static constexpr std::int32_t bits[16] = {
        1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
        1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};

public:
    /// Add the costs of those of 16 bits that are set in `differ`.
    void add(const float* costs, std::uint32_t differ) {
        if constexpr (requires { V::add_where; }) {
            sums[0] = V::add_where(sums[0], differ, costs);
        } else {
            for (std::size_t r = 0; r < regs; ++r) {
                Masks cost, place;
                std::memcpy(&cost, costs + r * V::lanes, sizeof cost);
                std::memcpy(&place, bits + r * V::lanes, sizeof place);
                cost &= (place & static_cast<std::int32_t>(differ)) == place;
                sums[r] += reinterpret_cast<Lanes>(cost);
            }
        }
    }

    /// Add the costs of those of 32 bits that differ between two words of four bytes.
    void add_word(const float* costs, const std::uint8_t* a, const std::uint8_t* b)
        requires requires { V::add_where_words_differ; }
    {
        V::add_where_words_differ(reinterpret_cast<typename V::Reg*>(sums), a, b, costs);
    }

    /// Four sums that are left when halves are added to halves, and again.
    Four quarters() const {
        Four part[4];
        std::memcpy(part, sums, sizeof part);
        return (part[0] + part[2]) + (part[1] + part[3]);
    }

private:
    Lanes sums[regs] = {};
};

/// Which bits differ, of as many bytes as `Word` has; the first byte is the lowest.
template <typename Word>
Word differing(const std::uint8_t* a, const std::uint8_t* b) {
    Word x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "bytes are taken to be little-endian"
#endif
    return static_cast<Word>(x ^ y);
}

/// Codes that are looked at side by side: the sums of one wait for one another.
template <typename V>
constexpr std::size_t codes_at_once = V::lanes < 8 ? 1 : 4;

/// Write the distances of a few codes to `distances`.
template <typename V, std::size_t n>
void asymmetric_distances_of(const AsymmetricJob& job, const std::uint8_t* const* codes,
                             float* distances) {
    Costs<V> costs[n];
    std::size_t i = 0;
    if constexpr (requires { V::add_where_words_differ; }) {
        for (; i + 4 <= job.n_bytes; i += 4)
            for (std::size_t c = 0; c < n; ++c)
                costs[c].add_word(job.costs + 8 * i, job.signs + i, codes[c] + i);
    }
    for (; i + 8 <= job.n_bytes; i += 8) {
        std::uint64_t differ[n];
        for (std::size_t c = 0; c < n; ++c)
            differ[c] = differing<std::uint64_t>(job.signs + i, codes[c] + i);
        for (std::size_t part = 0; part < 4; ++part)
            for (std::size_t c = 0; c < n; ++c)
                costs[c].add(job.costs + 8 * i + 16 * part,
                             differ[c] >> 16 * part & 0xffff);
    }
    for (; i < job.n_bytes; i += 2)
        for (std::size_t c = 0; c < n; ++c) {
            const bool two = i + 2 <= job.n_bytes;
            costs[c].add(job.costs + 8 * i,
                         two ? differing<std::uint16_t>(job.signs + i, codes[c] + i)
                             : differing<std::uint8_t>(job.signs + i, codes[c] + i));
        }
    std::size_t c = 0;
    for (; c + 4 <= n; c += 4) {
        const Four four = totals(costs[c].quarters(), costs[c + 1].quarters(),
                                 costs[c + 2].quarters(), costs[c + 3].quarters());
        std::memcpy(distances + c, &four, sizeof four);
    }
    for (; c < n; ++c) distances[c] = total(costs[c].quarters());
}

/// The codes of a job, one after the other or by their rows.
class JobCodes {
public:
    explicit JobCodes(const AsymmetricJob& job) : job_(job) {}

    bool is_there(std::size_t i) const { return !job_.rows || job_.rows[i] >= 0; }

    /// A code that is not there is as the query itself.
    const std::uint8_t* operator[](std::size_t i) const {
        const auto row = job_.rows ? job_.rows[i] : static_cast<std::int64_t>(i);
        if (row < 0) return job_.signs;
        return job_.database + static_cast<std::size_t>(row) * job_.n_bytes;
    }

    /// Always inlined: GCC leaves out calls of functions that do nothing else.
    __attribute__((always_inline)) void prefetch(std::size_t i) const {
        constexpr std::size_t line = 64;
        const std::uint8_t* const first = (*this)[i];
        for (std::size_t byte = 0; byte < job_.n_bytes; byte += line)
            __builtin_prefetch(first + byte);
        __builtin_prefetch(first + job_.n_bytes - 1);
    }

private:
    const AsymmetricJob& job_;
};

template <typename V>
void asymmetric_share(const AsymmetricJob& job) {
    constexpr std::size_t ahead = 16, group = codes_at_once<V>;
    const JobCodes codes(job);
    const std::uint8_t* some[group];
    std::size_t i = 0;
    for (; i + group <= job.n_rows; i += group) {
        for (std::size_t c = 0; c < group; ++c) {
            some[c] = codes[i + c];
            if (i + c + ahead < job.n_rows) codes.prefetch(i + c + ahead);
        }
        asymmetric_distances_of<V, group>(job, some, job.distances + i);
    }
    for (; i < job.n_rows; ++i) {
        some[0] = codes[i];
        asymmetric_distances_of<V, 1>(job, some, job.distances + i);
    }
    if (!job.rows) return;
    for (i = 0; i < job.n_rows; ++i)
        if (!codes.is_there(i)) job.distances[i] = __builtin_inff();
}

}  // namespace
}  // namespace fewbits
