"""Out-of-distribution detection: by scores of features, or by distance to codes."""

from fewbits.ood._regions import (
    AcceptanceRegion,
    acceptance_region,
    novelty_radius,
)
from fewbits.ood._rejection import (
    SCORES,
    Rejection,
    RejectionScore,
    RejectionThreshold,
    learn_rejection,
)
from fewbits.ood._rejection import load_rejection as load_rejection
from fewbits.ood._rejection import rejection_bytes as rejection_bytes

__all__ = [
    "SCORES",
    "AcceptanceRegion",
    "Rejection",
    "RejectionScore",
    "RejectionThreshold",
    "acceptance_region",
    "learn_rejection",
    "novelty_radius",
]
