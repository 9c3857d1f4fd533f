#include "multi_index_probe.hpp"
#include "pair_join_entries.hpp"

namespace fewbits {

const MultiIndexKernels& multi_index_portable() {
    static constexpr MultiIndexKernels kernels{probe_any, join_any<PlainScan>};
    return kernels;
}

}  // namespace fewbits
