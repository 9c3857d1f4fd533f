"""Items -> features -> learner -> bundle, in one call."""

from fewbits.training._evaluate import Report, evaluate_bundle
from fewbits.training._fit import METHODS, fit_bundle

__all__ = ["METHODS", "Report", "evaluate_bundle", "fit_bundle"]
