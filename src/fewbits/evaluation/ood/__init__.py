"""Out-of-distribution detection: scores of items, and metrics of scores."""

from fewbits.evaluation.ood._detection import Detection, detection
from fewbits.evaluation.ood._metrics import OodScores, ood_scores
from fewbits.evaluation.ood._mixture import (
    PriorShiftResult,
    threshold_under_prior_shift,
    tune_threshold,
)
from fewbits.evaluation.ood._scores import (
    code_neighbour_score,
    energy,
    max_logit,
    max_softmax,
    neighbour_score,
)

__all__ = [
    "Detection",
    "OodScores",
    "PriorShiftResult",
    "code_neighbour_score",
    "detection",
    "energy",
    "max_logit",
    "max_softmax",
    "neighbour_score",
    "ood_scores",
    "threshold_under_prior_shift",
    "tune_threshold",
]
