"""Metrics of codes: arrays in, numbers out.

A retrieval metric takes queries, a database and a `Relevance`, which defines the
ground truth: `same_label` for labels, `ground_truth` for exact neighbours,
`within_distance` for everything closer than a threshold. The result says in words what
was computed.

Accuracy of classes is in `fewbits.evaluation.classification`, out-of-distribution
detection in `fewbits.evaluation.ood`, and intervals of means in
`fewbits.evaluation.statistics`.
"""

from fewbits.evaluation._comparison import Comparison, compare_encoders
from fewbits.evaluation._neighbours import (
    FloatNeighbours,
    exact_neighbours,
    neighbour_recall,
    neighbour_recall_score,
    neighbour_threshold,
    search_recall,
    within_distance,
)
from fewbits.evaluation._ranking import (
    Score,
    average_precision,
    mean_average_precision,
    precision_at,
    recall_at,
)
from fewbits.evaluation._relevance import Relevance, ground_truth, same_label

__all__ = [
    "Comparison",
    "FloatNeighbours",
    "Relevance",
    "Score",
    "average_precision",
    "compare_encoders",
    "exact_neighbours",
    "ground_truth",
    "mean_average_precision",
    "neighbour_recall",
    "neighbour_recall_score",
    "neighbour_threshold",
    "precision_at",
    "recall_at",
    "same_label",
    "search_recall",
    "within_distance",
]
