#include "fewbits/encode.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>

#include "encode_kernels.hpp"
#include "parallel.hpp"
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace fewbits {
namespace {

/// Starting a thread costs as much as this many multiply-adds.
constexpr std::size_t thread_work = std::size_t{1} << 21;
constexpr std::size_t row_grain = 64, output_grain = 64;
/// For maps whose outputs cannot be shared among threads.
constexpr std::size_t all_outputs = std::size_t{1} << 32;

struct Free {
    void operator()(float* p) const { std::free(p); }
};

/// Large work spaces lie in pages of 2 MB where the system has them, since the kernels
/// jump about in them.
std::unique_ptr<float, Free> work_space(std::size_t floats) {
    constexpr std::size_t page = std::size_t{1} << 21, line = 64;
    const std::size_t bytes = floats * sizeof(float);
    const std::size_t unit = bytes > 2 * page ? page : line;
    const std::size_t padded = (bytes / unit + 1) * unit;
    void* memory = std::aligned_alloc(unit, padded);
    if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (unit == page) madvise(memory, padded, MADV_HUGEPAGE);
#endif
    return std::unique_ptr<float, Free>(static_cast<float*>(memory));
}

/// How a job is cut: pieces of at most `size` rows, or of at most `size` outputs.
struct Pieces {
    bool of_rows;
    std::size_t size, count;
};

/// The rows or the outputs are shared among the threads, whichever has more grains.
Pieces cut(std::size_t n, std::size_t n_bits, std::size_t output_grain,
           std::size_t count) {
    const auto grains = [](std::size_t whole, std::size_t size) {
        return (whole + size - 1) / size;
    };
    const bool of_rows = grains(n, row_grain) >= grains(n_bits, output_grain);
    const std::size_t whole = of_rows ? n : n_bits;
    const std::size_t unit = of_rows ? row_grain : output_grain;
    const std::size_t size = grains(grains(whole, unit), count) * unit;
    return {of_rows, size, grains(whole, size)};
}

template <typename Map>
EncodeJob<Map> piece(EncodeJob<Map> job, const Pieces& pieces, std::size_t p) {
    const std::size_t begin = p * pieces.size;
    if (!pieces.of_rows) {
        job.first = begin;
        job.last = std::min(begin + pieces.size, job.map.n_bits);
        return job;
    }
    job.x.data += begin * job.x.n_features;
    job.x.n = std::min(pieces.size, job.x.n - begin);
    if (job.out.scores) job.out.scores += begin * job.map.n_bits;
    if (job.out.codes) job.out.codes += begin * ((job.map.n_bits + 7) / 8);
    return job;
}

template <typename Map>
void run(const EncodeJob<Map>& job, std::size_t work, std::size_t n_threads,
         std::size_t grain, std::size_t per_thread, std::size_t (*scratch)(const EncodeJob<Map>&),
         void (*kernel)(const EncodeJob<Map>&, float*)) {
    if (job.x.n == 0) return;
    n_threads = std::clamp<std::size_t>(work / thread_work, 1, n_threads);
    const std::size_t count = n_threads == 1 ? 1 : n_threads * per_thread;
    const Pieces pieces = cut(job.x.n, job.map.n_bits, grain, count);
    std::atomic<std::size_t> next{0};
    const std::size_t workers = std::min(n_threads, pieces.count);
    parallel_for(workers, 1, workers, [&](auto, auto, auto) {
        for (std::size_t p = next++; p < pieces.count; p = next++) {
            const auto part = piece(job, pieces, p);
            kernel(part, work_space(scratch(part)).get());
        }
    });
}

}  // namespace

const EncodeKernels& encode_kernels(Isa isa) {
    switch (isa) {
#if defined(__x86_64__) || defined(_M_X64)
        case Isa::avx2: return encode_avx2;
        case Isa::avx512: return encode_avx512;
#elif defined(__aarch64__)
        case Isa::neon: return encode_neon;
#endif
        default: return encode_portable;
    }
}

void linear(const Features& x, const Affine& map, const Output& out,
            std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    const std::size_t per_thread = x.n < 64 ? 1 : 4;
    run(LinearJob{x, map, out, 0, map.n_bits}, x.n * x.n_features * map.n_bits,
        n_threads, output_grain, per_thread, kernels.linear_scratch, kernels.linear);
}

void sparse(const Features& x, const SparseMap& map, const Output& out,
            std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    SparseWeights weights{map.csr};
    if (x.n > 0 && x.n <= single_rows) weights.woven = woven_weights(map);
    if (x.n >= batch_from) weights.plan = batch_plan(map);
    const std::size_t grain = weights.plan ? BatchPlan::block : output_grain;
    const std::size_t per_thread = x.n < 64 ? 4 : 2;  // each transposes its batch anew
    // A feature that is fetched for one weight costs as much as eight multiply-adds.
    const std::size_t cost = x.n <= single_rows ? 8 : 1;
    const auto n_weights = static_cast<std::size_t>(map.csr.indptr[map.csr.n_bits]);
    const std::size_t work = x.n * n_weights * cost;
    run(SparseJob{x, weights, out, 0, map.csr.n_bits}, work, n_threads, grain,
        per_thread, kernels.sparse_scratch, kernels.sparse);
}

void hadamard(const Features& x, const HadamardMap& map, const Output& out,
              std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    const std::size_t blocks = (map.n_bits + map.size - 1) / map.size;
    const auto stages = static_cast<std::size_t>(std::countr_zero(map.size));
    const std::size_t cost = stages + map.width;
    const std::size_t work = x.n * blocks * map.n_rounds * map.size * cost;
    run(HadamardJob{x, map, out, 0, map.n_bits}, work, n_threads, all_outputs, 4,
        kernels.hadamard_scratch, kernels.hadamard);
}

void circulant(const Features& x, const CirculantMap& map, const Output& out,
               std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    const std::size_t blocks = (map.n_bits + x.n_features - 1) / x.n_features;
    const auto stages = static_cast<std::size_t>(std::countr_zero(map.size));
    const std::size_t work = x.n * (blocks + 1) * 4 * map.size * stages;
    run(CirculantJob{x, map, out, 0, map.n_bits}, work, n_threads, all_outputs, 4,
        kernels.circulant_scratch, kernels.circulant);
}

void blocks(const Features& x, const BlockMap& map, const Output& out,
            std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    std::int64_t n_weights = 0;
    for (std::size_t b = 0; b < map.n_blocks; ++b)
        n_weights += (map.feature_starts[b + 1] - map.feature_starts[b]) *
                     (map.bit_starts[b + 1] - map.bit_starts[b]);
    run(BlocksJob{x, map, out, 0, map.n_bits},
        x.n * static_cast<std::size_t>(n_weights), n_threads, all_outputs, 4,
        kernels.blocks_scratch, kernels.blocks);
}

void bilinear(const Features& x, const BilinearMap& map, const Output& out,
              std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    const std::size_t work = x.n * map.d1 * map.b2 * (map.d2 + map.b1);
    run(BilinearJob{x, map, out, 0, map.n_bits}, work, n_threads, all_outputs, 4,
        kernels.bilinear_scratch, kernels.bilinear);
}

}  // namespace fewbits
