#include <immintrin.h>

#include "additive_descent.hpp"
#include "additive_pairs.hpp"

namespace fewbits {
namespace {

class Avx2 {
public:
    struct Sums {
        __m256i low, high;
    };

    explicit Avx2(std::uint64_t bits)
        : low_(ones(static_cast<std::uint32_t>(bits))),
          high_(ones(static_cast<std::uint32_t>(bits >> 32))) {}

    void add(Sums& sums, const std::int8_t* products) const {
        sums.low = _mm256_add_epi16(sums.low, selected(low_, products));
        sums.high = _mm256_add_epi16(sums.high, selected(high_, products + 32));
    }

    std::int64_t total(const Sums& sums) const {
        const __m256i one = _mm256_set1_epi16(1);
        const __m256i eight = _mm256_add_epi32(_mm256_madd_epi16(sums.low, one),
                                               _mm256_madd_epi16(sums.high, one));
        std::int32_t numbers[8];
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers), eight);
        std::int64_t sum = 0;
        for (const std::int32_t number : numbers) sum += number;
        return sum;
    }

private:
    /// Bytes of 1 where a bit is set.
    static __m256i ones(std::uint32_t bits) {
        const __m256i byte_of = _mm256_setr_epi64x(
            0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        const __m256i bit_of = _mm256_set1_epi64x(
            static_cast<long long>(0x8040201008040201));
        const __m256i bytes = _mm256_shuffle_epi8(
            _mm256_set1_epi32(static_cast<int>(bits)), byte_of);
        const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of);
        return _mm256_and_si256(set, _mm256_set1_epi8(1));
    }

    static __m256i selected(__m256i ones, const std::int8_t* products) {
        const auto* const p = reinterpret_cast<const __m256i*>(products);
        return _mm256_maddubs_epi16(ones, _mm256_loadu_si256(p));
    }

    __m256i low_, high_;
};

}  // namespace

const AdditiveKernels additive_avx2 = {descend, pair_sums_of<Avx2>};

}  // namespace fewbits
