"""Learners by the names that people type."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fewbits import learners
from fewbits.errors import ArgumentError
from fewbits.learners import Learner

METHODS: dict[str, type[Learner]] = {
    "lsh": learners.LSH,
    "pcah": learners.PCAH,
    "threshold": learners.Thresholding,
    "bp": learners.BilinearProjections,
    "cbe": learners.CBE,
    "hadamard": learners.Hadamard,
    "itq": learners.ITQ,
    "cca-itq": learners.CCAITQ,
    "sp": learners.SparseProjections,
    "sh": learners.SpectralHashing,
    "bre": learners.BRE,
    "neighbours": learners.NeighbourCodes,
    "fast-neighbours": learners.FastNeighbourCodes,
    "classemes": learners.Classemes,
    "picodes": learners.PiCoDes,
    "picodes-relaxed": learners.RelaxedPiCoDes,
    "dbc": learners.DBC,
}
#: These need torch, which is imported when one is asked for.
DEEP_METHODS = (
    "llc",
    "csq",
    "dbdh",
    "dch",
    "dsdh",
    "greedyhash",
    "hashnet",
    "orthohash",
)
SUPERVISED = {
    *(name for name, learner in METHODS.items() if learner.needs_labels),
    *DEEP_METHODS,
}


def make_learner(
    method: str,
    n_bits: int | None,
    random_state: int | None,
    parameters: Mapping[str, Any],
) -> Learner:
    """Return an untrained learner from names that a person typed."""
    make, known = _constructor(method), parameters_of(method)
    wanted = dict(parameters)
    if n_bits is not None:
        if "n_bits" not in known:
            raise ArgumentError(f"{method} decides the length itself, not {n_bits}")
        if "n_bits" in wanted:
            raise ArgumentError(f"two lengths: {n_bits} bits and {wanted['n_bits']}")
        wanted["n_bits"] = n_bits
    if unknown := sorted(set(wanted) - set(known)):
        raise ArgumentError(
            f"{method} has no parameter {unknown[0]!r}; it has {', '.join(known)}"
        )
    if "random_state" in known:
        wanted.setdefault("random_state", random_state)
        check_seed(wanted["random_state"])
    return make(**wanted)


def _constructor(method: str) -> Callable[..., Learner]:
    """Return what makes a learner of this name."""
    if method in METHODS:
        return METHODS[method]
    if method not in DEEP_METHODS:
        known = ", ".join([*METHODS, *DEEP_METHODS])
        raise ArgumentError(f"no method {method!r}; known are {known}")
    from fewbits.learners.deep import LLC, DeepHash

    return LLC if method == "llc" else partial(DeepHash, loss=method)


def check_seed(seed: Any) -> None:
    """Refuse what cannot seed anything."""
    if seed is not None and (
        isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32
    ):
        raise ArgumentError(
            f"random_state must be an integer from 0 to 2**32 - 1, got {seed!r}"
        )


def decides_length(method: str) -> bool:
    """Tell whether a method has no length to choose."""
    return "n_bits" not in parameters_of(method)


def parameters_of(method: str) -> list[str]:
    """Return the names of a method's parameters."""
    return list(inspect.signature(_constructor(method)).parameters)
