#pragma once

#include <cstddef>
#include <cstdint>

namespace fewbits {
namespace {

/// The bucket of a substring's value: the value itself, or a hash of a long one.
inline std::size_t bucket_of(std::uint64_t value, std::size_t length, int bucket_bits) {
    if (length <= static_cast<std::size_t>(bucket_bits)) return value;
    const std::uint64_t mixed = value ^ value >> 29;
    return mixed * 0x9E3779B97F4A7C15u >> (64 - bucket_bits);
}

}  // namespace
}  // namespace fewbits
