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

#: Chosen like the costs of PiCoDes: larger ones say no to nearly every new class.
CLASSEME_COST = 0.001

#: So large a weight of the slack that labels of a class differ.
FREE_LAMBDA1 = 10.0
FREE = f"DBC, lambda1 = {FREE_LAMBDA1:g}"


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
        FREE: DBC(**both, lambda1=FREE_LAMBDA1),
    }


def classemes(n_bits: int | None, seed: int) -> Classemes:
    """Return classemes; None leaves a bit for each known class."""
    return Classemes(n_bits, cost=CLASSEME_COST, random_state=seed)
