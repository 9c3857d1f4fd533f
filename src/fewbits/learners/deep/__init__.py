"""Deep codes: networks trained so that their signs rank and classify. Needs torch."""

from fewbits._extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("deep codes need torch", "deep") from None

from fewbits.learners.deep._config import CodebookConfig, NetworkConfig, TrainingConfig
from fewbits.learners.deep._export import export_backbone
from fewbits.learners.deep._hash import CONTROLS, DeepHash
from fewbits.learners.deep._llc import LLC
from fewbits.learners.deep._posterior import CentreControl, Control, PosteriorControl
from fewbits.learners.deep._supervised_itq import DeepSupervisedITQ

__all__ = [
    "LLC",
    "CentreControl",
    "CodebookConfig",
    "Control",
    "DeepHash",
    "DeepSupervisedITQ",
    "NetworkConfig",
    "PosteriorControl",
    "TrainingConfig",
    "export_backbone",
]
