#include "hamming_rows.hpp"

namespace fewbits {

const HammingKernels& hamming_neon() {
    static constexpr HammingKernels kernels{distances_of_rows,
                                            scan_rows_by_words,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr};
    return kernels;
}

}  // namespace fewbits
