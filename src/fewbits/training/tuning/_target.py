"""Targets of a configuration, and the choice of the best one."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from fewbits.errors import ArgumentError
from fewbits.training.tuning._configuration import KEPT
from fewbits.training.tuning._floats import vector_bytes
from fewbits.training.tuning._measured import Measured

QUALITIES = ("recall", "map", "accuracy")
#: Bytes that can be minimised: all of them on disk, or those that stay in memory.
MINIMISED = ("bytes", "memory")
#: Smaller differences of quality are ignored: the cheaper configuration is taken.
_DIGITS = 3
#: A time must stay below its bound by this share; and what exceeds it in a single
#: measurement, by no more than the second, is not ruled out for that.
_TIME_MARGIN, _TIME_DOUBT = 0.05, 0.25
#: Where time is minimised, or what comes nearest to a bound is looked
#: for, steps of a factor of two are divided so; what lies in the same part, or below a
#: microsecond, counts as equally fast.
_PARTS_OF_TWO = 2


@dataclass(frozen=True)
class Target:
    """Bounds to meet; a quantity without a bound is optimised.

    Without a bound on quality, that is quality; otherwise bytes; with a bound on both,
    encode time, where less than about a factor of 1.4 does not count against quality;
    and with all three bounds quality again. `minimise` says otherwise.

    Parameters
    ----------
    quality : {"recall", "map", "accuracy"}, default="recall"
        Recall of the k nearest vectors; or by labels, the mean average precision of
        the whole ranking, or k-NN accuracy.
    at_least : float, default=None
        Minimum quality, above 0 and at most 1.
    max_bytes : int, default=None
        Maximum bytes per item on disk: the code, and the vector where one is stored.
    max_encode_us : float, default=None
        Maximum time in microseconds to encode a single vector on this
        machine; the choice stays 5 % below.
    max_query_ms : float, default=None
        Maximum time in milliseconds from a single vector to its answer, one query at a
        time; as above.
    max_memory_bytes : int, default=None
        Maximum bytes per item in memory: the code, since stored vectors are read from
        disk as they are needed.
    minimise : {"bytes", "memory"}, default=None
        The bytes to minimise for a minimum quality, whatever else is bounded: on disk,
        or in memory.

    Notes
    -----
    What a full scan of the vectors outruns is preferred to nothing that meets the
    bounds, unless such a scan takes less than .2 ms: so short a time varies by more
    than it matters, and the choice would vary with it.

    Raises
    ------
    ArgumentError
        When nothing is bounded, or a bound lies outside its range.

    Examples
    --------
    >>> Target(at_least=0.9).objective, Target(max_bytes=32).objective
    ('bytes', 'quality')
    >>> Target(at_least=0.9, max_bytes=400, minimise="memory").objective
    'bytes'
    """

    quality: str = "recall"
    at_least: float | None = None
    max_bytes: int | None = None
    max_encode_us: float | None = None
    max_query_ms: float | None = None
    max_memory_bytes: int | None = None
    minimise: str | None = None

    def __post_init__(self) -> None:
        if self.quality not in QUALITIES:
            raise ArgumentError(
                f"quality must be {', '.join(QUALITIES)}, got {self.quality!r}"
            )
        if self.at_least is not None and not 0 < self.at_least <= 1:
            raise ArgumentError(
                f"{self.quality} lies above 0 and at most 1, got {self.at_least:g}"
            )
        for most in (self.max_bytes, self.max_memory_bytes):
            if most is not None and most < 1:
                raise ArgumentError(f"an item takes a byte at least, got {most}")
        if self.max_encode_us is not None and not self.max_encode_us > 0:
            raise ArgumentError(
                f"encoding takes more than 0 microseconds, got {self.max_encode_us:g}"
            )
        if self.max_query_ms is not None and not self.max_query_ms > 0:
            raise ArgumentError(
                f"a query takes more than 0 milliseconds, got {self.max_query_ms:g}"
            )
        bounds = self.at_least, self.max_bytes, self.max_memory_bytes, *self._max_times
        if {*bounds} == {None}:
            raise ArgumentError(
                "give a target: a minimum quality, a maximum of bytes or of time "
                "(--recall 0.9, --bytes 32, --memory-bytes 32, --encode-us 20 or "
                "--query-ms 1)"
            )
        self._check_minimised()

    def _check_minimised(self) -> None:
        if self.minimise is None:
            return
        if self.minimise not in MINIMISED:
            raise ArgumentError(
                f"minimise must be {' or '.join(MINIMISED)}, got {self.minimise!r}"
            )
        if self.at_least is None:
            raise ArgumentError(
                f"a minimum quality is needed to minimise {self.minimise}, such as a "
                f"{self.quality} of 0.9"
            )

    @property
    def _max_times(self) -> tuple[float | None, float | None]:
        return self.max_encode_us, self.max_query_ms

    @property
    def objective(self) -> str:
        """The quantity that is optimised within the bounds."""
        if self.at_least is None:
            return "quality"
        if self.minimise or self.max_bytes is None:
            return "bytes"
        return "encode time" if self.max_encode_us is None else "quality"

    @property
    def named(self) -> str:
        """The quality with its article."""
        return (
            f"an {self.quality}" if self.quality == "accuracy" else f"a {self.quality}"
        )

    @property
    def max_code_bytes(self) -> int | None:
        """The most that a code may take, which is in memory and on disk."""
        bounds = self.max_bytes, self.max_memory_bytes
        return min((each for each in bounds if each is not None), default=None)

    @property
    def max_code_bytes_named(self) -> str:
        """The same with its noun."""
        return _bytes(self.max_code_bytes or 0)

    @property
    def counts_memory(self) -> bool:
        """True if the choice depends on bytes in memory."""
        return self.max_memory_bytes is not None or self.minimise == "memory"

    @property
    def cost(self) -> str:
        """The cost to draw quality against: bytes, memory or encode time."""
        if self.goes_by_time:
            return "encode time"
        on_disk = self.objective == "bytes" and self.minimise != "memory"
        return "memory" if self.counts_memory and not on_disk else "bytes"

    def sizes(self, found: Measured) -> tuple[int, ...]:
        """Return the bytes that the choice depends on, first those to minimise."""
        sizes = (found.bytes_per_item, found.memory_bytes)
        if self.minimise == "memory":
            return sizes[::-1]
        return sizes if self.counts_memory else sizes[:1]

    @property
    def goes_by_time(self) -> bool:
        """True if the choice depends on the time to encode."""
        return self.max_encode_us is not None or self.objective == "encode time"

    @property
    def screening(self) -> Self:
        """The same for times that were measured once, and may be taken again."""
        encode, query = (
            each if each is None else (1 + _TIME_DOUBT) * each
            for each in self._max_times
        )
        return replace(self, max_encode_us=encode, max_query_ms=query)

    def affords(self, found: Measured) -> bool:
        """Return whether the costs meet their bounds, the time by a margin.

        A time at the bound in one measurement exceeds it in half of all others.
        """
        sizes = found.bytes_per_item, found.memory_bytes
        return self.affords_bytes(*sizes) and self.meets_times(found, _TIME_MARGIN)

    def meets_times(self, found: Measured, margin: float = 0.0) -> bool:
        """Return whether both times meet their bounds, by a margin of these."""
        times = found.encode_us, found.query_us / 1000
        return all(
            most is None or time <= (1 - margin) * most
            for time, most in zip(times, self._max_times, strict=True)
        )

    def affords_bytes(self, on_disk: int, in_memory: int) -> bool:
        """Return whether an item may take so many bytes."""
        bounds = (on_disk, self.max_bytes), (in_memory, self.max_memory_bytes)
        return all(most is None or size <= most for size, most in bounds)

    def affords_vectors(self, n_features: int) -> bool:
        """Return whether a vector may be kept beside a code, in some precision."""
        least = min(vector_bytes(kind, n_features) for kind in KEPT.values())
        return self.max_bytes is None or self.max_bytes > least

    def meets(self, found: Measured) -> bool:
        """Return whether all bounds are met.

        A quality must exceed its bound by a standard error: of many configurations, the
        one that just passes on these queries would fail on half of all others.
        """
        if self.at_least is None:
            return self.affords(found)
        return self.affords(found) and found.quality - found.error >= self.at_least

    def rank(self, found: Measured) -> tuple[Any, ...]:
        """Return a key that sorts the best first; where all cost too much, the nearest.

        Configurations within all cost bounds come first, by quality.
        """
        quality = -round(found.quality, _DIGITS)
        sizes, shortlist = self.sizes(found), found.configuration.shortlist or 0
        costs = *sizes, shortlist
        if not self.affords(found):
            return 2, self._excess(found), quality, *costs
        if not self.meets(found):
            return 1, quality, *costs
        scan = found.outrun_by_scan
        if self.objective == "bytes":
            return 0, scan, *sizes, quality, shortlist
        if self.objective == "encode time":
            return 0, scan, _magnitude(found.encode_us), quality, *costs
        return 0, scan, quality, *costs

    def _excess(self, found: Measured) -> float:
        """Return the metric that misses its bound by most, in units of that bound.

        A time counts as all that are about as long: measuring it varies by more.
        """
        shares = [1.0]
        if self.at_least is not None:
            sure = found.quality - found.error
            shares.append(self.at_least / max(sure, 10.0**-_DIGITS))
        if self.max_bytes is not None:
            shares.append(found.bytes_per_item / self.max_bytes)
        if self.max_memory_bytes is not None:
            shares.append(found.memory_bytes / self.max_memory_bytes)
        if self.max_encode_us is not None:
            most = (1 - _TIME_MARGIN) * self.max_encode_us
            shares.append(_rounded(found.encode_us) / most)
        if self.max_query_ms is not None:
            most = (1 - _TIME_MARGIN) * self.max_query_ms
            shares.append(_rounded(found.query_us) / 1000 / most)
        return round(max(shares), _DIGITS)

    def described(self) -> str:
        """Return the bounds in words."""
        bounds = []
        if self.at_least is not None:
            bounds.append(f"{self.named} of {self.at_least:g}")
        if self.max_bytes is not None:
            bounds.append(f"{_bytes(self.max_bytes)} per item")
        if self.max_memory_bytes is not None:
            bounds.append(f"{_bytes(self.max_memory_bytes)} per item in memory")
        if self.max_encode_us is not None:
            bounds.append(f"{self.max_encode_us:g} microseconds to encode")
        if self.max_query_ms is not None:
            bounds.append(f"{self.max_query_ms:g} milliseconds per query")
        first, *others = bounds
        return f"{first} with {' and '.join(others)}" if others else first


def _bytes(n: int) -> str:
    return "1 byte" if n == 1 else f"{n} bytes"


def frontier(found: Iterable[Measured], target: Target) -> list[Measured]:
    """Return the Pareto frontier of bytes and quality, fewest bytes first.

    And of encode time and bytes in memory, where the choice depends on them. Of equals
    the shorter shortlist stays.

    Parameters
    ----------
    found : iterable of Measured
        Of the same number of items.
    target : Target
        Says what counts.

    Returns
    -------
    list of Measured
    """
    order = sorted(found, key=lambda each: _point(each, target))
    kept: list[Measured] = []
    for each in order:
        if not any(_covers(other, each, target) for other in kept):
            kept.append(each)
    return kept


def _point(found: Measured, target: Target) -> tuple[float, ...]:
    """Return the costs to compare (less is better), and the order of equals."""
    fast = 0.0
    if target.goes_by_time:
        bounded = target.max_encode_us is not None
        fast = found.encode_us if bounded else _magnitude(found.encode_us)
    quality, shortlist = round(found.quality, _DIGITS), found.configuration.shortlist
    return (*target.sizes(found), -quality, fast, shortlist or 0)


def _magnitude(encode_us: float) -> float:
    """Return a time rounded to a part of a doubling; less is not worth any quality."""
    return float(round(_PARTS_OF_TWO * math.log2(max(encode_us, 1.0))))


def _rounded(encode_us: float) -> float:
    """Return the middle of the part of a doubling that a time lies in."""
    return math.exp2(_magnitude(encode_us) / _PARTS_OF_TWO)


def _covers(one: Measured, other: Measured, target: Target) -> bool:
    mine, theirs = _point(one, target)[:-1], _point(other, target)[:-1]
    return all(a <= b for a, b in zip(mine, theirs, strict=True))


def survivors(
    found: Sequence[Measured], target: Target, share: float
) -> list[Measured]:
    """Return the candidates to measure with more rows, one for each learner.

    The better `share` by the target, and whatever is on the frontier.
    """
    best: dict[str, Measured] = {}
    for each in sorted(found, key=target.rank):
        best.setdefault(each.configuration.learner.key, each)
    ranked = list(best.values())
    n = max(2, round(share * len(ranked)))
    within = [each for each in found if target.affords(each)]
    wanted = {each.configuration.learner.key for each in frontier(within, target)}
    wanted |= {each.configuration.learner.key for each in ranked[:n]}
    return [each for each in ranked if each.configuration.learner.key in wanted]
