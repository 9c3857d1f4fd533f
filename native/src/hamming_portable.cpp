#include "hamming_batch.hpp"

namespace fewbits {

const HammingKernels& hamming_portable() {
    static constexpr HammingKernels kernels{count_bytes, distances_of_rows,
                                            scan_rows_by_words, scan_batch,
                                            batch_bytes};
    return kernels;
}

}  // namespace fewbits
