"""What is tried, from cheap to dear."""

from collections.abc import Iterator, Sequence
from typing import Any

from fewbits._checks import whole_number
from fewbits.errors import ArgumentError
from fewbits.training._methods import SUPERVISED, decides_length
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._target import Target

METHODS = (
    "hadamard",
    "lsh",
    "pcah",
    "threshold",
    "cca-itq",
    "itq",
    "sp",
    "fast-neighbours",
    "neighbours",
)
DENSITIES = (0.03, 0.1, 0.3)
_SHORTEST, _LONGEST = 16, 1024
_LONGEST_ASKED_FOR = 4096
#: A code longer than the vector in half precision is of no use.
_BITS_PER_FEATURE = 16


def default_methods(target: Target) -> tuple[str, ...]:
    """Return what is tried: labels help where labels are what counts."""
    by_labels = target.quality != "recall"
    return tuple(m for m in METHODS if by_labels or m not in SUPERVISED)


def lengths(
    target: Target, n_features: int, asked: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Return the lengths to try, rising: powers of two, and all that bytes allow.

    Raises
    ------
    ArgumentError
        When none of those that are asked for fits the target.

    Examples
    --------
    >>> lengths(Target(max_bytes=12), 64)
    (16, 32, 64, 96)
    """
    most = _LONGEST_ASKED_FOR if target.max_bytes is None else 8 * target.max_bytes
    if asked:
        fitting = sorted({whole_number(n, "a length") for n in asked if n <= most})
        if not fitting:
            raise ArgumentError(
                f"{min(asked)} bits take more than {target.max_bytes} bytes"
            )
        return tuple(fitting)
    useful = min(_LONGEST, _BITS_PER_FEATURE * n_features)
    powers = [2**i for i in range(3, 13) if _SHORTEST <= 2**i <= useful]
    found = {n for n in powers if n <= most}
    if target.max_bytes is not None and most <= min(
        _LONGEST_ASKED_FOR, _BITS_PER_FEATURE * n_features
    ):
        found.add(most)
    return tuple(sorted(found or {useful}))


def candidates(
    methods: Sequence[str], lengths: Sequence[int], n_features: int, seed: int | None
) -> list[Configuration]:
    """Return every combination that makes sense."""
    made = []
    for method in methods:
        for parameters in _parameters(method):
            for n_bits in _lengths_of(method, lengths, n_features):
                made.append(Configuration(method, n_bits, parameters, seed))
    return made


def _parameters(method: str) -> Iterator[dict[str, Any]]:
    if method == "sp":
        yield from ({"density": density} for density in DENSITIES)
    else:
        yield {}


def _lengths_of(
    method: str, lengths: Sequence[int], n_features: int
) -> list[int | None]:
    if decides_length(method):
        return [None]
    if method == "pcah":  # has no more axes than features
        return [n for n in lengths if n <= n_features]
    return list(lengths)
