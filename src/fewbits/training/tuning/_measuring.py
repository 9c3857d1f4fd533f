"""Metrics of learners: from the journal, or measured now."""

from collections.abc import Sequence

import numpy as np

from fewbits.encoders import Encoder
from fewbits.errors import FewbitsError
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._journal import Journal
from fewbits.training.tuning._learning import learn
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._trial import Trial

_KEPT_ENCODERS = 3  # long ones take gigabytes; what is asked for is learnt again
#: Errors that a method may raise for some data or lengths.
_REFUSALS = (FewbitsError, MemoryError, np.linalg.LinAlgError)


class Measuring:
    """Measures learners once; caches their metrics and a few encoders.

    Parameters
    ----------
    journal : Journal
    vectors : bool
        Whether re-ranking by vectors is measured, too.

    Attributes
    ----------
    refused : dict of str
        Reason, by method, why some of it could not be learnt.
    encoders : dict of Encoder
        By learner, of the latest trial.
    """

    def __init__(self, journal: Journal, vectors: bool) -> None:
        self.journal, self.vectors = journal, vectors
        self.refused: dict[str, str] = {}
        self.encoders: dict[str, Encoder] = {}

    def metrics(
        self, trial: Trial, group: list[Configuration], *, alone: bool
    ) -> list[Measured]:
        """Return the metrics of all ways to search with a group of learners.

        `alone` says whether each is learnt by itself; only then encoders are cached,
        until `keep` drops them.
        """
        if missing := self.missing(trial, group, alone=alone):
            self._measure(trial, missing, alone)
        known = [self._known(trial, each, alone) for each in group]
        return [metrics for each in known for metrics in each or []]

    def missing(
        self, trial: Trial, group: list[Configuration], *, alone: bool
    ) -> list[Configuration]:
        """Return the learners without measurements."""
        return [each for each in group if self._known(trial, each, alone) is None]

    def keep(self, learners: Sequence[Configuration]) -> None:
        """Drop all encoders except those of the first few of these."""
        keys = dict.fromkeys(each.key for each in learners)
        kept = [key for key in keys if key in self.encoders][:_KEPT_ENCODERS]
        self.encoders = {key: self.encoders[key] for key in kept}

    def encoder(self, learner: Configuration, trial: Trial) -> Encoder:
        """Return an encoder, learnt again where only its metrics are known."""
        if learner.key not in self.encoders:
            ((_, self.encoders[learner.key], _),) = learn([learner], *trial.learnt_from)
        return self.encoders[learner.key]

    def report(self, trial: Trial, best: Measured) -> Measured:
        """Return the metrics of a choice in a trial with other queries."""
        chosen, seconds = best.configuration, best.fit_seconds
        encoder = self.encoders.get(chosen.learner.key)
        if encoder is None:
            ((_, encoder, seconds),) = learn([chosen], *trial.learnt_from)
        return trial.measure(encoder, [chosen], seconds)[0]

    def _known(
        self, trial: Trial, learner: Configuration, alone: bool
    ) -> list[Measured] | None:
        """Return stored measurements, perhaps with more searches than needed."""
        found = self.journal.get(len(trial.X), learner, _kind(alone, vectors=True))
        if found is None and not self.vectors:
            found = self.journal.get(len(trial.X), learner, _kind(alone, vectors=False))
        return found

    def _measure(self, trial: Trial, group: list[Configuration], alone: bool) -> None:
        try:
            fitted = learn(group, *trial.learnt_from)
        except _REFUSALS as error:
            reason = str(error) or "there is not enough memory"
            self.refused.setdefault(group[0].method, reason)
            if shorter := _without_longest(group):
                self._measure(trial, shorter, alone)
            return
        for each, encoder, seconds in fitted:
            if alone:
                self.encoders[each.key] = encoder
            metrics = trial.measure(encoder, trial.searches(each), seconds)
            self.journal.put(len(trial.X), each, _kind(alone, self.vectors), metrics)


def _kind(alone: bool, vectors: bool) -> str:
    """Return the key of measurements of one learner and number of rows."""
    return f"{'alone' if alone else 'nested'}{', with vectors' if vectors else ''}"


def _without_longest(group: list[Configuration]) -> list[Configuration]:
    """Return the rest of a group whose longest code is too long for the data."""
    longest = max(each.n_bits or 0 for each in group)
    return [each for each in group if (each.n_bits or 0) < longest]
