"""Metrics of codes: arrays in, numbers out.

A retrieval metric takes queries, a database and a `Relevance`, which defines the
ground truth: `same_label` for labels, `ground_truth` for exact neighbours,
`within_distance` for everything closer than a threshold. The result says in words what
was computed.

Accuracy of classes is in `fewbits.evaluation.classification`, out-of-distribution
detection in `fewbits.evaluation.ood`, splits of labelled items in
`fewbits.evaluation.splits`, and means over seeds in `fewbits.evaluation.statistics`.
"""

from fewbits.evaluation._ann import (
    ann_mean_average_precision,
    neighbour_threshold,
    within_distance,
)
from fewbits.evaluation._average_precision import (
    average_precision,
    mean_average_precision,
)
from fewbits.evaluation._comparison import Comparison, compare_encoders
from fewbits.evaluation._curve import Curve
from fewbits.evaluation._neighbour_recall_score import neighbour_recall_score
from fewbits.evaluation._neighbours import (
    FloatNeighbours,
    exact_neighbours,
    neighbour_recall,
    search_recall,
)
from fewbits.evaluation._radius import RadiusScores, radius_curve, radius_scores
from fewbits.evaluation._ranking import (
    precision_at,
    precision_recall_curve,
    recall_at,
)
from fewbits.evaluation._relevance import Relevance, ground_truth, same_label
from fewbits.evaluation._score import Score

__all__ = [
    "Comparison",
    "Curve",
    "FloatNeighbours",
    "RadiusScores",
    "Relevance",
    "Score",
    "ann_mean_average_precision",
    "average_precision",
    "compare_encoders",
    "exact_neighbours",
    "ground_truth",
    "mean_average_precision",
    "neighbour_recall",
    "neighbour_recall_score",
    "neighbour_threshold",
    "precision_at",
    "precision_recall_curve",
    "radius_curve",
    "radius_scores",
    "recall_at",
    "same_label",
    "search_recall",
    "within_distance",
]
