#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fewbits/checksum.hpp"

namespace fewbits {

/// Pieces that one instruction set sums, whole blocks side by side.
using ChecksumKernel = void (*)(const Pieces&, std::uint32_t*);

void crc32c_portable(const Pieces&, std::uint32_t*);
void crc32c_x86(const Pieces&, std::uint32_t*);
void crc32c_arm(const Pieces&, std::uint32_t*);

/// An instruction takes eight bytes, and the next can start long before it is done:
/// four pieces of one length are summed in turn. `Step` has `word` and `byte`.
template <typename Step>
struct Checksums {
    static std::uint64_t load(const std::uint8_t* bytes) {
        std::uint64_t word;
        std::memcpy(&word, bytes, sizeof word);
        return word;
    }

    static std::uint32_t rest(std::uint32_t sum, const std::uint8_t* bytes,
                              std::size_t n) {
        for (; n >= 8; n -= 8, bytes += 8) sum = Step::word(sum, load(bytes));
        for (; n > 0; --n, ++bytes) sum = Step::byte(sum, *bytes);
        return ~sum;
    }

    static void four(const std::uint8_t* const* at, std::size_t n,
                     std::uint32_t* sums) {
        std::uint32_t a = ~0u, b = ~0u, c = ~0u, d = ~0u;
        std::size_t i = 0;
        for (; i + 8 <= n; i += 8) {
            a = Step::word(a, load(at[0] + i));
            b = Step::word(b, load(at[1] + i));
            c = Step::word(c, load(at[2] + i));
            d = Step::word(d, load(at[3] + i));
        }
        const std::uint32_t part[4] = {a, b, c, d};
        for (std::size_t p = 0; p < 4; ++p) sums[p] = rest(part[p], at[p] + i, n - i);
    }

    static void run(const Pieces& pieces, std::uint32_t* sums) {
        const auto size = [&](std::size_t i) {
            return static_cast<std::size_t>(pieces.offsets[i + 1] - pieces.offsets[i]);
        };
        const auto start = [&](std::size_t i) {
            return pieces.data + pieces.offsets[i];
        };
        std::size_t i = 0;
        while (i < pieces.n) {
            const std::size_t n = size(i);
            if (i + 4 <= pieces.n && size(i + 1) == n && size(i + 2) == n &&
                size(i + 3) == n) {
                const std::uint8_t* at[4] = {start(i), start(i + 1), start(i + 2),
                                             start(i + 3)};
                four(at, n, sums + i);
                i += 4;
            } else {
                sums[i] = rest(~0u, start(i), n);
                ++i;
            }
        }
    }
};

}  // namespace fewbits
