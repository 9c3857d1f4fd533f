"""Claims of papers, read from ``claims.toml`` and judged by records."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from research.core.compare import (
    VERDICTS,
    BySeed,
    Effect,
    Setting,
    by_setting,
    effect,
    paired,
    verdict,
)
from research.core.record import Record

#: Says how a cell was measured otherwise than the paper does, or nothing.
Differs = Callable[[Record], str]
NOT_AS_STATED = "not tested as stated"


@dataclass(frozen=True)
class Claim:
    """A claim as the paper states it, and how it is tested.

    Attributes
    ----------
    says, where : str
        The claim in the paper's words or near them, and its place there.
    part, metric : str
        Of the records; see `metric_of`.
    left, right : mapping
        Settings of the two sides. What neither names is the same on both. Without a
        right side the claim is on the metric itself; where several settings match it,
        on each of them.
    only : mapping
        Conditions on the left side's settings: a value, a list of values, or bounds
        such as ``{above = 0.25, most = 1}`` (``least``, ``most``, ``above``,
        ``below``).
    test : {"difference", "ratio"}
        Left minus right, or left over right, paired by seed.
    least, most : float
        The bounds that the effect lies within where the claim holds.
    ignore : sequence of str
        Settings in which the sides may differ.
    along : str
        Compare each value of this setting with the next smaller one, in place of
        `right`.
    each : str
        The setting that a verdict is given for each value of.
    exact : bool
        No chance is in the metric.
    differs : str
        How this differs from what the paper states.
    """

    says: str
    where: str
    part: str
    metric: str
    left: Mapping[str, Any]
    right: Mapping[str, Any] = field(default_factory=dict)
    only: Mapping[str, Any] = field(default_factory=dict)
    test: str = "difference"
    least: float = -inf
    most: float = inf
    ignore: Sequence[str] = ()
    along: str = ""
    each: str = "data"
    exact: bool = False
    differs: str = ""


@dataclass(frozen=True)
class Finding:
    """The outcome of a claim at one setting."""

    claim: Claim
    setting: Setting
    effect: Effect
    differs: str = ""
    beside: Setting = ()  # the right side's

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`, or that the claim is not tested as stated."""
        return NOT_AS_STATED if self.differs else self.holds

    @property
    def holds(self) -> str:
        """The verdict on what was tested."""
        return verdict(self.effect, self.claim.least, self.claim.most)

    @property
    def against(self) -> tuple[int, float]:
        """The weight of evidence against the claim: the verdict, then the effect."""
        excess = max(self.claim.least - self.effect.mean, -inf)
        return VERDICTS.index(self.holds), max(
            excess, self.effect.mean - self.claim.most
        )


def load(path: Path) -> tuple[str, list[Claim]]:
    """Return the paper's reference and its claims; ``usual`` holds what most share."""
    found = tomllib.loads(path.read_text("utf-8"))
    usual = found.get("usual", {})
    return found["paper"], [Claim(**usual | each) for each in found["claim"]]


def judge(
    claim: Claim, records: Iterable[Record], differs: Differs = lambda _: ""
) -> list[Finding]:
    """Return the finding that decides, for each value of `claim.each`.

    Of several settings that is one which refutes the claim, else one which leaves it
    open; settings that are tested as stated go before others.
    """
    groups: dict[Any, list[Finding]] = {}
    for finding in findings(claim, list(records), differs):
        groups.setdefault(dict(finding.setting).get(claim.each), []).append(finding)
    return [_deciding(found) for found in groups.values()]


def _deciding(found: list[Finding]) -> Finding:
    stated = [each for each in found if not each.differs] or found
    return max(stated, key=lambda each: each.against)


def findings(
    claim: Claim, records: Sequence[Record], differs: Differs
) -> Iterator[Finding]:
    """Yield what is found at every setting that the claim is about."""
    mine = [record for record in records if record.part == claim.part]
    said = {_at(record): differs(record) for record in mine}
    for at, other, left, right in _pairs(claim, by_setting(mine, claim.metric)):
        values = paired(left, right, ratio=claim.test == "ratio")
        if values:
            why = claim.differs or said.get(at) or said.get(other) or ""
            yield Finding(claim, at, effect(values, exact=claim.exact), why, other)


Pair = tuple[Setting, Setting, BySeed, BySeed]


def _pairs(claim: Claim, values: Mapping[Setting, BySeed]) -> Iterator[Pair]:
    """Yield each setting of the left side with its values, and those of the right."""
    left = _matching(values, claim.left)
    left = [at for at in left if meets(dict(at), claim.only)]
    if claim.along:
        yield from _steps(claim, left, values)
        return
    if not claim.right:
        for at in left:
            yield at, at, values[at], {None: 0.0}
        return
    free = {*claim.left, *claim.right, *claim.ignore}
    right: dict[Setting, list[Setting]] = {}
    for at in _matching(values, claim.right):
        right.setdefault(_without(at, free), []).append(at)
    for at in left:
        for other in right.get(_without(at, free), ()):
            yield at, other, values[at], values[other]


def _steps(
    claim: Claim, left: Sequence[Setting], values: Mapping[Setting, BySeed]
) -> Iterator[Pair]:
    """Yield each setting with the one before it along `claim.along`."""
    lines: dict[Setting, list[Setting]] = {}
    for at in sorted(left, key=lambda at: dict(at)[claim.along]):
        rest = _without(at, {claim.along, *claim.ignore})
        lines.setdefault(rest, []).append(at)
    for line in lines.values():
        for less, more in pairwise(line):
            yield more, less, values[more], values[less]


def meets(settings: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Return whether settings meet every condition; see `Claim`."""
    return all(
        name in settings and _meets(settings[name], wanted)
        for name, wanted in conditions.items()
    )


def _meets(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return bool(
            wanted.get("least", -inf) <= value <= wanted.get("most", inf)
            and wanted.get("above", -inf) < value < wanted.get("below", inf)
        )
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)


def with_settings(record: Record, **more: Any) -> Record:
    """Return the record with more settings, as a study derives them for its claims."""
    return replace(record, settings={**record.settings, **more})


def _matching(
    values: Mapping[Setting, BySeed], wanted: Mapping[str, Any]
) -> list[Setting]:
    return [at for at in values if meets(dict(at), wanted)]


def _without(at: Setting, names: set[str]) -> Setting:
    return tuple(pair for pair in at if pair[0] not in names)


def _at(record: Record) -> Setting:
    return tuple(sorted(record.settings.items()))
