"""Losses that train deep codes, each as its paper has it."""

from fewbits.learners.deep.losses._base import (
    Batch,
    Loss,
    LossContext,
    Targets,
    changed_options,
)
from fewbits.learners.deep.losses._csq import CSQ
from fewbits.learners.deep.losses._dbdh import DBDH
from fewbits.learners.deep.losses._dch import DCH
from fewbits.learners.deep.losses._dsdh import DSDH
from fewbits.learners.deep.losses._greedy import GreedyHash
from fewbits.learners.deep.losses._hashnet import HashNet
from fewbits.learners.deep.losses._ortho import OrthoHash

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
    "changed_options",
]
