#include "additive_descent.hpp"
#include "additive_pairs.hpp"

namespace fewbits {

const AdditiveKernels additive_neon = {descend, pair_sums_of<PlainPairs>};

}  // namespace fewbits
