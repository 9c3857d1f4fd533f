"""Candidate configurations, from cheap to expensive."""

import math
from collections.abc import Sequence
from dataclasses import replace

from fewbits._checks import whole_number
from fewbits.codes import MAX_BITS, n_bytes
from fewbits.errors import ArgumentError
from fewbits.training._methods import (
    DEEP_METHODS,
    SUPERVISED,
    decides_length,
    has_torch,
)
from fewbits.training.tuning._configuration import CORRECTION_BYTES, Configuration
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
    "additive",
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
#: good, and what costs nothing. From the shortest time to learn to the longest; some
#: learn in about a second.
ANCHORS: tuple[tuple[str, dict[str, int]], ...] = (
    ("itq", {"n_iter": 0}),
    ("itq", {}),
    ("additive", {"correction": True}),
    ("additive", {}),
    ("neighbours", {}),
)
_N_CHEAP = 3
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
    if target.max_code_bytes is None:
        longest = min(longest, max(_USUAL, _BITS_PER_FEATURE * n_features))
    else:
        longest = min(longest, 8 * target.max_code_bytes)
    powers = (2**i for i in range(longest.bit_length()))
    return tuple(sorted({longest, *(n for n in powers if n >= _SHORTEST)}))


def too_long(target: Target, asked: Sequence[int]) -> tuple[int, ...]:
    """Return the lengths that take more bytes than allowed."""
    most = target.max_code_bytes
    if most is None:
        return ()
    return tuple(sorted({n for n in asked if n > 8 * most}))


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


def with_corrections(
    target: Target, n_features: int, asked: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Return the lengths to try of codes with corrections, whose bytes count as well.

    None where the whole ranking counts, since they order shortlists only.

    Examples
    --------
    >>> with_corrections(Target(max_bytes=12), 64)
    (16, 32, 64, 80)
    >>> with_corrections(Target(max_bytes=4), 64, [32, 64])
    ()
    """
    if target.quality == "map":
        return ()
    if target.max_code_bytes is None:
        return lengths(target, n_features, asked)
    rest = target.max_code_bytes - CORRECTION_BYTES
    if rest < 1 or (asked and n_bytes(min(asked)) > rest):
        return ()
    return lengths(replace(target, max_bytes=rest), n_features, asked)


def _fitting(target: Target, asked: Sequence[int]) -> tuple[int, ...]:
    wanted = {whole_number(n, "a length") for n in asked}
    fitting = wanted.difference(too_long(target, asked))
    if not fitting:
        raise ArgumentError(
            f"{min(asked)} bits take more than {target.max_code_bytes_named}"
        )
    return tuple(sorted(fitting))


def candidates(
    methods: Sequence[str],
    lengths: Sequence[int],
    n_features: int,
    seed: int | None,
    *,
    objective: str = "encode time",
    corrected: Sequence[int] | None = None,
) -> list[Configuration]:
    """Return every sensible configuration, in the order to try them.

    Those with corrections have the lengths `corrected`, if given.

    `ANCHORS` come first at every length, the cheap ones before the others, and defaults
    before variants. Very long codes are last: one of these may take longer than
    everything else. Where quality is the `objective`, within so many bytes, the longest
    codes that these allow are the best, and shorter ones are tried while there is time.
    Where bytes are, codes of a middle length show whether shorter ones suffice, or
    longer ones are needed.
    """
    beside = lengths if corrected is None else corrected
    made = [
        Configuration(method, n_bits, parameters, seed)
        for method in methods
        for parameters in variants(method)
        for n_bits in _lengths_of(
            method, beside if "correction" in parameters else lengths, n_features
        )
    ]
    usual = [n for n in lengths if n <= _USUAL] or lengths
    middle = usual[len(usual) // 2]

    def when(each: Configuration) -> tuple[float, ...]:
        n_bits = (each.n_bits or middle) + 8 * each.correction_bytes
        place = _place(each)
        if n_bits > _USUAL:
            return True, n_bits, place
        if objective == "bytes":
            return False, place, abs(math.log2(n_bits / middle)), -n_bits
        longest_first = -n_bits if objective == "quality" else 0
        return False, stage(each), longest_first, place

    return sorted(made, key=when)


def is_anchor(learner: Configuration) -> bool:
    """Return whether something is measured before anything else."""
    return _place(learner) < len(ANCHORS)


def stage(learner: Configuration) -> int:
    """Return 0 for cheap anchors, 1 for the others, and 2 for everything else.

    Very long codes are no anchors: each may take longer than all others.

    Examples
    --------
    >>> [stage(Configuration(each, 64)) for each in ("itq", "neighbours", "sp")]
    [0, 1, 2]
    """
    if not is_anchor(learner) or (learner.n_bits or 0) > _USUAL:
        return 2
    return int(_place(learner) >= _N_CHEAP)


def _place(learner: Configuration) -> int:
    """Return the place among `ANCHORS`, or behind them: defaults before variants."""
    kind = learner.method, dict(learner.parameters)
    behind = len(ANCHORS) + bool(learner.parameters)
    return ANCHORS.index(kind) if kind in ANCHORS else behind


def _lengths_of(
    method: str, lengths: Sequence[int], n_features: int
) -> list[int | None]:
    if decides_length(method):
        return [None]
    if method == _AXES:
        return [n for n in lengths if n <= n_features]
    return list(lengths)
