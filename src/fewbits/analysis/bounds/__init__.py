"""The lower bound of average precision and how tight it is."""

from fewbits.analysis._members import Members
from fewbits.analysis.bounds._ap_bound import ap_lower_bound, misranks
from fewbits.analysis.bounds._bound import CodeBound, code_bound
from fewbits.analysis.bounds._bound_regression import BoundRegression, bound_regression
from fewbits.analysis.bounds._centres import majority_codes

__all__ = [
    "BoundRegression",
    "CodeBound",
    "Members",
    "ap_lower_bound",
    "bound_regression",
    "code_bound",
    "majority_codes",
    "misranks",
]
