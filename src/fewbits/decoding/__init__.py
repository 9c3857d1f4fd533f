"""Codes -> answers: the class of an item, or that nothing like it is known."""

from fewbits.decoding._bounded import decode_bounded
from fewbits.decoding._calibration import Calibration, calibrate
from fewbits.decoding._calibration_files import calibration_bytes, load_calibration
from fewbits.decoding._conservative_region import conservative_region
from fewbits.decoding._class_codes import bits_needed, check_capacity
from fewbits.decoding._codebook import Codebook
from fewbits.decoding._codebook_files import load_codebook
from fewbits.decoding._coverage import Coverage, bit_marginals, covered_share
from fewbits.decoding._decoded import Decoded
from fewbits.decoding._exact import decode_exact
from fewbits.decoding._leave_one_class_out import (
    FalseAcceptRates,
    leave_one_class_out_rates,
    leave_one_class_out_region,
)
from fewbits.decoding._acceptance_region import AcceptanceRegion
from fewbits.decoding._labels import label_scores, label_threshold
from fewbits.decoding._linear import LinearModel, best_scores, learn_class
from fewbits.decoding._linear_classes import LinearClasses, learn_classes
from fewbits.decoding._nearest import decode_nearest
from fewbits.decoding._novelty import novelty_radius
from fewbits.decoding._orbgrand import decode_orbgrand
from fewbits.decoding._out_of_distribution import acceptance_region, predicted_region
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
    "FalseAcceptRates",
    "AcceptanceRegion",
    "LinearClasses",
    "LinearModel",
    "TopClasses",
    "Votes",
    "best_scores",
    "bit_marginals",
    "bits_needed",
    "calibrate",
    "calibration_bytes",
    "conservative_region",
    "check_capacity",
    "class_probabilities",
    "covered_share",
    "decode_bounded",
    "decode_exact",
    "decode_nearest",
    "decode_orbgrand",
    "decode_soft",
    "novelty_radius",
    "leave_one_class_out_rates",
    "leave_one_class_out_region",
    "acceptance_region",
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
