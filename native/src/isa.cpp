#include "fewbits/isa.hpp"

#include <algorithm>
#include <atomic>

namespace fewbits {
namespace {

#if defined(__x86_64__) || defined(_M_X64)
bool runs_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2");
}

bool runs_avx512() {
    return runs_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

std::atomic<Isa>& active() {
    static std::atomic<Isa> isa{available_isas().back()};
    return isa;
}

}  // namespace

std::vector<Isa> available_isas() {
    std::vector<Isa> isas{Isa::portable};
#if defined(__x86_64__) || defined(_M_X64)
    if (runs_avx2()) isas.push_back(Isa::avx2);
    if (runs_avx512()) isas.push_back(Isa::avx512);
#elif defined(__aarch64__)
    isas.push_back(Isa::neon);  // part of the base architecture
#endif
    return isas;
}

Isa active_isa() { return active().load(std::memory_order_relaxed); }

bool force_isa(Isa isa) {
    const auto isas = available_isas();
    if (std::find(isas.begin(), isas.end(), isa) == isas.end()) return false;
    active().store(isa, std::memory_order_relaxed);
    return true;
}

const char* isa_name(Isa isa) {
    switch (isa) {
        case Isa::neon: return "neon";
        case Isa::avx2: return "avx2";
        case Isa::avx512: return "avx512";
        case Isa::portable: break;
    }
    return "portable";
}

}  // namespace fewbits
