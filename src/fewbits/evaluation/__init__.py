"""Measures of codes: arrays in, numbers out.

A measure of retrieval takes queries, a database and a `Relevance`, which says what a
right answer is: `share_label` for labels, `listed` for neighbours, `within_distance`
for everything closer than a threshold. It says in words what it computed.
"""

from fewbits.evaluation._average_precision import (
    average_precision,
    mean_average_precision,
)
from fewbits.evaluation._relevance import Relevance, listed, share_label
from fewbits.evaluation._score import Score

__all__ = [
    "Relevance",
    "Score",
    "average_precision",
    "listed",
    "mean_average_precision",
    "share_label",
]
