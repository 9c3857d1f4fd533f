"""Successive halving: rounds with more rows and fewer candidates."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

import numpy as np

from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError
from fewbits.learners.fitting import shared_steps
from fewbits.training.tuning._candidates import is_anchor, stage
from fewbits.training.tuning._clock import Clock, TimeUp
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._finals import Finals
from fewbits.training.tuning._floats import FloatScan
from fewbits.training.tuning._journal import Journal
from fewbits.training.tuning._learning import NESTED_BITS, grouped
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._measuring import Measuring
from fewbits.training.tuning._parts import Parts, sizes
from fewbits.training.tuning._prospects import next_shorter, take_next
from fewbits.training.tuning._target import Target, survivors
from fewbits.training.tuning._trial import Trial
from fewbits.training.tuning._variants import trained_thrice

Progress = Callable[[int, int], None]
Notes = Callable[[str], None]

_LEAST_ROUND, _ROWS_PER_NEIGHBOUR = 2000, 20
_KEPT = 1 / 3
_HALVINGS = 3
_TRAINED_LONGER = 3


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
        notes: Notes | None = None,
    ) -> None:
        self.parts, self.target, self.k = parts, target, k
        self.clock = Clock(minutes)
        self.progress, self.notes = progress, notes
        vectors = target.affords_vectors(parts.X.shape[1])
        self.measuring = Measuring(journal, vectors)
        self.untried: list[Configuration] = []  # for lack of time
        self.stage = ""  # in words

    def run(self, wanted: list[Configuration]) -> list[Measured]:
        """Return the measurements of the round with the most rows."""
        least = max(_LEAST_ROUND, _ROWS_PER_NEIGHBOUR * self.k)
        planned = list(sizes(len(self.parts.learn), least))
        n_shares = len(planned) + any(map(self._trained_thrice, wanted))
        latest: list[Measured] = []
        for i, n_items in enumerate(planned, 1):
            self.stage = f"round {i} of {len(planned)}"
            trial = self._trial(n_items)
            nested = 0 if i == len(planned) else self._nested_up_to(wanted)
            until = self.clock.after(i / n_shares)
            latest = self._round(trial, wanted, until, nested) or latest
            if not latest:
                reason = next(iter(self.measuring.refused.values()), None)
                raise ArgumentError(f"nothing tried suits the items: {reason}")
            self.clock.learn(latest, nested)
            asked = wanted
            ranked = survivors(latest, self.target.screening, _KEPT)
            if i < len(planned):
                ranked += self._quick(latest, ranked, planned[i])
                ranked += self._anchors(latest, ranked)
            wanted = [each.configuration.learner for each in ranked]
        left = sorted(self.untried, key=lambda e: (stage(e), e not in asked))
        latest += self._trained_longer(trial, latest)
        latest += self._shortened(trial, latest)
        return latest + self._made_up(trial, left, latest)

    def _nested_up_to(self, wanted: list[Configuration]) -> int:
        """Return the longest code to be learnt with others where many are compared.

        Where quality is what counts the longest codes are the best, and shorter ones
        must not take their time. Where bytes are, one shows which others to learn.
        """
        if self.target.objective == "bytes":
            return 0
        longest = max(each.n_bits or 0 for each in wanted)
        counts = self.target.objective == "quality"
        return min(longest - 1, NESTED_BITS) if counts else NESTED_BITS

    def _round(
        self,
        trial: Trial,
        wanted: list[Configuration],
        until: float,
        nested: int,
        known: Sequence[Measured] = (),
    ) -> list[Measured]:
        """Measure in the order given, until the time is up; the first in any case.

        Fast candidates come first, in case the time is up, and those that cannot win
        any more last. Candidates that would not end in time, extrapolating from fewer
        rows, are not begun. Those that take up the time of later rounds are stopped:
        they would take longer there. If results with this number of rows are `known`,
        nothing must be measured, and the order is kept.
        """
        found, done = list(known), 0
        is_last = len(trial.X) == len(self.parts.learn)
        end = np.inf if is_last else until
        takes_long = partial(self.clock.takes_long, len(trial.X))
        order = wanted
        if not known:  # quick candidates first, and then `ANCHORS`
            order = sorted(
                wanted, key=lambda each: takes_long(each) and 1 + stage(each)
            )
        self._keep(found)  # nothing of fewer rows
        pending = grouped(order, nested_up_to=nested)
        with shared_steps():
            while pending:
                group = take_next(pending, found, self.target, takes_long)
                self._tell(done, len(wanted), group, found)
                alone = (group[0].n_bits or 1) > nested
                missing = self.measuring.missing(trial, group, alone=alone)
                needed = not found or (not known and wanted[0] in group)
                expected = self.clock.expected(missing, len(trial.X))
                if needed or self.clock.in_time(until, expected):
                    ending = nullcontext() if needed else self.clock.ending(end)
                    found += self._metrics(trial, group, ending, alone=alone)
                    self._keep(found)
                else:
                    self.untried += group
                done += len(group)
        return found[len(known) :]

    def _metrics(
        self,
        trial: Trial,
        group: list[Configuration],
        ending: AbstractContextManager[None] | None = None,
        *,
        alone: bool = True,
    ) -> list[Measured]:
        """Return the metrics within the bytes, none where the time ends a fit."""
        began = self.clock.now()
        try:
            with ending or self.clock.ending():
                found = self.measuring.metrics(trial, group, alone=alone)
        except TimeUp:
            self.untried += group
            self.clock.stopped(group, began, len(trial.X))
            return []
        return [
            each
            for each in found
            if self.target.affords_bytes(each.bytes_per_item, each.memory_bytes)
        ]

    def _keep(self, found: list[Measured]) -> None:
        ranked = sorted(found, key=self.target.screening.rank)
        self.measuring.keep([each.configuration.learner for each in ranked])

    def _tell(
        self,
        done: int,
        total: int,
        group: Sequence[Configuration],
        found: Sequence[Measured],
    ) -> None:
        """Report the current measurement, and the best so far."""
        if self.notes is not None:
            best = min(found, key=self.target.rank, default=None)
            self.notes(f"{self.stage}: {_note(group, best, self.target)}")
        if self.progress is not None:
            self.progress(done, total)

    def _quick(
        self, latest: list[Measured], ranked: list[Measured], n_items: int
    ) -> list[Measured]:
        """Return the best fast candidates that were left out, for this number of rows.

        Methods that learn little lose less than others do with more rows.
        """
        known = {each.configuration.learner.key for each in ranked}
        quick = [
            each
            for each in latest
            if not self.clock.takes_long(n_items, each.configuration.learner)
        ]
        best = min(quick, key=self.target.screening.rank, default=None)
        if best is None or best.configuration.learner.key in known:
            return []
        return [best]

    def _anchors(
        self, latest: list[Measured], ranked: list[Measured]
    ) -> list[Measured]:
        """Return the best of each of `ANCHORS` that was left out."""
        known = {_kind(each) for each in ranked}
        best: dict[str, Measured] = {}
        for each in sorted(latest, key=self.target.screening.rank):
            if is_anchor(each.configuration) and _kind(each) not in known:
                best.setdefault(_kind(each), each)
        return list(best.values())

    def _trained_longer(self, trial: Trial, latest: list[Measured]) -> list[Measured]:
        """Measure the best with three times the training, if it has iterations.

        It helps candidates that are good without, so rounds need not compare it.
        """
        ranked = sorted(latest, key=self.target.screening.rank)
        learners = {e.configuration.learner.key: e.configuration for e in ranked}
        pairs = [
            (learner, longer)
            for learner in learners.values()
            if (longer := self._trained_thrice(learner.learner)) is not None
        ][:_TRAINED_LONGER]
        found: list[Measured] = []
        self.stage = "longer training"
        for i, (learner, longer) in enumerate(pairs):
            self._tell(i, len(pairs), [longer], [*latest, *found])
            expected = 3 * self.clock.expected([learner.learner], len(trial.X))
            if self.clock.in_time(expected=expected):
                found += self._metrics(trial, [longer])
                self._keep(ranked + found)
            else:
                self.untried.append(longer)
        return found

    def _trained_thrice(self, learner: Configuration) -> Configuration | None:
        """Return the configuration with longer training, if there is one and it pays.

        Where bytes or time are minimised, other lengths help more.
        """
        longer = trained_thrice(learner.method, learner.parameters)
        if longer is None or self.target.objective != "quality":
            return None
        return learner.changed(parameters=longer)

    def _shortened(self, trial: Trial, latest: list[Measured]) -> list[Measured]:
        """Halve the step below the best length, where bytes are to be saved."""
        best = min(latest, key=self.target.rank)
        found: list[Measured] = []
        if self.target.objective != "bytes" or not self.target.meets(best):
            return found
        self.stage = "shorter codes"
        good, bad = best.configuration, next_shorter(best, latest)
        for i in range(_HALVINGS):
            middle = ((good.n_bits or 0) + bad) // 16 * 8
            if not bad < middle < (good.n_bits or 0):
                break
            shorter = good.learner.changed(n_bits=middle)
            expected = self.clock.expected([good.learner], len(trial.X))
            if not self.clock.in_time(expected=expected):
                break
            self._tell(i, _HALVINGS, [shorter], [best])
            metrics = self._metrics(trial, [shorter])
            found += metrics
            if any(self.target.rank(e) < self.target.rank(best) for e in metrics):
                best = min(metrics, key=self.target.rank)
                good = best.configuration
            else:
                bad = middle
        return found

    def _made_up(
        self, trial: Trial, left: list[Configuration], latest: list[Measured]
    ) -> list[Measured]:
        """Measure candidates that rounds had no time for, until all time is up.

        Rounds and longer training may end before their share of the time.
        """
        if not left or not self.clock.in_time():
            return []
        self.untried = [each for each in self.untried if each not in left]
        self.stage = "candidates left out for lack of time"
        return self._round(trial, left, np.inf, 0, latest)

    def retimed(self, measured: list[Measured]) -> list[Measured]:
        """Return the metrics, with better times of the best where times decide."""
        if not self.target.goes_by_time:
            return measured
        queries = np.ascontiguousarray(self.parts.X[self.parts.choose])
        trial = self._trial(len(self.parts.learn))

        def encoder_of(learner: Configuration) -> Encoder:
            return self.measuring.encoder(learner, trial)

        finals = Finals(self.target, queries, encoder_of, self.clock.in_time)
        return finals.run(measured)

    def report(self, best: Measured) -> Measured:
        """Return the metrics of the choice on the other queries, with all rows."""
        return self.measuring.report(self._last, best)

    def floats(self) -> list[FloatScan]:
        """Return the metrics of the vectors themselves on the other queries."""
        return self._last.floats()

    @property
    def _last(self) -> Trial:
        return self._trial(len(self.parts.learn), last=True)

    def _trial(self, n_items: int, *, last: bool = False) -> Trial:
        trial = self.parts.trial(n_items, self.target.quality, self.k, last=last)
        return replace(trial, vectors=self.measuring.vectors)


def _kind(found: Measured) -> str:
    """Return what configurations of all lengths have in common."""
    return found.configuration.changed(n_bits=0).learner.key


def _note(group: Sequence[Configuration], best: Measured | None, target: Target) -> str:
    """Return a description of the group being learnt, after the best so far."""
    words = group[0].described()
    if len(group) > 1:
        words = f"{replace(group[0], n_bits=None).described()}, {len(group)} lengths"
    if best is None:
        return words
    return f"best {best.quality:.3f} in {target.sizes(best)[0]:,} bytes; {words}"
