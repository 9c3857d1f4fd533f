"""Codes -> answers: the class of an item, or that nothing like it is known."""

from fewbits.decoding._bounded import decode_bounded
from fewbits.decoding._calibration import Calibration, calibrate
from fewbits.decoding._calibration_files import calibration_bytes, load_calibration
from fewbits.decoding._careful_region import careful_region
from fewbits.decoding._class_codes import bits_needed, check_capacity
from fewbits.decoding._codebook import Codebook
from fewbits.decoding._codebook_files import load_codebook
from fewbits.decoding._coverage import Coverage, bit_shares, covered_share
from fewbits.decoding._decoded import Decoded
from fewbits.decoding._exact import decode_exact
from fewbits.decoding._hidden_classes import (
    HiddenRates,
    hidden_class_rates,
    hidden_class_region,
)
from fewbits.decoding._known_region import KnownRegion
from fewbits.decoding._labels import label_scores, label_threshold
from fewbits.decoding._linear import LinearModel, best_scores, learn_class
from fewbits.decoding._linear_classes import LinearClasses, learn_classes
from fewbits.decoding._nearest import decode_nearest
from fewbits.decoding._novelty import familiar_radius
from fewbits.decoding._ordered import decode_ordered
from fewbits.decoding._out_of_distribution import known_region, predicted_region
from fewbits.decoding._probabilities import (
    TopClasses,
    class_probabilities,
    top_classes,
)
from fewbits.decoding._selection import select_bits
from fewbits.decoding._soft import decode_soft
from fewbits.decoding._vote import Votes, nearest_vote, vote

__all__ = [
    "Calibration",
    "Codebook",
    "Coverage",
    "Decoded",
    "HiddenRates",
    "KnownRegion",
    "LinearClasses",
    "LinearModel",
    "TopClasses",
    "Votes",
    "best_scores",
    "bit_shares",
    "bits_needed",
    "calibrate",
    "calibration_bytes",
    "careful_region",
    "check_capacity",
    "class_probabilities",
    "covered_share",
    "decode_bounded",
    "decode_exact",
    "decode_nearest",
    "decode_ordered",
    "decode_soft",
    "familiar_radius",
    "hidden_class_rates",
    "hidden_class_region",
    "known_region",
    "label_scores",
    "label_threshold",
    "learn_class",
    "learn_classes",
    "load_calibration",
    "load_codebook",
    "nearest_vote",
    "predicted_region",
    "select_bits",
    "top_classes",
    "vote",
]
