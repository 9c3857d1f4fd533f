"""Differences between measurements, paired by seed, and what they say of a claim."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from scipy import stats

from experiments._cells import Cell
from experiments._summary import Pick, mean_and_error, shown

At = TypeVar("At")
#: Mean, standard error, and the number of seeds or one more than degrees of freedom.
Gap = tuple[float, float, float]
#: What a measurement was made with, other than data, method and seed, by name.
Setting = tuple[tuple[str, Any], ...]
#: Of each setting, by seed.
Values = dict[Setting, dict[int, float]]

CONFIDENCE = 0.95
#: For pages with verdicts.
RULE = f"""A verdict is given where the {CONFIDENCE:.0%} confidence interval of the mean
(Student's t, seeds being few) does not reach the margin; else, or with one seed, it is
not decided."""
#: For claims on all lengths.
OF_LENGTHS = """A claim on several lengths holds where it holds at each; named is one
that refutes it, else one that leaves it open, and of these the one that is farthest
from the margin."""
#: From what is best for a claim to what is worst.
VERDICTS = HOLDS, UNDECIDED, FAILS = "holds", "not decided", "**does not hold**"
APART = ("data", "method", "seed")
LABELS = {
    "bits": "{} bits",
    "each": "{} per class",
    "examples": "{} examples",
    "known": "{} known classes",
    "block": "blocks of {}",
    "samples": "{:,} samples",
    "tuned": "tuned at {}",
    "met": "met at {}",
}


def values_of(cells: Iterable[Cell], method: str, pick: Pick) -> Values:
    """Return what `pick` takes from the figures of a method, where it does."""
    found: Values = {}
    for cell in cells:
        value = pick(cell["figures"])
        if cell["cell"]["method"] == method and value is not None:
            kept = {k: v for k, v in cell["cell"].items() if k not in APART}
            seed = cell["cell"]["seed"]
            found.setdefault(tuple(sorted(kept.items())), {})[seed] = value
    return found


def tagged(values: Values, **more: Any) -> Values:
    """Return the values with more said about their settings."""
    return {
        tuple(sorted({**dict(at), **more}.items())): found
        for at, found in values.items()
    }


def only(values: Values, **wanted: Any) -> Values:
    """Return the values of some settings."""
    return {
        at: found
        for at, found in values.items()
        if all(dict(at).get(name) == value for name, value in wanted.items())
    }


def without(values: Values, name: str) -> Values:
    """Return the values with a part of their settings left out."""
    return {
        tuple(pair for pair in at if pair[0] != name): found
        for at, found in values.items()
    }


def minus(one: Values, other: Values) -> Values:
    """Return differences of the same settings and seeds.

    What has no length stands beside every length.
    """
    found: Values = {}
    for at, mine in one.items():
        peers = other.get(at) or other.get(_without_length(at), {})
        seeds = sorted(set(mine) & set(peers))
        both = {seed: mine[seed] - peers[seed] for seed in seeds}
        if both:
            found[at] = both
    return found


def _without_length(at: Setting) -> Setting:
    return tuple(sorted({**dict(at), "bits": 0}.items()))


def steps(values: Values, over: str) -> Values:
    """Return what each step to a larger `over` adds, named by the larger one."""
    found: Values = {}
    for line in _lines(values, over):
        for (_, less), (at, more) in pairwise(line):
            found |= minus({at: more}, {at: less})
    return found


def ends(values: Values, over: str) -> Values:
    """Return what the largest `over` has beyond the smallest."""
    found: Values = {}
    for line in _lines(values, over):
        at, more = line[-1]
        if len(line) > 1:
            found |= minus({at: more}, {at: line[0][1]})
    return found


def _lines(values: Values, over: str) -> list[list[tuple[Setting, dict[int, float]]]]:
    """Return settings that differ in `over` only, rising."""
    lines: dict[Setting, list[tuple[Setting, dict[int, float]]]] = {}
    for at, found in sorted(values.items(), key=lambda item: dict(item[0])[over]):
        rest = tuple(pair for pair in at if pair[0] != over)
        lines.setdefault(rest, []).append((at, found))
    return list(lines.values())


def over_seeds(gaps: Values) -> dict[Setting, Gap]:
    """Return mean and error of each setting."""
    return {at: mean_and_error(list(each.values())) for at, each in gaps.items()}


def overall(gaps: Values) -> Gap | None:
    """Return mean and error of the means over settings; None if no seed has all."""
    seeds = set.intersection(*(set(each) for each in gaps.values()))
    if not seeds:
        return None
    return mean_and_error(
        [
            sum(each[seed] for each in gaps.values()) / len(gaps)
            for seed in sorted(seeds)
        ]
    )


def of_independent(gaps: Sequence[Gap]) -> Gap:
    """Return mean and error of means whose draws have nothing in common.

    The degrees of freedom are those of Welch and Satterthwaite.
    """
    mean = sum(gap[0] for gap in gaps) / len(gaps)
    if any(n < 2 for *_, n in gaps):
        return mean, math.nan, 1
    variance = sum(error**2 for _, error, _ in gaps)
    freedom = sum(n - 1 for *_, n in gaps)
    if variance:
        freedom = variance**2 / sum(error**4 / (n - 1) for _, error, n in gaps)
    return mean, math.sqrt(variance) / len(gaps), 1 + freedom


def named(at: Setting) -> str:
    """Return ``64 bits, 20 per class``."""
    return ", ".join(_labels(at))


def _labels(at: Setting) -> Iterator[str]:
    for name, value in at:
        if value:  # a control has 0 bits
            text = LABELS.get(name, "{}").format(value)
            yield text.removesuffix("s") if value == 1 else text


def said(gap: Gap, excess: float, *, exact: bool = False) -> str:
    """Return a difference and whether it lies within its margin.

    Parameters
    ----------
    excess : float
        By how much it misses the margin.
    exact : bool
        Whether no chance is in it.
    """
    return f"{word(gap, excess, exact=exact)}: {signed(gap)}"


def word(gap: Gap, excess: float, *, exact: bool = False) -> str:
    """Return whether a claim holds, or that it is not decided.

    It is decided where the confidence interval of the mean does not reach the margin:
    that of Student's t, as errors of a few seeds are themselves uncertain. One seed has
    no interval, and decides nothing.
    """
    spread = 0.0 if exact else interval(gap)
    if excess <= -spread:
        return HOLDS
    return FAILS if excess > spread else UNDECIDED


def telling(
    gaps: Iterable[tuple[At, Gap]], excess_of: Callable[[Gap], float]
) -> tuple[At, Gap]:
    """Return the setting that decides on a claim about all of them, and its gap.

    That is one which refutes the claim, else one which leaves it open, else any; of
    several the one that misses the margin by most.
    """

    def against(item: tuple[At, Gap]) -> tuple[int, float]:
        excess = excess_of(item[1])
        return VERDICTS.index(word(item[1], excess)), excess

    return max(gaps, key=against)


def interval(gap: Gap) -> float:
    """Return half the width of the confidence interval; NaN for one seed."""
    _, error, n = gap
    return (
        float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error if n > 1 else math.nan
    )


def signed(gap: Gap) -> str:
    """Return ``+.005 ± .002``."""
    mean, error, _ = gap
    return f"{'+' if mean >= 0 else '-'}{shown(abs(mean), error)}"
