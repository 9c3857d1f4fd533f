#pragma once

// Counting with logic alone. A `Plane` holds one bit of each of many codes; a number for
// each code is a few planes, lowest bit first. A full adder turns three planes of equal
// weight into one of that weight and one of the next, for all codes at once, so adding up
// the bits of a code costs five logic operations a plane and no instruction that counts.
//
// Each unit that includes this compiles it with its own flags; the anonymous namespace
// keeps them apart.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fewbits {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kLanes = 8;
#elif defined(__AVX2__)
constexpr std::size_t kLanes = 4;
#else
constexpr std::size_t kLanes = 2;
#endif

using Plane
    [[gnu::vector_size(8 * kLanes), gnu::may_alias]] = std::uint64_t;

constexpr std::size_t kPlaneCodes = 64 * kLanes;

#if defined(__AVX512F__)
// Tables of three inputs, for the instruction that computes any function of three bits.
constexpr int kOdd = 0x96;       // one or three of a, b, c
constexpr int kMajority = 0xE8;  // two or three of a, b, c
constexpr int kBelow = 0xD4;     // two or three of a, b, not c
#endif

/// a + b + c: a sum of the same weight, a carry of the next.
[[gnu::always_inline]] inline void full_add(const Plane& a, const Plane& b, const Plane& c,
                                            Plane& sum, Plane& carry) {
#if defined(__AVX512F__)
    const __m512i x = __m512i(a), y = __m512i(b), z = __m512i(c);
    sum = Plane(_mm512_ternarylogic_epi64(x, y, z, kOdd));
    carry = Plane(_mm512_ternarylogic_epi64(x, y, z, kMajority));
#else
    const Plane differ = a ^ b;
    const Plane both = (a & b) | (differ & c);
    sum = differ ^ c;
    carry = both;
#endif
}

/// Load a plane once, even where two operations need it: AVX-512 units would rather load
/// it twice, and loads are what these sums wait for.
[[gnu::always_inline]] inline Plane load_plane(const Plane* plane) {
    Plane loaded = *plane;
#if defined(__AVX512F__)
    asm("" : "+v"(loaded));
#endif
    return loaded;
}

/// Planes of a number up to `most`.
constexpr int planes_up_to(std::size_t most) {
    int planes = 0;
    while (std::size_t{1} << planes <= most) ++planes;
    return planes;
}

constexpr int kMostPlanes = 13;  // of the numbers that are added up here

/// How many planes of each weight wait to be added: never more than two.
struct Waiting {
    std::array<int, kMostPlanes> planes{};

    constexpr Waiting with(int weight, int n) const {
        Waiting changed = *this;
        changed.planes[static_cast<std::size_t>(weight)] = n;
        return changed;
    }
    constexpr int at(int weight) const {
        return planes[static_cast<std::size_t>(weight)];
    }
    /// After one more plane: a third one leaves a sum, and a carry for the next weight.
    constexpr Waiting after(int weight) const {
        Waiting changed = *this;
        for (; changed.at(weight) == 2; ++weight) changed = changed.with(weight, 1);
        return changed.with(weight, changed.at(weight) + 1);
    }
    constexpr bool any_from(int weight) const {
        for (int w = weight; w < kMostPlanes; ++w)
            if (at(w)) return true;
        return false;
    }
};

using Slots = Plane[kMostPlanes][2];

/// Add a plane to those that wait. What waits is known when this is compiled, so all of
/// it lies in registers and nothing is decided at run time.
template <int kWeight, Waiting kWaiting>
[[gnu::always_inline]] inline void push(Slots& slots, const Plane& plane) {
    Plane(&slot)[2] = slots[kWeight];
    if constexpr (kWaiting.at(kWeight) < 2) {
        slot[kWaiting.at(kWeight)] = plane;
    } else {
        Plane carry;
        full_add(slot[0], slot[1], plane, slot[0], carry);
        push<kWeight + 1, kWaiting.with(kWeight, 1)>(slots, carry);
    }
}

/// Add up what still waits.
template <int kWeight, Waiting kWaiting>
[[gnu::always_inline]] inline void finish(Slots& slots, Plane* sum) {
    if constexpr (kWaiting.any_from(kWeight)) {
        const Plane(&slot)[2] = slots[kWeight];
        if constexpr (kWaiting.at(kWeight) == 2) {
            constexpr Waiting rest = kWaiting.with(kWeight, 0);
            sum[kWeight] = slot[0] ^ slot[1];
            push<kWeight + 1, rest>(slots, slot[0] & slot[1]);
            finish<kWeight + 1, rest.after(kWeight + 1)>(slots, sum);
        } else {
            sum[kWeight] = kWaiting.at(kWeight) ? slot[0] : Plane{};
            finish<kWeight + 1, kWaiting>(slots, sum);
        }
    }
}

/// `kBits` bits in groups of `kGroup`, of which the last may be shorter.
template <int kBitsOf, int kGroupOf>
struct Groups {
    static constexpr int kBits = kBitsOf;
    static constexpr int kGroup = kGroupOf;
    static constexpr int kCount = (kBits + kGroup - 1) / kGroup;
    static constexpr int kSumPlanes = planes_up_to(kBits);

    static constexpr int bits(int group) {
        const int rest = kBits - group * kGroup;
        return rest < kGroup ? rest : kGroup;
    }
    static constexpr int planes(int group) {
        return planes_up_to(static_cast<std::size_t>(bits(group)));
    }
    /// Where the table of a group begins: it has a count for each pattern of its bits.
    static constexpr std::size_t table(int group) {
        constexpr std::size_t full =
            (std::size_t{1} << kGroup) * std::size_t{planes_up_to(kGroup)};
        return static_cast<std::size_t>(group) * full;
    }
    /// What waits before plane `plane` of a group.
    static constexpr Waiting before(int group, int plane) {
        Waiting waiting;
        for (int g = 0; g <= group; ++g)
            for (int p = 0; p < (g == group ? plane : planes(g)); ++p)
                waiting = waiting.after(p);
        return waiting;
    }
};

