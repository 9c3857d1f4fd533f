// The most that one core can do of what a Hamming scan is made of: xor, population count
// and addition of 512-bit registers, with nothing read from memory.

#include <immintrin.h>

#include <cstdint>

extern "C" std::int64_t compare_registers(std::int64_t rounds) {
    constexpr int kRegisters = 8;
    __m512i codes[kRegisters], sums[kRegisters];
#pragma GCC unroll 8
    for (int i = 0; i < kRegisters; ++i) {
        codes[i] = _mm512_set1_epi64(77777777777 * (i + 1) + rounds);
        sums[i] = _mm512_setzero_si512();
    }
    const __m512i query = _mm512_set1_epi64(rounds);
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 8
        for (int i = 0; i < kRegisters; ++i) {
            __m512i differ = _mm512_xor_si512(query, codes[i]);
            asm("" : "+v"(differ) : "r"(round));  // once in each round
            sums[i] = _mm512_add_epi64(sums[i], _mm512_popcnt_epi64(differ));
        }
    }
    __m512i all = sums[0];
    for (int i = 1; i < kRegisters; ++i) all = _mm512_add_epi64(all, sums[i]);
    return _mm512_reduce_add_epi64(all);
}
