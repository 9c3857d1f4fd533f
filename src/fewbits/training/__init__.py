"""Items -> features -> learner -> bundle, in one call."""

from fewbits.training._assemble import bundle_of
from fewbits.training._codebooks import given_codebook
from fewbits.training._compare import compare
from fewbits.training._compared import (
    COMPARED_METRICS,
    MethodComparison,
    MethodScores,
)
from fewbits.training._descriptions import (
    Description,
    Setting,
    describe,
    describe_all,
)
from fewbits.training._evaluate import Report, evaluate_bundle
from fewbits.training._fit import fit_bundle
from fewbits.training._methods import DEEP_METHODS, DEVICE_METHODS, METHODS

__all__ = [
    "COMPARED_METRICS",
    "DEEP_METHODS",
    "DEVICE_METHODS",
    "METHODS",
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
