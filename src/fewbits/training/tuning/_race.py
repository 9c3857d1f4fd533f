"""Rounds with more and more rows, in which ever fewer candidates take part."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.learners import shared_steps
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._finals import Finals
from fewbits.training.tuning._journal import Journal
from fewbits.training.tuning._learning import grouped, learn
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._target import Target, survivors
from fewbits.training.tuning._trial import Parts, Trial, sizes

Progress = Callable[[int, int], None]

_LEAST_ROUND, _ROWS_PER_NEIGHBOUR = 2000, 20
_KEPT = 1 / 3
_HALVINGS = 3
_KEPT_ENCODERS = 3  # long ones take gigabytes; what is asked for is learnt again
#: What a method may say to some data, or to so many bits.
_REFUSALS = (FewbitsError, MemoryError, np.linalg.LinAlgError)


class Race:
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
        self.vectors = target.affords_vectors(parts.X.shape[1])
        self.encoders: dict[str, Encoder] = {}  # of the last round
        self.refused: dict[str, str] = {}  # why a method could not learn something
        self.n_untried = 0  # for want of time
        self.pace: dict[str, float] = {}  # seconds to learn from a row, so far

    def run(self, wanted: list[Configuration]) -> list[Measured]:
        """Return what was measured in the round with the most rows."""
        least = max(_LEAST_ROUND, _ROWS_PER_NEIGHBOUR * self.k)
        planned = list(sizes(len(self.parts.learn), least))
        latest: list[Measured] = []
        for i, n_items in enumerate(planned, 1):
            trial = self.parts.trial(n_items, self.target.quality, self.k)
            trial = replace(trial, vectors=self.vectors)
            last = i == len(planned)
            until = self.start + self.seconds * i / len(planned)
            latest = self._round(trial, wanted, until, last) or latest
            if not latest:
                reason = next(iter(self.refused.values()), None)
                raise ArgumentError(f"nothing tried suits the items: {reason}")
            self.pace = _pace(latest, alone=last)
            ranked = survivors(latest, self.target.screening, _KEPT)
            wanted = [each.configuration.learner for each in ranked]
        return latest + self._shortened(trial, latest, until)

    def _round(
        self, trial: Trial, wanted: list[Configuration], until: float, last: bool
    ) -> list[Measured]:
        """Measure in the order given, until the time is up; the first always.

        What would not end in time by the pace of fewer rows is not begun.
        """
        found: list[Measured] = []
        done = 0
        self._tell(done, len(wanted))
        with shared_steps():
            for group in grouped(wanted, alone=last):
                missing = self._missing(trial, group, last)
                if not found or self._in_time(until, missing, len(trial.X)):
                    found += self._measured(trial, group, last)
                    self._forget(found)
                else:
                    self.n_untried += len(group)
                done += len(group)
                self._tell(done, len(wanted))
        return found

    def _measured(
        self, trial: Trial, group: list[Configuration], last: bool
    ) -> list[Measured]:
        if missing := self._missing(trial, group, last):
            self._measure(trial, missing, last)
        known = [self._known(trial, each, last) for each in group]
        return [figures for each in known for figures in each or []]

    def _missing(
        self, trial: Trial, group: list[Configuration], last: bool
    ) -> list[Configuration]:
        return [each for each in group if self._known(trial, each, last) is None]

    def _known(
        self, trial: Trial, learner: Configuration, last: bool
    ) -> list[Measured] | None:
        """Return what was measured already, perhaps with more searches than needed."""
        found = self.journal.get(len(trial.X), learner, _kind(last, vectors=True))
        if found is None and not self.vectors:
            found = self.journal.get(len(trial.X), learner, _kind(last, vectors=False))
        return found

    def _measure(self, trial: Trial, group: list[Configuration], last: bool) -> None:
        try:
            fitted = learn(group, trial.X, trial.y)
        except _REFUSALS as error:
            reason = str(error) or "there is not enough memory"
            self.refused.setdefault(group[0].method, reason)
            if shorter := _without_longest(group):
                self._measure(trial, shorter, last)
            return
        for each, encoder, seconds in fitted:
            if last:
                self.encoders[each.key] = encoder
            figures = trial.measure(encoder, trial.searches(each), seconds)
            self.journal.put(len(trial.X), each, _kind(last, self.vectors), figures)

    def _forget(self, found: list[Measured]) -> None:
        """Let go of all encoders but those of the best."""
        ranked = sorted(found, key=self.target.screening.rank)
        keys = dict.fromkeys(each.configuration.learner.key for each in ranked)
        kept = [key for key in keys if key in self.encoders][:_KEPT_ENCODERS]
        self.encoders = {key: self.encoders[key] for key in kept}

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)

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
            if not bad < middle < (good.n_bits or 0):
                break
            shorter = good.learner.changed(n_bits=middle)
            self.pace[shorter.key] = self.pace.get(good.learner.key, 0.0)
            if not self._in_time(until, [shorter], len(trial.X)):
                break
            figures = self._measured(trial, [shorter], last=True)
            found += figures
            if any(self.target.rank(e) < self.target.rank(best) for e in figures):
                best = min(figures, key=self.target.rank)
                good = best.configuration
            else:
                bad = middle
        return found

    def retimed(self, measured: list[Measured]) -> list[Measured]:
        """Return the figures, with better times of the best where times decide."""
        if not self.target.goes_by_time:
            return measured
        queries = np.ascontiguousarray(self.parts.X[self.parts.choose])
        return Finals(self.target, queries, self._encoder, self._in_time).run(measured)

    def _encoder(self, learner: Configuration) -> Encoder:
        if learner.key not in self.encoders:
            trial = self.parts.trial(len(self.parts.learn), self.target.quality, self.k)
            ((_, self.encoders[learner.key], _),) = learn([learner], trial.X, trial.y)
        return self.encoders[learner.key]

    def _in_time(
        self,
        until: float = np.inf,
        group: Sequence[Configuration] = (),
        n_items: int = 0,
    ) -> bool:
        """Whether there is time to begin, and to learn a group before it is all up."""
        now = time.monotonic()
        expected = n_items * max((self.pace.get(e.key, 0.0) for e in group), default=0)
        return now < until and now + expected < self.start + self.seconds

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


def _pace(measured: Sequence[Measured], *, alone: bool) -> dict[str, float]:
    """Return the seconds to learn from a row: those of all that is learnt together.

    Whose share a code alone takes is not known; its longest takes about all of them.
    """
    shares = {m.configuration.learner.key: m.fit_seconds / m.n_items for m in measured}
    learners = {m.configuration.learner.key: m.configuration.learner for m in measured}
    return {
        each.key: len(group) * shares[each.key]
        for group in grouped(learners.values(), alone=alone)
        for each in group
    }


def _kind(last: bool, vectors: bool) -> str:
    """Name what figures of the same learner and rows may differ by."""
    return f"{'alone' if last else 'nested'}{', with vectors' if vectors else ''}"


def _without_longest(group: list[Configuration]) -> list[Configuration]:
    """Return what is left to learn where the longest is too long for the data."""
    longest = max(each.n_bits or 0 for each in group)
    return [each for each in group if (each.n_bits or 0) < longest]


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
