// Every instruction set that runs here against the definition, bit by bit. All arrays
// end at an unreadable page, so that a read or write too far is a crash.

#include "fewbits/checksum.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include "checks.hpp"
#include "guarded.hpp"

namespace {

std::uint32_t defined(const std::uint8_t* bytes, std::size_t n) {
    std::uint32_t sum = ~0u;
    for (std::size_t i = 0; i < n; ++i) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78u : 0u);
    }
    return ~sum;
}

void test_known() {
    const char* text = "123456789";
    std::int64_t offsets[] = {0, 9};
    std::uint32_t sum = 0;
    fewbits::crc32c({reinterpret_cast<const std::uint8_t*>(text), offsets, 1}, &sum);
    check(sum == 0xe3069283u, "the check value of CRC-32C");
}

void test_pieces(Random& random) {
    const std::size_t n = between(random, 0, 13), same = between(random, 0, 70);
    std::vector<std::int64_t> ends{0};
    for (std::size_t i = 0; i < n; ++i)
        ends.push_back(ends.back() + static_cast<std::int64_t>(
            between(random, 0, 3) ? same : between(random, 0, 70)));
    Guarded<std::int64_t> offsets(ends);
    Guarded<std::uint8_t> data(static_cast<std::size_t>(ends.back()));
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::uint8_t>(between(random, 0, 255));
    Guarded<std::uint32_t> sums(n);
    fewbits::crc32c({data.get(), offsets.get(), n}, sums.get());
    for (std::size_t i = 0; i < n; ++i) {
        const auto start = static_cast<std::size_t>(ends[i]);
        const auto size = static_cast<std::size_t>(ends[i + 1]) - start;
        check(sums[i] == defined(data.get() + start, size), "crc32c");
    }
}

}  // namespace

int main() {
    for (const auto isa : fewbits::available_isas()) {
        fewbits::force_isa(isa);
        Random random(1);
        test_known();
        for (int i = 0; i < 3000; ++i) test_pieces(random);
    }
    std::puts("checksums: ok");
}
