"""Means over seeds, paired differences, their intervals, and verdicts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scipy import stats

from research.core.record import Record
from research.core.summary import summarize

CONFIDENCE = 0.95
Verdict = Literal["holds", "undecided", "does not hold"]
VERDICTS: tuple[Verdict, ...] = ("holds", "undecided", "does not hold")


@dataclass(frozen=True)
class Effect:
    """A mean with the standard error of the mean over `n` values.

    `exact` says that no chance is in it, as in a count or a time that is the least of
    several: its interval is the value itself.
    """

    mean: float
    error: float
    n: int
    exact: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean, by Student's t."""
        if self.exact:
            return self.mean, self.mean
        if self.n < 2:
            return -math.inf, math.inf
        t = float(stats.t.ppf((1 + CONFIDENCE) / 2, self.n - 1))
        return self.mean - t * self.error, self.mean + t * self.error


def effect(values: Sequence[float], *, exact: bool = False) -> Effect:
    """Return the mean of values and its standard error."""
    return Effect(*summarize(values), exact)


def verdict(found: Effect, least: float, most: float = math.inf) -> Verdict:
    """Return whether the effect lies between two bounds.

    It holds where the whole interval does, does not hold where none of it does, and is
    undecided where the interval reaches a bound.
    """
    low, high = found.interval
    if low >= least and high <= most:
        return "holds"
    return "does not hold" if high < least or low > most else "undecided"


BySeed = Mapping[int | None, float]


def paired(left: BySeed, right: BySeed, *, ratio: bool = False) -> list[float]:
    """Return left minus right, or left over right, of the seeds that both have.

    A side without a seed, such as a fixed reference, stands beside every seed.
    """
    if None in right and None not in left:
        right = dict.fromkeys(left, right[None])
    both = [(left[seed], right[seed]) for seed in left if seed in right]
    return [a / b if ratio else a - b for a, b in both]


def metric_of(record: Record, name: str) -> float | None:
    """Return a metric, or None where a record lacks it.

    Parameters
    ----------
    record : Record
    name : str
        ``ann_map``, or a path into nested metrics such as ``rules/radius 0/1``.
    """
    found: Any = record.metrics
    for key in name.split("/"):
        if isinstance(found, list):
            found = found[int(key)] if int(key) < len(found) else None
        else:
            found = found.get(key) if isinstance(found, Mapping) else None
    return None if found is None else float(found)


Setting = tuple[tuple[str, Any], ...]


def by_setting(
    records: Iterable[Record], metric: str
) -> dict[Setting, dict[int | None, float]]:
    """Return a metric by setting, then by seed."""
    found: dict[Setting, dict[int | None, float]] = {}
    for record in records:
        value = metric_of(record, metric)
        if value is not None:
            at = tuple(sorted(record.settings.items()))
            found.setdefault(at, {})[record.seed] = value
    return found


def over_seeds(records: Iterable[Record], metric: str) -> dict[Setting, Effect]:
    """Return the mean of a metric over seeds, by setting."""
    return {
        at: effect(list(seeds.values()))
        for at, seeds in by_setting(records, metric).items()
    }
