"""Out-of-distribution detection by Hamming distance to known codes."""

from fewbits.ood._acceptance_region import AcceptanceRegion
from fewbits.ood._conservative_region import conservative_region
from fewbits.ood._coverage import Coverage, bit_marginals, covered_share
from fewbits.ood._leave_one_class_out import (
    FalseAcceptRates,
    leave_one_class_out_rates,
    leave_one_class_out_region,
)
from fewbits.ood._novelty import novelty_radius
from fewbits.ood._regions import acceptance_region, predicted_region

__all__ = [
    "AcceptanceRegion",
    "Coverage",
    "FalseAcceptRates",
    "acceptance_region",
    "bit_marginals",
    "conservative_region",
    "covered_share",
    "leave_one_class_out_rates",
    "leave_one_class_out_region",
    "novelty_radius",
    "predicted_region",
]