/// Where a query finds its count of each group: in words from the beginning of its table.
using Place = std::uint16_t;

template <typename G, int kIndex, int... kPlane>
[[gnu::always_inline]] inline void push_group(Slots& slots, const Plane* tables,
                                              Place place,
                                              std::integer_sequence<int, kPlane...>) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(tables + G::table(kIndex));
    const auto* count = reinterpret_cast<const Plane*>(words + place);
    (push<kPlane, G::before(kIndex, kPlane)>(slots, load_plane(count + kPlane)), ...);
}

template <typename G, int... kIndex>
[[gnu::always_inline]] inline void sum_groups(const Plane* tables, const Place* places,
                                              Plane* sum,
                                              std::integer_sequence<int, kIndex...>) {
    Slots slots;
    (push_group<G, kIndex>(slots, tables, places[kIndex],
                           std::make_integer_sequence<int, G::planes(kIndex)>{}),
     ...);
    finish<0, G::before(G::kCount, 0)>(slots, sum);
}

/// Add up one count of each group.
template <typename G>
[[gnu::always_inline]] inline void sum_counts(const Plane* tables, const Place* places,
                                              Plane* sum) {
    sum_groups<G>(tables, places, sum, std::make_integer_sequence<int, G::kCount>{});
}

/// a + b, of `kA` and at most as many `kB` planes; `kSum` planes hold it.
template <int kA, int kB, int kSum>
[[gnu::always_inline]] inline void add_counts(const Plane* a, const Plane* b,
                                              Plane* sum) {
    Plane carry{};
#pragma GCC unroll 8
    for (int w = 0; w < kSum; ++w) {
        const Plane x = w < kA ? a[w] : Plane{};
        const Plane y = w < kB ? b[w] : Plane{};
        full_add(x, y, carry, sum[w], carry);
    }
}

/// For each pattern of `kBits` bits, by how many of them each code differs from it.
template <int kBits>
inline void count_patterns(const Plane* bits, Plane* counts) {
    if constexpr (kBits == 1) {
        counts[0] = bits[0];
        counts[1] = ~bits[0];
    } else {
        constexpr int low = (kBits + 1) / 2, high = kBits - low;
        constexpr int low_planes = planes_up_to(low), high_planes = planes_up_to(high);
        constexpr int planes = planes_up_to(kBits);
        Plane lows[low_planes << low], highs[high_planes << high];
        count_patterns<low>(bits, lows);
        count_patterns<high>(bits + low, highs);
        for (int y = 0; y < 1 << high; ++y)
            for (int x = 0; x < 1 << low; ++x, counts += planes)
                add_counts<low_planes, high_planes, planes>(
                    lows + x * low_planes, highs + y * high_planes, counts);
    }
}

template <typename G, int... kIndex>
inline void count_groups(const Plane* bits, Plane* tables,
                         std::integer_sequence<int, kIndex...>) {
    (count_patterns<G::bits(kIndex)>(bits + kIndex * G::kGroup,
                                     tables + G::table(kIndex)),
     ...);
}

/// Fill the table of each group.
template <typename G>
[[gnu::noinline]] void fill_tables(const Plane* bits, Plane* tables) {
    count_groups<G>(bits, tables, std::make_integer_sequence<int, G::kCount>{});
}

/// Three of the six steps that transpose 64 x 64 bits, on eight rows `kSpace` apart: swap
/// ever smaller blocks of bits across the diagonal.
template <int kSpace>
[[gnu::always_inline]] inline void transpose_eight(Plane* rows) {
    Plane eight[8];
    for (int i = 0; i < 8; ++i) eight[i] = rows[i * kSpace];
#pragma GCC unroll 3
    for (int half = 4; half; half /= 2) {
        const int step = half * kSpace;
        const std::uint64_t low = ~std::uint64_t{0} / ((std::uint64_t{1} << step) + 1);
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            if (i & half) continue;
            const Plane moved = ((eight[i] >> step) ^ eight[i + half]) & low;
            eight[i] ^= moved << step;
            eight[i + half] ^= moved;
        }
    }
    for (int i = 0; i < 8; ++i) rows[i * kSpace] = eight[i];
}

/// Transpose 64 x 64 bits in each lane.
[[maybe_unused]] void transpose_bits(Plane* rows) {
    for (int i = 0; i < 8; ++i) transpose_eight<8>(rows + i);
    for (int i = 0; i < 64; i += 8) transpose_eight<1>(rows + i);
}

/// The codes whose number is below a limit, from its bit of one weight, that of the limit
/// (all ones or all zeros), and what was so by the lower weights.
[[gnu::always_inline]] inline Plane below_at(const Plane& lower, const Plane& bit,
                                             std::uint64_t limit) {
    const Plane bound = limit - Plane{};
#if defined(__AVX512F__)
    return Plane(_mm512_ternarylogic_epi64(__m512i(lower), __m512i(bound), __m512i(bit),
                                           kBelow));
#else
    return (lower & bound) | (~bit & (lower | bound));
#endif
}

[[gnu::always_inline]] inline Plane below(const Plane* number,
                                          const std::uint64_t* limit, int planes) {
    Plane less{};
    for (int w = 0; w < planes; ++w) less = below_at(less, number[w], limit[w]);
    return less;
}

}  // namespace
}  // namespace fewbits
