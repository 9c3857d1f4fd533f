"""Second timing of the best configurations, before one of them is chosen."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from fewbits.encoders import Encoder
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._target import Target
from fewbits.training.tuning._timing import seconds_alone

_FINALISTS = 3  # that are timed in turn


class Finals:
    """Time finalists again, until the best of all is one of them.

    A single measurement may have been delayed. Other work on the machine only delays,
    so the shorter of both times counts. Where nothing comes near the bound there is no
    choice, and nothing is timed again.

    Parameters
    ----------
    target : Target
    queries : ndarray of shape (n_queries, n_features)
        Vectors to encode.
    encoder_of : callable
        Returns the encoder of a configuration, learnt again where only its metrics are
        known.
    in_time : callable
        Returns whether there is time to learn more than the choice.
    """

    def __init__(
        self,
        target: Target,
        queries: NDArray[Any],
        encoder_of: Callable[[Configuration], Encoder],
        in_time: Callable[[], bool],
    ) -> None:
        self.target, self.queries = target, queries
        self.encoder_of, self.in_time = encoder_of, in_time
        self.timed: dict[str, float] = {}  # microseconds by learner, the second time

    def run(self, measured: list[Measured]) -> list[Measured]:
        """Return the metrics, with the new times where these are shorter."""
        while finalists := self._next(measured):
            encoders = [self.encoder_of(each) for each in finalists]
            seconds = seconds_alone(encoders, self.queries)
            for each, time in zip(finalists, seconds, strict=True):
                self.timed[each.key] = 1e6 * time
            measured = [self._updated(each) for each in measured]
        return measured

    def _next(self, measured: list[Measured]) -> list[Configuration]:
        """Return the learners to time next, none where the best has been timed."""
        in_time = self.in_time()
        # A single time may be above the bound by bad luck.
        doubtful = self.target.screening if in_time else self.target

        def judge(found: Measured) -> Target:
            known = _learner(found).key in self.timed
            return self.target if known else doubtful

        ranked = sorted(measured, key=lambda each: judge(each).rank(each))
        learners = [_learner(each) for each in ranked]
        hopeless = not judge(ranked[0]).affords(ranked[0])
        if hopeless or learners[0].key in self.timed:
            return []
        untimed = {each.key: each for each in learners if each.key not in self.timed}
        return list(untimed.values())[: _FINALISTS if in_time else 1]

    def _updated(self, found: Measured) -> Measured:
        time = self.timed.get(_learner(found).key, found.encode_us)
        return replace(found, encode_us=min(time, found.encode_us))


def _learner(found: Measured) -> Configuration:
    return found.configuration.learner
