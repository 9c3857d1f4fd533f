#include <immintrin.h>

#include "additive_descent.hpp"
#include "additive_pairs.hpp"

namespace fewbits {
namespace {

class Avx512 {
public:
    struct Sums {
        __m512i pairs;
    };

    explicit Avx512(std::uint64_t bits) : ones_(_mm512_maskz_set1_epi8(bits, 1)) {}

    void add(Sums& sums, const std::int8_t* products) const {
        const __m512i row = _mm512_loadu_si512(products);
        sums.pairs = _mm512_add_epi16(sums.pairs, _mm512_maddubs_epi16(ones_, row));
    }

    std::int64_t total(const Sums& sums) const {
        const __m512i sixteen = _mm512_madd_epi16(sums.pairs, _mm512_set1_epi16(1));
        std::int32_t numbers[16];
        _mm512_storeu_si512(numbers, sixteen);
        std::int64_t sum = 0;
        for (const std::int32_t number : numbers) sum += number;
        return sum;
    }

private:
    __m512i ones_;
};

}  // namespace

const AdditiveKernels additive_avx512 = {descend, pair_sums_of<Avx512>};

}  // namespace fewbits
