#include "multi_index_probe.hpp"
#include "pair_join_entries.hpp"

namespace fewbits {

const MultiIndexKernels& multi_index_avx2() {
    static constexpr MultiIndexKernels kernels{probe_any, join_any<PlainScan>};
    return kernels;
}

}  // namespace fewbits
