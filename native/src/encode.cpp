#include "fewbits/encode.hpp"

#include <algorithm>
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
constexpr std::size_t output_grain = 64;

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

template <typename Map>
using Scratch = std::size_t (*)(const EncodeJob<Map>&);
template <typename Map>
using Kernel = void (*)(const EncodeJob<Map>&, float*);

template <typename Map>
void run(const EncodeJob<Map>& job, Scratch<Map> scratch, Kernel<Map> kernel) {
    kernel(job, work_space(scratch(job)).get());
}

/// The same job for rows [begin, end).
template <typename Map>
EncodeJob<Map> rows_of(EncodeJob<Map> job, std::size_t begin, std::size_t end) {
    job.x.data += begin * job.x.n_features;
    job.x.n = end - begin;
    if (job.out.scores) job.out.scores += begin * job.map.n_bits;
    if (job.out.codes) job.out.codes += begin * ((job.map.n_bits + 7) / 8);
    return job;
}

/// Share rows among the threads where they outnumber the outputs, else outputs.
template <typename Map>
void share(const Features& x, const Map& map, const Output& out, std::size_t work,
           std::size_t n_threads, Scratch<Map> scratch, Kernel<Map> kernel) {
    const EncodeJob<Map> job{x, map, out, 0, map.n_bits};
    if (x.n == 0) return;
    n_threads = std::clamp<std::size_t>(work / thread_work, 1, n_threads);
    if (x.n >= map.n_bits) {
        parallel_for(x.n, 1, n_threads, [&](auto begin, auto end, auto) {
            run(rows_of(job, begin, end), scratch, kernel);
        });
        return;
    }
    parallel_for(map.n_bits, output_grain, n_threads, [&](auto begin, auto end, auto) {
        auto part = job;
        part.first = begin;
        part.last = end;
        run(part, scratch, kernel);
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
    share(x, map, out, x.n * x.n_features * map.n_bits, n_threads,
          kernels.linear_scratch, kernels.linear);
}

void sparse(const Features& x, const SparseAffine& map, const Output& out,
            std::size_t n_threads) {
    const auto& kernels = encode_kernels(active_isa());
    const auto weights = static_cast<std::size_t>(map.indptr[map.n_bits]);
    share(x, map, out, x.n * weights, n_threads, kernels.sparse_scratch,
          kernels.sparse);
}

}  // namespace fewbits
