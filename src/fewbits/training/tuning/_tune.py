"""Rounds with more and more rows, in which ever fewer candidates take part."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.codes._arguments import check_k
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.training._fit import features_of
from fewbits.training._methods import (
    SUPERVISED,
    check_seed,
    decides_length,
    make_learner,
)
from fewbits.training.tuning._candidates import candidates, default_methods, lengths
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._journal import Journal, digest
from fewbits.training.tuning._learning import grouped, learn
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._target import Target, frontier, survivors
from fewbits.training.tuning._trial import Parts, Trial, sizes, split

Progress = Callable[[int, int], None]

_FEWEST_ROWS = 200
_MOST_QUERIES, _QUERY_SHARE = 1000, 8  # an eighth of the rows, twice
_LEAST_ROUND, _ROWS_PER_NEIGHBOUR = 2000, 20
_KEPT = 1 / 3
_HALVINGS = 3


@dataclass(frozen=True)
class Tuning:
    """What was found.

    Attributes
    ----------
    target : Target
    k : int
        Neighbours that count.
    best : Measured
        The choice, by the queries that chose it.
    reported : Measured
        The same on queries that had no part in the choice: what it is worth.
    frontier : list of Measured
        What nothing else beats, of the round with the most rows.
    measured : list of Measured
        All of that round.
    reached : bool
        Whether the choice keeps the bounds of the target.
    """

    target: Target
    k: int
    best: Measured
    reported: Measured
    frontier: list[Measured]
    measured: list[Measured]
    reached: bool

    @property
    def configuration(self) -> Configuration:
        """The choice: `fewbits.training.fit_bundle` and `fewbits fit` take it."""
        return self.best.configuration

    @property
    def measure(self) -> str:
        """What the quality is, such as ``recall@10``."""
        name = self.target.quality
        return name if name == "map" else f"{name}@{self.k}"

    def save(self, path: str | Path) -> None:
        """Write the choice, and beside it what it is worth."""
        figures = {"measure": self.measure, **self.reported.figures()}
        self.configuration.save(path, figures)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "measure": self.measure,
            "reached": self.reached,
            "best": self.best.as_dict(),
            "reported": self.reported.figures(),
            "frontier": [each.as_dict() for each in self.frontier],
        }


def tune(
    source: Input,
    target: Target,
    *,
    methods: Sequence[str] | None = None,
    n_bits: Sequence[int] | None = None,
    k: int = 10,
    backbone: str | None = None,
    random_state: int = 0,
    minutes: float | None = None,
    max_rows: int = 200_000,
    journal: str | Path | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Find how to learn and search codes, by measuring on held-out queries.

    Every candidate is learnt from a sixteenth of the rows or so and searched among
    them; the better third by the target, and what is on the frontier of bytes and
    quality, go on with four times as many, until all rows take part. An eighth of the
    rows, 1000 at most, are the queries that choose. As many others tell what the
    choice is worth.

    Parameters
    ----------
    source : Input
        What the codes will be made for; labels are what ``quality="map"`` and
        ``"accuracy"`` go by.
    target : Target
    methods : sequence of str, default=None
        Keys of `fewbits.training.METHODS`; by default those that are worth it.
    n_bits : sequence of int, default=None
        Lengths to try; by default powers of two, and all that the bytes allow.
    k : int, default=10
        Neighbours that count, for recall and for votes.
    backbone : str, default=None
        As for `fewbits.training.fit_bundle`.
    random_state : int, default=0
        Seeds the parts and the learners.
    minutes : float, default=None
        After so long nothing new is begun, but for the choice itself; each round has
        its share.
    max_rows : int, default=200_000
        Rows that take part at most, beside the queries.
    journal : str or Path, default=None
        A file that keeps every measurement; a later call, after an interrupt or with
        another target, goes on from there.
    progress : callable, default=None
        Called with (candidates done, candidates of this round).

    Returns
    -------
    Tuning

    Raises
    ------
    ArgumentError
        When there are too few rows, labels are missing, or nothing can be tried.
    ArtefactError
        When the journal is of other data or settings.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    >>> found = tune(Input("vectors", X, None, "X"), Target(max_bytes=4),
    ...              methods=["lsh", "itq"], n_bits=[16, 32])
    >>> found.configuration.n_bits, found.reported.bytes_per_item
    (32, 4)
    """
    _check(source, target, minutes)
    check_seed(random_state)
    X = features_of(source, backbone, progress)
    y = source.labels
    n_queries = min(_MOST_QUERIES, len(X) // _QUERY_SHARE)
    parts = split(X, y, n_queries, random_state)
    parts = replace(parts, learn=parts.learn[:max_rows])
    if check_k(k) > len(parts.learn) // 2:
        raise ArgumentError(f"{len(parts.learn)} items are too few for k={k}")
    wanted = _candidates(target, methods, n_bits, X.shape[1], random_state, y)
    about = {
        "data": digest(X, y),
        "quality": target.quality,
        "k": int(k),
        "random_state": random_state,
        "max_rows": max_rows,
    }
    kept = Journal(None if journal is None else Path(journal), about)
    race = _Race(parts, target, int(k), kept, minutes, progress)
    measured = race.run(wanted)
    best = min(measured, key=target.rank)
    tuning = Tuning(
        target=target,
        k=int(k),
        best=best,
        reported=race.report(best),
        frontier=frontier(measured, target),
        measured=measured,
        reached=target.meets(best),
    )
    return _named(tuning, backbone)


class _Race:
    """The rounds, and what they need."""

    def __init__(
        self,
        parts: Parts,
        target: Target,
        k: int,
        journal: Journal,
        minutes: float | None,
        progress: Progress | None,
    ) -> None:
        self.parts, self.target, self.k, self.journal = parts, target, k, journal
        self.start = time.monotonic()
        self.seconds = np.inf if minutes is None else 60 * minutes
        self.progress = progress
        self.encoders: dict[str, Encoder] = {}  # of the last round

    def run(self, wanted: list[Configuration]) -> list[Measured]:
        """Return what was measured in the round with the most rows."""
        least = max(_LEAST_ROUND, _ROWS_PER_NEIGHBOUR * self.k)
        planned = list(sizes(len(self.parts.learn), least))
        latest: list[Measured] = []
        for i, n_items in enumerate(planned, 1):
            trial = self.parts.trial(n_items, self.target.quality, self.k)
            last = i == len(planned)
            until = self.start + self.seconds * i / len(planned)
            latest = self._round(trial, wanted, until, last) or latest
            if not latest:
                raise ArgumentError(
                    f"nothing suits these {len(self.parts.X):,} items: "
                    f"{wanted[0].described()} cannot be learnt from them"
                )
            ranked = survivors(latest, self.target, _KEPT)
            wanted = [each.configuration.learner for each in ranked]
        return latest + self._shortened(trial, latest, until)

    def _round(
        self, trial: Trial, wanted: list[Configuration], until: float, last: bool
    ) -> list[Measured]:
        """Measure in the order given, until the time is up; the first always."""
        found: list[Measured] = []
        done = 0
        for group in grouped(wanted, alone=last):
            if not found or time.monotonic() < until:
                found += self._measured(trial, group, last)
            done += len(group)
            if self.progress is not None:
                self.progress(done, len(wanted))
        return found

    def _measured(
        self, trial: Trial, group: list[Configuration], last: bool
    ) -> list[Measured]:
        n_items, nested = len(trial.X), not last
        missing = [e for e in group if self.journal.get(n_items, e, nested) is None]
        fitted = learn(missing, trial.X, trial.y) if missing else ()
        for each, encoder, seconds in fitted:
            if last:
                self.encoders[each.key] = encoder
            figures = trial.measure(encoder, trial.searches(each), seconds)
            self.journal.put(n_items, each, nested, figures)
        for each in missing:  # what the data do not suit is not tried again
            if self.journal.get(n_items, each, nested) is None:
                self.journal.put(n_items, each, nested, [])
        known = [self.journal.get(n_items, each, nested) for each in group]
        return [figures for each in known for figures in each or []]

    def _shortened(
        self, trial: Trial, latest: list[Measured], until: float
    ) -> list[Measured]:
        """Halve the step below the best length, where bytes are to be saved."""
        best = min(latest, key=self.target.rank)
        found: list[Measured] = []
        if self.target.objective != "bytes" or not self.target.meets(best):
            return found
        good, bad = best.configuration, _next_shorter(best, latest)
        for _ in range(_HALVINGS):
            middle = ((good.n_bits or 0) + bad) // 16 * 8
            if not bad < middle < (good.n_bits or 0) or time.monotonic() > until:
                break
            shorter = good.learner.changed(n_bits=middle)
            figures = self._measured(trial, [shorter], last=True)
            found += figures
            if any(self.target.rank(e) < self.target.rank(best) for e in figures):
                best = min(figures, key=self.target.rank)
                good = best.configuration
            else:
                bad = middle
        return found

    def report(self, best: Measured) -> Measured:
        """Return the figures of the choice on the other queries, with all rows."""
        trial = self.parts.trial(
            len(self.parts.learn), self.target.quality, self.k, last=True
        )
        chosen, seconds = best.configuration, best.fit_seconds
        encoder = self.encoders.get(chosen.learner.key)
        if encoder is None:
            ((_, encoder, seconds),) = learn([chosen], trial.X, trial.y)
        return trial.measure(encoder, [chosen], seconds)[0]


def _next_shorter(best: Measured, measured: Sequence[Measured]) -> int:
    """Return the longest length below the best one that was tried with its method."""
    chosen = best.configuration
    if chosen.n_bits is None:
        return 0
    tried = [each.configuration for each in measured]
    shorter = [
        each.n_bits
        for each in tried
        if each.changed(n_bits=chosen.n_bits).learner.key == chosen.learner.key
        and each.n_bits is not None
        and each.n_bits < chosen.n_bits
    ]
    return max(shorter, default=chosen.n_bits // 2)


def _check(source: Input, target: Target, minutes: float | None) -> None:
    if len(source) < _FEWEST_ROWS:
        raise ArgumentError(
            f"{len(source)} items are too few to tune on: {_FEWEST_ROWS} are needed, a "
            f"quarter of them as queries"
        )
    if minutes is not None and not minutes > 0:
        raise ArgumentError(f"minutes must be above 0, got {minutes:g}")
    if target.quality == "recall":
        return
    if source.labels is None:
        raise ArgumentError(
            f"{target.quality} goes by labels, and {source.source} comes without: name "
            "their column (on the command line by --labels)"
        )
    if target.quality == "accuracy" and source.labels.ndim > 1:
        raise ArgumentError("votes are for one label per item; take map instead")


def _candidates(
    target: Target,
    methods: Sequence[str] | None,
    n_bits: Sequence[int] | None,
    n_features: int,
    seed: int,
    y: NDArray[Any] | None,
) -> list[Configuration]:
    chosen = tuple(dict.fromkeys(methods or default_methods(target)))
    for method in chosen:
        if method in SUPERVISED and y is None:
            raise ArgumentError(f"{method} learns from labels, and there are none")
        if not decides_length(method):
            for length in n_bits or ():
                make_learner(method, length, seed, {})._check_parameters()
    made = candidates(chosen, lengths(target, n_features, n_bits), n_features, seed)
    if not made:
        raise ArgumentError(f"there is nothing to try of {', '.join(chosen)}")
    return made


def _named(tuning: Tuning, backbone: str | None) -> Tuning:
    """Return the choice with the backbone that was asked for."""
    if not backbone:
        return tuning
    best, reported = (
        replace(each, configuration=replace(each.configuration, backbone=backbone))
        for each in (tuning.best, tuning.reported)
    )
    return replace(tuning, best=best, reported=reported)
