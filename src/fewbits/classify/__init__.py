"""From codes to classes: codebooks, decoders, votes and linear models."""

from fewbits.classify._calibration import Calibration, calibrate
from fewbits.classify._calibration_files import calibration_bytes, load_calibration
from fewbits.classify._class_codes import bits_needed, check_capacity
from fewbits.classify._codebook import Codebook
from fewbits.classify._codebook_files import load_codebook
from fewbits.classify._decoded import Decoded
from fewbits.classify._labels import label_scores, label_threshold
from fewbits.classify._linear import LinearModel, best_scores, learn_class
from fewbits.classify._linear_classes import LinearClasses, learn_classes
from fewbits.classify._probabilities import TopClasses, class_probabilities, top_classes
from fewbits.classify._selection import select_bits
from fewbits.classify._vote import Votes, nearest_vote, vote
from fewbits.classify.decoders import (
    decode_bounded,
    decode_exact,
    decode_nearest,
    decode_orbgrand,
    decode_soft,
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
    "bits_needed",
    "calibrate",
    "calibration_bytes",
    "check_capacity",
    "class_probabilities",
    "decode_bounded",
    "decode_exact",
    "decode_nearest",
    "decode_orbgrand",
    "decode_soft",
    "label_scores",
    "label_threshold",
    "learn_class",
    "learn_classes",
    "load_calibration",
    "load_codebook",
    "nearest_vote",
    "select_bits",
    "top_classes",
    "vote",
]
