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
    """The time since tuning began, and what learning took of it.

    Parameters
    ----------
    minutes : float or None
        For everything; None for no limit.
    """

    def __init__(self, minutes: float | None) -> None:
        self.start = self.now()
        self.seconds = np.inf if minutes is None else 60 * minutes
        self._known: dict[str, Configuration] = {}
        # Of each learner: so many rows took so many seconds, the last two.
        self._took: dict[str, list[tuple[int, float]]] = {}

    def now(self) -> float:
        """Return the time in seconds, from no particular beginning."""
        return time.monotonic()

    def after(self, share: float) -> float:
        """Return when a share of the time is over."""
        return float(self.start + self.seconds * share)

    def in_time(self, until: float = np.inf, expected: float = 0.0) -> bool:
        """Return whether there is time left for what takes so many seconds."""
        now = self.now()
        return now < until and now + expected < self.start + self.seconds

    def expected(self, group: Sequence[Configuration], n_items: int) -> float:
        """Return the seconds that the slowest of a group is expected to take.

        By two numbers of rows on a line, by one in proportion to the rows; what was
        never learnt takes as long as codes of its method that are no longer.
        """
        return max((self._seconds(each, n_items) for each in group), default=0.0)

    def _seconds(self, learner: Configuration, n_items: int) -> float:
        if learner.key not in self._took:
            alike = (e for e in self._known.values() if _is_variant(e, learner))
            return self.expected([*alike], n_items)
        *before, (n, seconds) = self._took[learner.key]
        if not before:
            return seconds * n_items / n
        ((fewer, less),) = before
        more = max(0.0, seconds - less) * (n_items - n) / (n - fewer)
        return max(0.0, seconds + more)

    def takes_long(self, n_items: int, learner: Configuration) -> bool:
        """Return whether so many rows take more than a small share of the time."""
        return self.expected([learner], n_items) > _QUICK * self.seconds

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
        for each in group:
            self._known[each.key] = each
            self._took[each.key] = [(n_items, self.now() - began)]

    def learn(self, measured: Sequence[Measured], nested_up_to: int) -> None:
        """Note the seconds to learn, for all codes of a group together.

        The share of a single code is unknown; the longest takes about all of it.
        """
        learners = {e.configuration.learner.key: e for e in measured}
        each_once = [e.configuration.learner for e in learners.values()]
        for group in grouped(each_once, nested_up_to=nested_up_to):
            for each in group:
                found = learners[each.key]
                self._known[each.key] = each
                self._note(each.key, found.n_items, len(group) * found.fit_seconds)

    def _note(self, key: str, n_items: int, seconds: float) -> None:
        before = [each for each in self._took.get(key, []) if each[0] < n_items]
        self._took[key] = [*before[-1:], (n_items, seconds)]


def _is_variant(known: Configuration, learner: Configuration) -> bool:
    """Return whether one is of the method of the other, and has no more bits."""
    same = known.method == learner.method
    return same and (known.n_bits or 0) <= (learner.n_bits or 0)
