#include "additive_descent.hpp"
#include "additive_pairs.hpp"

namespace fewbits {

const AdditiveKernels additive_portable = {descend, pair_sums_of<PlainPairs>};

}  // namespace fewbits
