#pragma once

#include <string>
#include <vector>

namespace fewbits {

/// Instruction sets that kernels are compiled for, slowest first.
enum class Isa { portable, neon, avx2, avx512 };

/// The instruction sets that this build has and this processor can run.
std::vector<Isa> available_isas();

/// The set in use: the fastest available one, unless `force_isa` chose another.
Isa active_isa();

/// Use `isa` from now on; false, and no change, when it is not available here.
bool force_isa(Isa isa);

const char* isa_name(Isa isa);

}  // namespace fewbits
