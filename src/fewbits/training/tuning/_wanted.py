"""Candidates of the methods and lengths that were asked for."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from fewbits.errors import ArgumentError
from fewbits.training._methods import SUPERVISED, decides_length, make_learner
from fewbits.training.tuning._candidates import (
    candidates,
    default_methods,
    lengths,
    own_lengths,
    too_long,
    with_corrections,
)
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._target import Target


def wanted_candidates(
    target: Target,
    methods: Sequence[str] | None,
    n_bits: Sequence[int] | None,
    n_features: int,
    seed: int,
    y: NDArray[Any] | None,
) -> list[Configuration]:
    """Return the candidates, or refuse methods and lengths that cannot be tried."""
    usual = default_methods(target, of_any_length=bool(n_bits))
    chosen = tuple(dict.fromkeys(methods or usual))
    for method in chosen:
        if method in SUPERVISED and y is None:
            raise ArgumentError(f"{method} learns from labels, and there are none")
        if decides_length(method):
            if n_bits:
                raise ArgumentError(f"{method} chooses the number of bits itself")
        else:
            for length in n_bits or ():
                make_learner(method, length, seed, {})._check_parameters()
    chosen = _within_bytes(chosen, target, n_features)
    bits = lengths(target, n_features, n_bits)
    made = candidates(
        chosen,
        bits,
        n_features,
        seed,
        objective=target.objective,
        corrected=with_corrections(target, n_features, n_bits),
    )
    if not made:  # a method without any length needs more features than bits
        raise ArgumentError(
            f"there is nothing to try of {', '.join(chosen)}: it has at most as many "
            f"bits as there are features, {n_features}, and {bits[0]} are the fewest "
            "to try"
        )
    return made


def _within_bytes(
    methods: tuple[str, ...], target: Target, n_features: int
) -> tuple[str, ...]:
    """Return the methods but for those whose own length takes more than allowed."""
    own = too_long(target, own_lengths(methods, n_features))
    kept = tuple(each for each in methods if not (own and decides_length(each)))
    if not kept:
        raise ArgumentError(
            f"{', '.join(methods)} makes {own[0]} bits, more than "
            f"{target.max_code_bytes_named}"
        )
    return kept
