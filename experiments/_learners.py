"""The learners of the discriminative experiments, by the names of their cells."""

from typing import Any

from fewbits.learners import (
    BRE,
    CCAITQ,
    DBC,
    ITQ,
    LSH,
    Classemes,
    Learner,
    PiCoDes,
    SpectralHashing,
)
from research.common.settings import configured

#: Chosen like the costs of PiCoDes: larger ones say no to nearly every new class.
CLASSEME_COST = 0.001

#: Weights of the slack so large that labels of a class differ, by name.
FREE = {f"DBC, lambda1 = {weight:g}": weight for weight in (2.0, 10.0)}


def learners_of(n_bits: int, seed: int) -> dict[str, Learner]:
    """Return an untrained learner of a length for each name."""
    both: dict[str, Any] = {"n_bits": n_bits, "random_state": seed}
    return {
        "LSH": LSH(**both),
        "SH": SpectralHashing(n_bits),
        "BRE": BRE(**both),
        "ITQ": ITQ(**both),
        "CCA-ITQ": CCAITQ(**both),
        "PiCoDes": PiCoDes(**both),
        "DBC": DBC(**both),
        "DBC, by category": DBC(**both, codes="category"),
        **{
            name: configured(DBC, **both, lambda1=weight)
            for name, weight in FREE.items()
        },
    }


def classemes(n_bits: int | None, seed: int) -> Classemes:
    """Return classemes; None leaves a bit for each known class."""
    return Classemes(n_bits, C=CLASSEME_COST, random_state=seed)
