"""Items -> features -> learner -> bundle, in one call; methods side by side."""

from fewbits.training._compare import (
    COMPARED_METRICS,
    Choice,
    MethodComparison,
    MethodScores,
    compare,
)
from fewbits.training._evaluate import Report, evaluate_bundle
from fewbits.training._fit import bundle_of, fit_bundle, given_codebook
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
    "MethodComparison",
    "MethodScores",
    "Report",
    "Setting",
    "bundle_of",
    "compare",
    "describe",
    "describe_all",
    "evaluate_bundle",
    "fit_bundle",
    "given_codebook",
]
