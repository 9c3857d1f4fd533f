#pragma once

// What an instruction set provides for the search in hamming.cpp. Included by units
// that are compiled with different flags, so nothing here may have a body that the
// linker could share between them: plain data, or `static`.

#include <cstddef>
#include <cstdint>

namespace fewbits {

struct Hit {
    std::int32_t distance;
    std::int64_t row;
};

/// Where a scan reports codes nearer than `tau`. `full` makes room; it may lower `tau`.
/// Rows of a mask that are not allowed are left out; where codes were gathered, `rows` has
/// the rows that they came from.
struct Sink {
    std::int32_t tau;
    Hit* next;
    Hit* end;
    const std::uint8_t* allowed;
    const std::int64_t* rows;
    void (*full)(Sink&);
    void* owner;
};

[[maybe_unused]] static inline bool is_allowed(const Sink& sink, std::int64_t row) {
    return !sink.allowed || (sink.allowed[row >> 3] >> (7 - (row & 7)) & 1);
}

/// Report an allowed row.
[[maybe_unused]] static inline void report(Sink& sink, std::int32_t distance,
                                           std::int64_t row) {
    if (!is_allowed(sink, row)) return;
    if (sink.next == sink.end) {
        sink.full(sink);
        if (distance >= sink.tau) return;
    }
    *sink.next++ = {distance, sink.rows ? sink.rows[row] : row};
}

/// Consecutive codes; the first has row number `first`.
struct Codes {
    const std::uint8_t* data;
    std::size_t rows;
    std::size_t bytes;
    std::int64_t first;
};

struct HammingKernels {
    /// How many bits of `n` bytes are set.
    std::size_t (*count)(const std::uint8_t* bytes, std::size_t n);

    /// Distances of consecutive codes to one query.
    void (*distances)(const std::uint8_t* query, Codes codes, std::int32_t* out);

    /// Report the near codes to one query, straight from the rows.
    void (*scan_rows)(const std::uint8_t* query, Codes codes, Sink& sink);

    /// Report the near codes to each of many queries, with `batch_bytes` of memory that
    /// begin at a multiple of 64.
    void (*scan_batch)(const std::uint8_t* queries, std::size_t n_queries, Codes codes,
                       Sink* sinks, std::uint8_t* memory);
    std::size_t (*batch_bytes)(std::size_t n_queries, std::size_t bytes);
};

const HammingKernels& hamming_portable();
#if defined(__x86_64__) || defined(_M_X64)
const HammingKernels& hamming_avx2();
const HammingKernels& hamming_avx512();
#elif defined(__aarch64__)
const HammingKernels& hamming_neon();
#endif

}  // namespace fewbits
