#include <arm_acle.h>

#include "checksum_kernels.hpp"

namespace fewbits {
namespace {

struct Step {
    static std::uint32_t word(std::uint32_t sum, std::uint64_t bytes) {
        return __crc32cd(sum, bytes);
    }
    static std::uint32_t byte(std::uint32_t sum, std::uint8_t byte) {
        return __crc32cb(sum, byte);
    }
};

}  // namespace

void crc32c_arm(const Pieces& pieces, std::uint32_t* sums) {
    Checksums<Step>::run(pieces, sums);
}

}  // namespace fewbits
