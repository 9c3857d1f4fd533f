"""Splits of labelled items into queries, database and training items."""

from fewbits.evaluation.splits._splits import Split, novel_class_split, per_class_split
from fewbits.evaluation.splits._standard_splits import standard_split

__all__ = [
    "Split",
    "novel_class_split",
    "per_class_split",
    "standard_split",
]
