#include <nmmintrin.h>

#include "checksum_kernels.hpp"

namespace fewbits {
namespace {

struct Step {
    static std::uint32_t word(std::uint32_t sum, std::uint64_t bytes) {
        return static_cast<std::uint32_t>(_mm_crc32_u64(sum, bytes));
    }
    static std::uint32_t byte(std::uint32_t sum, std::uint8_t byte) {
        return _mm_crc32_u8(sum, byte);
    }
};

}  // namespace

void crc32c_x86(const Pieces& pieces, std::uint32_t* sums) {
    Checksums<Step>::run(pieces, sums);
}

}  // namespace fewbits
