"""Metrics of codes: arrays in, numbers out.

`mean_average_precision` takes queries, a database and a `Relevance`, which defines the
ground truth: `same_label` for labels, `within_distance` for everything closer than a
threshold. The result says in words what was computed.

Accuracy of classes is in `fewbits.evaluation.classification`, and intervals of means in
`fewbits.evaluation.statistics`.
"""

from fewbits.evaluation._comparison import Comparison
from fewbits.evaluation._comparison import compare_encoders as compare_encoders
from fewbits.evaluation._neighbours import (
    FloatNeighbours,
    exact_neighbours,
    neighbour_recall,
    neighbour_recall_score,
    neighbour_threshold,
    search_recall,
    within_distance,
)
from fewbits.evaluation._ranking import Score, mean_average_precision
from fewbits.evaluation._relevance import Relevance, same_label

__all__ = [
    "Comparison",
    "FloatNeighbours",
    "Relevance",
    "Score",
    "exact_neighbours",
    "mean_average_precision",
    "neighbour_recall",
    "neighbour_recall_score",
    "neighbour_threshold",
    "same_label",
    "search_recall",
    "within_distance",
]
