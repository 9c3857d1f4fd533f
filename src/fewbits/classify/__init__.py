"""From codes to classes: codebooks, decoders, votes and linear models."""

from fewbits.classify._calibration import Calibration, calibrate
from fewbits.classify._calibration_files import calibration_bytes, load_calibration
from fewbits.classify._class_codes import bits_needed, check_capacity
from fewbits.classify._codebook import Codebook
from fewbits.classify._codebook_files import load_codebook
from fewbits.classify._decoded import Decoded
from fewbits.classify._label_votes import label_votes, nearest_label_votes
from fewbits.classify._labels import label_scores, label_threshold
from fewbits.classify._linear import LinearModel, best_scores, learn_class
from fewbits.classify._linear_classes import LinearClasses, learn_classes
from fewbits.classify._probabilities import TopClasses, class_probabilities, top_classes
from fewbits.classify._selection import select_bits
from fewbits.classify._vote import Votes, nearest_vote, vote

__all__ = [
    "Calibration",
    "Codebook",
    "Decoded",
    "LinearClasses",
    "LinearModel",
    "TopClasses",
    "Votes",
    "best_scores",
    "bits_needed",
    "calibrate",
    "calibration_bytes",
    "check_capacity",
    "class_probabilities",
    "label_scores",
    "label_threshold",
    "label_votes",
    "learn_class",
    "learn_classes",
    "load_calibration",
    "load_codebook",
    "nearest_label_votes",
    "nearest_vote",
    "select_bits",
    "top_classes",
    "vote",
]
