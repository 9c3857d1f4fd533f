#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "fewbits/isa.hpp"

inline void check(bool ok, const char* what) {
    if (ok) return;
    std::fprintf(stderr, "FAILED on %s: %s\n",
                 fewbits::isa_name(fewbits::active_isa()), what);
    std::exit(1);
}

using Random = std::mt19937;

inline std::size_t between(Random& random, std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
}
