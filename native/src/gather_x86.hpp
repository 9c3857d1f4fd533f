#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace fewbits {
namespace {

/// Four numbers from `p` by their place; the four places come with a single load.
inline __m128 gather4(const float* p, const std::uint16_t* places) {
    std::uint64_t four;
    std::memcpy(&four, places, sizeof four);
    __m128 x = _mm_load_ss(p + (four & 0xffff));
    x = _mm_insert_ps(x, _mm_load_ss(p + (four >> 16 & 0xffff)), 0x10);
    x = _mm_insert_ps(x, _mm_load_ss(p + (four >> 32 & 0xffff)), 0x20);
    return _mm_insert_ps(x, _mm_load_ss(p + (four >> 48)), 0x30);
}

}  // namespace
}  // namespace fewbits
