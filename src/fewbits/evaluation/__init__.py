"""Metrics of codes: arrays in, numbers out.

A retrieval metric takes queries, a database and a `Relevance`, which defines the
ground truth: `same_label` for labels, `ground_truth` for exact neighbours,
`within_distance` for everything closer than a threshold. The result says in words what
was computed.
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
from fewbits.evaluation._calibration import CalibrationError, calibration_error
from fewbits.evaluation._categories import CategoryScores, category_scores
from fewbits.evaluation._classification import (
    Accuracy,
    knn_accuracy,
    knn_predict,
    svm_accuracy,
)
from fewbits.evaluation._comparison import Comparison, compare_encoders
from fewbits.evaluation._curve import Curve
from fewbits.evaluation._decoding import decoding_accuracy, matching_bits
from fewbits.evaluation._detection import Detection, detection
from fewbits.evaluation._mixture import (
    PriorShiftResult,
    threshold_under_prior_shift,
    tune_threshold,
)
from fewbits.evaluation._neighbour_recall_score import neighbour_recall_score
from fewbits.evaluation._neighbours import (
    FloatNeighbours,
    exact_neighbours,
    neighbour_recall,
    search_recall,
)
from fewbits.evaluation._novel import novel_class_score
from fewbits.evaluation._ood import OodScores, ood_scores
from fewbits.evaluation._ood_scores import (
    code_neighbour_score,
    energy,
    max_logit,
    max_softmax,
    neighbour_score,
)
from fewbits.evaluation._radius import RadiusScores, radius_curve, radius_scores
from fewbits.evaluation._ranking import (
    precision_at,
    precision_recall_curve,
    recall_at,
)
from fewbits.evaluation._relevance import Relevance, ground_truth, same_label
from fewbits.evaluation._score import Score
from fewbits.evaluation._splits import (
    Split,
    novel_class_split,
    per_class_split,
)
from fewbits.evaluation._standard_splits import standard_split
from fewbits.evaluation._summary import Summary, format_mean, summarize

__all__ = [
    "Accuracy",
    "CalibrationError",
    "CategoryScores",
    "Comparison",
    "Curve",
    "Detection",
    "FloatNeighbours",
    "OodScores",
    "PriorShiftResult",
    "RadiusScores",
    "Relevance",
    "Score",
    "Split",
    "Summary",
    "ann_mean_average_precision",
    "average_precision",
    "calibration_error",
    "category_scores",
    "code_neighbour_score",
    "compare_encoders",
    "decoding_accuracy",
    "detection",
    "energy",
    "exact_neighbours",
    "format_mean",
    "ground_truth",
    "knn_accuracy",
    "knn_predict",
    "matching_bits",
    "max_logit",
    "max_softmax",
    "mean_average_precision",
    "neighbour_recall",
    "neighbour_recall_score",
    "neighbour_score",
    "neighbour_threshold",
    "novel_class_score",
    "novel_class_split",
    "ood_scores",
    "per_class_split",
    "precision_at",
    "precision_recall_curve",
    "radius_curve",
    "radius_scores",
    "recall_at",
    "same_label",
    "search_recall",
    "standard_split",
    "summarize",
    "svm_accuracy",
    "threshold_under_prior_shift",
    "tune_threshold",
    "within_distance",
]
