#include "fewbits/checksum.hpp"

#include <array>

#include "checksum_kernels.hpp"
#include "fewbits/isa.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace fewbits {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
using Table = std::array<std::uint32_t, 256>;

/// Entry [k][b]: byte b, followed by k bytes of zero.
constexpr std::array<Table, 8> tables() {
    std::array<Table, 8> all{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t sum = b;
        for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? polynomial : 0);
        all[0][b] = sum;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b)
            all[k][b] = all[k - 1][b] >> 8 ^ all[0][all[k - 1][b] & 255];
    return all;
}

constexpr auto table = tables();

struct PortableStep {
    static std::uint32_t word(std::uint32_t sum, std::uint64_t bytes) {
        bytes ^= sum;  // the bytes of a word in the order of memory: little-endian
        std::uint32_t next = 0;
        for (std::size_t k = 0; k < 8; ++k) next ^= table[7 - k][bytes >> 8 * k & 255];
        return next;
    }
    static std::uint32_t byte(std::uint32_t sum, std::uint8_t byte) {
        return sum >> 8 ^ table[0][(sum ^ byte) & 255];
    }
};

/// The instruction is older than any set that we have names for.
ChecksumKernel fastest() {
#if defined(__x86_64__) || defined(_M_X64)
    if (__builtin_cpu_supports("sse4.2")) return crc32c_x86;
#elif defined(__aarch64__) && defined(__linux__)
    if (getauxval(AT_HWCAP) & 1 << 7) return crc32c_arm;  // HWCAP_CRC32
#elif defined(__aarch64__) && defined(__APPLE__)
    return crc32c_arm;
#endif
    return crc32c_portable;
}

}  // namespace

void crc32c_portable(const Pieces& pieces, std::uint32_t* sums) {
    Checksums<PortableStep>::run(pieces, sums);
}

void crc32c(const Pieces& pieces, std::uint32_t* sums) {
    static const ChecksumKernel hardware = fastest();
    (active_isa() == Isa::portable ? crc32c_portable : hardware)(pieces, sums);
}

}  // namespace fewbits
