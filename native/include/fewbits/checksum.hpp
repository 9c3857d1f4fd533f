#pragma once

#include <cstddef>
#include <cstdint>

namespace fewbits {

/// Pieces of `data` that follow each other: piece `i` is [offsets[i], offsets[i + 1]).
struct Pieces {
    const std::uint8_t* data;
    const std::int64_t* offsets;  // (n + 1,), rising
    std::size_t n;
};

/// Write the CRC-32C (Castagnoli: reflected 0x1EDC6F41, as of iSCSI and ext4) of each
/// piece to `sums` (n,).
void crc32c(const Pieces& pieces, std::uint32_t* sums);

}  // namespace fewbits
