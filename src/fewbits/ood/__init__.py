"""Out-of-distribution detection: by scores of features, or by distance to codes."""

from fewbits.ood._regions import (
    AcceptanceRegion,
    acceptance_region,
    novelty_radius,
    predicted_region,
)
from fewbits.ood._rejection import (
    SCORES,
    Rejection,
    RejectionScore,
    RejectionThreshold,
    learn_rejection,
    load_rejection,
    rejection_bytes,
)

__all__ = [
    "SCORES",
    "AcceptanceRegion",
    "Rejection",
    "RejectionScore",
    "RejectionThreshold",
    "acceptance_region",
    "learn_rejection",
    "load_rejection",
    "novelty_radius",
    "predicted_region",
    "rejection_bytes",
]
