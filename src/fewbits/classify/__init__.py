"""From codes to classes: codebooks, decoders, votes and linear models."""

from fewbits.classify._calibration import (
    Calibration,
    TopClasses,
    calibrate,
    calibration_bytes,
    label_scores,
    label_threshold,
    load_calibration,
    top_classes,
)
from fewbits.classify._codebook import Codebook, load_codebook
from fewbits.classify._decoded import Decoded
from fewbits.classify._linear import (
    LinearClasses,
    LinearModel,
    best_scores,
    learn_class,
    learn_classes,
)
from fewbits.classify._votes import (
    Votes,
    label_votes,
    nearest_label_votes,
    nearest_vote,
    vote,
)

__all__ = [
    "Calibration",
    "Codebook",
    "Decoded",
    "LinearClasses",
    "LinearModel",
    "TopClasses",
    "Votes",
    "best_scores",
    "calibrate",
    "calibration_bytes",
    "label_scores",
    "label_threshold",
    "label_votes",
    "learn_class",
    "learn_classes",
    "load_calibration",
    "load_codebook",
    "nearest_label_votes",
    "nearest_vote",
    "top_classes",
    "vote",
]
