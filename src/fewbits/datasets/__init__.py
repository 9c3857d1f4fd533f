"""Public data sets with the field's standard splits."""

from fewbits.datasets._base import Dataset
from fewbits.datasets._icd10 import load_icd10

__all__ = ["Dataset", "load_icd10"]
