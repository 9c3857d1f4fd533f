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
    given_codebook,
    learn,
    of_fitted,
)
from fewbits.training._methods import (
    DEEP_METHODS,
    DEVICE_METHODS,
    METHODS,
    Description,
    Setting,
    describe,
    describe_all,
)

__all__ = [
    "COMPARED_METRICS",
    "DEEP_METHODS",
    "DEVICE_METHODS",
    "METHODS",
    "Choice",
    "Description",
    "Learnt",
    "MethodComparison",
    "MethodScores",
    "Setting",
    "checked_labels",
    "compare",
    "describe",
    "describe_all",
    "given_codebook",
    "learn",
    "of_fitted",
]
