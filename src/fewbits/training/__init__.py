"""Items, features, learner, class codes in one call; methods side by side."""

from fewbits.training._compare import COMPARED_METRICS as COMPARED_METRICS
from fewbits.training._compare import (
    Choice,
    MethodComparison,
    MethodScores,
    compare,
)
from fewbits.training._fit import Learnt as Learnt
from fewbits.training._fit import checked_labels as checked_labels
from fewbits.training._fit import given_codebook as given_codebook
from fewbits.training._fit import (
    learn,
)
from fewbits.training._fit import of_fitted as of_fitted
from fewbits.training._methods import DEEP_METHODS as DEEP_METHODS
from fewbits.training._methods import DEVICE_METHODS as DEVICE_METHODS
from fewbits.training._methods import (
    METHODS,
    Description,
    Setting,
    describe,
    describe_all,
)

__all__ = [
    "METHODS",
    "Choice",
    "Description",
    "MethodComparison",
    "MethodScores",
    "Setting",
    "compare",
    "describe",
    "describe_all",
    "learn",
]
