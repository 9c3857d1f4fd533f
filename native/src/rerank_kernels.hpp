#pragma once

#include <cstddef>
#include <cstdint>

#include "fewbits/isa.hpp"
#include "fewbits/rerank.hpp"

namespace fewbits {

/// Sums that run side by side.
constexpr std::size_t rerank_lanes = 16;

/// Some rows for one query. The query is followed by zeros up to a multiple of
/// `rerank_lanes`.
template <typename T>
struct RerankJob {
    const double* query;
    Vectors<T> vectors;
    const std::int64_t* rows;  // -1 for none
    std::size_t n_rows;
    Metric metric;
    float* distances;
};

/// The kernels of one instruction set.
struct RerankKernels {
    void (*f64)(const RerankJob<double>&);
    void (*f32)(const RerankJob<float>&);
    void (*f16)(const RerankJob<Half>&);
    void (*i8)(const RerankJob<std::int8_t>&);
};

extern const RerankKernels rerank_portable;
extern const RerankKernels rerank_avx2;
extern const RerankKernels rerank_avx512;
extern const RerankKernels rerank_neon;

}  // namespace fewbits
