"""Items -> features -> learner -> bundle, in one call."""

from fewbits.training._fit import METHODS, fit_bundle

__all__ = ["METHODS", "fit_bundle"]
