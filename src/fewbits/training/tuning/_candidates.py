"""Candidate configurations, from cheap to expensive."""

import math
from collections.abc import Sequence

from fewbits._checks import whole_number
from fewbits.codes import MAX_BITS
from fewbits.errors import ArgumentError
from fewbits.training._methods import (
    DEEP_METHODS,
    SUPERVISED,
    decides_length,
    has_torch,
)
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._target import Target
from fewbits.training.tuning._variants import variants

METHODS = (
    "hadamard",
    "lsh",
    "pcah",
    "sh",
    "threshold",
    "bp",
    "cbe",
    "cca-itq",
    "itq",
    "block-itq",
    "dbc",
    "csq",
    "dch",
    "llc",
    "sp",
    "neighbours",
    "fast-neighbours",
)
#: What is measured before anything else, and goes on to all rows: what is known to be
#: good, and what costs nothing.
ANCHORS: tuple[tuple[str, dict[str, int]], ...] = (
    ("itq", {}),
    ("itq", {"n_iter": 0}),
    ("neighbours", {}),
)
_AXES = "pcah"  # has no more bits than there are features
_SHORTEST = 16
#: The longest where nothing bounds bytes: so many bits, or so many for each feature.
_USUAL, _BITS_PER_FEATURE = 1024, 4
#: A code longer than the vector in half precision is of no use.
_HALF_PRECISION = 16


def default_methods(target: Target, *, of_any_length: bool) -> tuple[str, ...]:
    """Return the methods to try; supervised ones where quality goes by labels.

    Leaves out methods that choose their length where other lengths are given, and
    those of `without_torch` where there is no torch.
    """
    left_out = {*without_torch(target)}
    if target.quality == "recall":
        left_out |= SUPERVISED
    # Checking excluded methods may need torch.
    tried = [m for m in METHODS if m not in left_out]
    return tuple(m for m in tried if not (of_any_length and decides_length(m)))


def without_torch(target: Target) -> tuple[str, ...]:
    """Return the methods that are not tried because torch is not installed."""
    if target.quality == "recall" or has_torch():
        return ()
    return tuple(method for method in METHODS if method in DEEP_METHODS)


def lengths(
    target: Target, n_features: int, asked: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Return the lengths to try, ascending: the given ones that fit the target.

    If none are given, powers of two from 16 on, and the longest: all that the bytes
    allow, and without a bound on bytes 1024 or four bits per feature; never more
    than the vector takes as float16.

    Raises
    ------
    ArgumentError
        When none of the given lengths fits the target.

    Examples
    --------
    >>> lengths(Target(max_bytes=12), 64)
    (16, 32, 64, 96)
    >>> lengths(Target(max_bytes=4), 64, [16, 32, 64])
    (16, 32)
    """
    if asked:
        return _fitting(target, asked)
    longest = min(_HALF_PRECISION * n_features, MAX_BITS)
    if target.max_bytes is None:
        longest = min(longest, max(_USUAL, _BITS_PER_FEATURE * n_features))
    else:
        longest = min(longest, 8 * target.max_bytes)
    powers = (2**i for i in range(longest.bit_length()))
    return tuple(sorted({longest, *(n for n in powers if n >= _SHORTEST)}))


def too_long(target: Target, asked: Sequence[int]) -> tuple[int, ...]:
    """Return the lengths that take more bytes than allowed."""
    if target.max_bytes is None:
        return ()
    return tuple(sorted({n for n in asked if n > 8 * target.max_bytes}))


def own_lengths(methods: Sequence[str], n_features: int) -> tuple[int, ...]:
    """Return the lengths of methods that choose it: one bit per feature."""
    return tuple(n_features for method in methods if decides_length(method))


def beyond_axes(
    methods: Sequence[str], asked: Sequence[int], n_features: int
) -> tuple[int, ...]:
    """Return the given lengths that `_AXES`, if it is to be tried, cannot have."""
    if _AXES not in methods:
        return ()
    return tuple(sorted({n for n in asked if n > n_features}))


def _fitting(target: Target, asked: Sequence[int]) -> tuple[int, ...]:
    wanted = {whole_number(n, "a length") for n in asked}
    fitting = wanted.difference(too_long(target, asked))
    if not fitting:
        raise ArgumentError(
            f"{min(asked)} bits take more than {target.max_bytes_named}"
        )
    return tuple(sorted(fitting))


def candidates(
    methods: Sequence[str],
    lengths: Sequence[int],
    n_features: int,
    seed: int | None,
    *,
    objective: str = "encode time",
) -> list[Configuration]:
    """Return every sensible configuration, in the order to try them.

    `ANCHORS` come first, and defaults before variants. Very long codes are last: one of
    these may take longer than everything else. Where quality is the `objective`, within
    so many bytes, the longest codes that these allow are the best, and shorter ones are
    tried while there is time. Where bytes are, codes of a middle length show whether
    shorter ones suffice, or longer ones are needed.
    """
    made = [
        Configuration(method, n_bits, parameters, seed)
        for method in methods
        for parameters in variants(method)
        for n_bits in _lengths_of(method, lengths, n_features)
    ]
    usual = [n for n in lengths if n <= _USUAL] or lengths
    middle = usual[len(usual) // 2]

    def when(each: Configuration) -> tuple[float, ...]:
        n_bits, varied = each.n_bits or middle, bool(each.parameters)
        later = not is_anchor(each)
        if n_bits > _USUAL:
            return True, n_bits, later, varied
        if objective == "bytes":
            return False, later, varied, abs(math.log2(n_bits / middle)), -n_bits
        return False, -n_bits if objective == "quality" else 0, later, varied

    return sorted(made, key=when)


def is_anchor(learner: Configuration) -> bool:
    """Return whether something is measured before anything else."""
    return (learner.method, dict(learner.parameters)) in ANCHORS


def _lengths_of(
    method: str, lengths: Sequence[int], n_features: int
) -> list[int | None]:
    if decides_length(method):
        return [None]
    if method == _AXES:
        return [n for n in lengths if n <= n_features]
    return list(lengths)
