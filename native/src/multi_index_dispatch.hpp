#pragma once

#include "fewbits/isa.hpp"
#include "multi_index_kernels.hpp"

namespace fewbits {
namespace {

const MultiIndexKernels& multi_index_kernels() {
    switch (active_isa()) {
#if defined(__x86_64__) || defined(_M_X64)
        case Isa::avx2: return multi_index_avx2();
        case Isa::avx512: return multi_index_avx512();
#elif defined(__aarch64__)
        case Isa::neon: return multi_index_neon();
#endif
        default: return multi_index_portable();
    }
}

}  // namespace
}  // namespace fewbits
