"""The time that tuning may take, and what learning is expected to take of it."""

import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from fewbits.learners.fitting import also
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._learning import grouped
from fewbits.training.tuning._measured import Measured

_QUICK = 0.01  # of the time
_GRACE = 0.1  # of the time, as a grace for a running fit


class TimeUp(Exception):
    """Stops a fit that takes too long."""


class Clock:
    """The time since tuning began, and the pace of learners.

    Parameters
    ----------
    minutes : float or None
        For everything; None for no limit.

    Attributes
    ----------
    pace : dict of float
        Seconds to learn from a row, by learner, so far.
    """

    def __init__(self, minutes: float | None) -> None:
        self.start = self.now()
        self.seconds = np.inf if minutes is None else 60 * minutes
        self.pace: dict[str, float] = {}

    def now(self) -> float:
        """Return the time in seconds, from no particular beginning."""
        return time.monotonic()

    def after(self, share: float) -> float:
        """Return when a share of the time is over."""
        return float(self.start + self.seconds * share)

    def in_time(
        self,
        until: float = np.inf,
        group: Sequence[Configuration] = (),
        n_items: int = 0,
    ) -> bool:
        """Return whether there is time left to learn a group."""
        now = self.now()
        expected = n_items * max((self.pace.get(e.key, 0.0) for e in group), default=0)
        return now < until and now + expected < self.start + self.seconds

    def takes_long(self, n_items: int, learner: Configuration) -> bool:
        """Return whether so many rows take more than a small share of the time."""
        return n_items * self.pace.get(learner.key, 0.0) > _QUICK * self.seconds

    def ending(self, until: float = np.inf) -> AbstractContextManager[None]:
        """End fits in the block at the first iteration after the time and a grace."""
        end = min(until, self.start + self.seconds) + _GRACE * self.seconds

        def check() -> None:
            if self.now() > end:
                raise TimeUp

        return also(check)

    def stopped(
        self, group: Iterable[Configuration], began: float, n_items: int
    ) -> None:
        """Note that learning a group took at least the time since it began."""
        least = (self.now() - began) / n_items
        self.pace |= {each.key: least for each in group}

    def learn(self, measured: Sequence[Measured], nested_up_to: int) -> None:
        """Note the seconds to learn from a row, for all codes of a group together.

        The share of a single code is unknown; the longest takes about all of it.
        """
        learners = {e.configuration.learner.key: e for e in measured}
        shares = {key: e.fit_seconds / e.n_items for key, e in learners.items()}
        each_once = [e.configuration.learner for e in learners.values()]
        for group in grouped(each_once, nested_up_to=nested_up_to):
            self.pace |= {each.key: len(group) * shares[each.key] for each in group}
