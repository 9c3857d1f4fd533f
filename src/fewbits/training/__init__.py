"""Items, features, learner, class codes in one call; methods side by side."""

from fewbits.training._compare import (
    COMPARED_METRICS,
    Choice,
    MethodComparison,
    MethodScores,
    compare,
)
from fewbits.training._fit import (
    Learnt,
    checked_labels,
    class_codes_for,
    learn,
    of_fitted,
)
from fewbits.training._methods import (
    DEEP_METHODS,
    DEVICE_METHODS,
    METHODS,
    describe,
    describe_all,
)

__all__ = ["METHODS", "Choice", "MethodComparison", "MethodScores", "compare"]
