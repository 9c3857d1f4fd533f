"""From codes to classes: codebooks, decoders, votes and linear models."""

from fewbits.classify._calibration import (
    Calibration,
    TopClasses,
    calibrate,
    top_classes,
)
from fewbits.classify._calibration import calibration_bytes as calibration_bytes
from fewbits.classify._calibration import label_scores as label_scores
from fewbits.classify._calibration import label_threshold as label_threshold
from fewbits.classify._calibration import load_calibration as load_calibration
from fewbits.classify._codebook import Codebook, load_codebook
from fewbits.classify._decoding import Decoded
from fewbits.classify._linear import LinearModel, learn_class
from fewbits.classify._linear import best_scores as best_scores
from fewbits.classify._linear import learn_classes as learn_classes
from fewbits.classify._votes import (
    Votes,
    nearest_vote,
    vote,
)
from fewbits.classify._votes import label_votes as label_votes
from fewbits.classify._votes import nearest_label_votes as nearest_label_votes

__all__ = [
    "Calibration",
    "Codebook",
    "Decoded",
    "LinearModel",
    "TopClasses",
    "Votes",
    "calibrate",
    "learn_class",
    "load_codebook",
    "nearest_vote",
    "top_classes",
    "vote",
]
