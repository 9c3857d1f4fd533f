#include <immintrin.h>

#include "multi_index_probe.hpp"
#include "pair_join_entries.hpp"

namespace fewbits {
namespace {

/// Codes of 64 bits eight at a time, as far as there are so many.
struct VectorScan : PlainScan {
    using PlainScan::next;

    static std::size_t next(Width<1, false> width, const std::uint8_t* code,
                            const JoinTable& table, std::size_t i, std::size_t end) {
        const __m512i query = _mm512_set1_epi64(static_cast<long long>(load_word(code)));
        const __m512i radius = _mm512_set1_epi64(table.radius);
        for (; i + 8 <= end; i += 8) {
            const __m512i differing =
                _mm512_xor_si512(query, _mm512_loadu_si512(table.entries + 8 * i));
            const __mmask8 near =
                _mm512_cmple_epi64_mask(_mm512_popcnt_epi64(differing), radius);
            if (near) return i + static_cast<std::size_t>(__builtin_ctz(near));
        }
        return PlainScan::next(width, code, table, i, end);
    }
};

}  // namespace

const MultiIndexKernels& multi_index_avx512() {
    static constexpr MultiIndexKernels kernels{probe_any, join_any<VectorScan>};
    return kernels;
}

}  // namespace fewbits
