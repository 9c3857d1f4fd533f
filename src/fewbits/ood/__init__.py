"""Out-of-distribution detection: by scores of features, or by distance to codes."""

from fewbits.ood._acceptance_region import AcceptanceRegion
from fewbits.ood._coverage import Coverage, bit_marginals, covered_share
from fewbits.ood._novelty import novelty_radius
from fewbits.ood._regions import acceptance_region, predicted_region
from fewbits.ood._rejection import Rejection, RejectionThreshold, learn_rejection
from fewbits.ood._rejection_files import load_rejection, rejection_bytes
from fewbits.ood._scores import (
    SCORES,
    RandomFeaturesScore,
    RejectionScore,
    RidgeScore,
)

__all__ = [
    "SCORES",
    "AcceptanceRegion",
    "Coverage",
    "RandomFeaturesScore",
    "Rejection",
    "RejectionScore",
    "RejectionThreshold",
    "RidgeScore",
    "acceptance_region",
    "bit_marginals",
    "covered_share",
    "learn_rejection",
    "load_rejection",
    "novelty_radius",
    "predicted_region",
    "rejection_bytes",
]
