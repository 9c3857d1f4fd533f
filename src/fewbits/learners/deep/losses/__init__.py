"""Losses that train deep codes, each as its paper has it."""

from fewbits.learners.deep.losses._base import (
    Batch,
    Loss,
    LossContext,
    Targets,
)
from fewbits.learners.deep.losses._centres import (
    CSQ,
    ClassLoss,
    CodebookLoss,
    CodeLoss,
    GreedyHash,
    OrthoHash,
)
from fewbits.learners.deep.losses._pairs import DBDH, DCH, DSDH, HashNet

#: The losses by the names that learners and the command line know them by.
LOSSES: dict[str, type[Loss]] = {
    "hashnet": HashNet,
    "dbdh": DBDH,
    "dsdh": DSDH,
    "dch": DCH,
    "greedyhash": GreedyHash,
    "csq": CSQ,
    "orthohash": OrthoHash,
}

__all__ = [
    "CSQ",
    "DBDH",
    "DCH",
    "DSDH",
    "LOSSES",
    "Batch",
    "GreedyHash",
    "HashNet",
    "Loss",
    "LossContext",
    "OrthoHash",
    "Targets",
]
