"""Record of earlier searches, which tells whether the next one is looked up."""

from collections import Counter
from collections.abc import Hashable

_AGAIN = 32  # a kind of search that did not pay is tried once in so many
_WEIGHT = 0.25  # of the latest outcome


class Outcomes:
    """Cost of look-ups, for each kind of search: a few queries do not tell before.

    Nothing but the time of a search depends on it.
    """

    def __init__(self) -> None:
        self._ratios: dict[Hashable, float] = {}
        self._left_out: Counter[Hashable] = Counter()

    def promise(self, kind: Hashable) -> bool:
        """Return whether to look up: it paid lately, or was not tried for long."""
        if self._ratios.get(kind, 0.0) <= 1:
            return True
        self._left_out[kind] += 1
        return self._left_out[kind] % _AGAIN == 0

    def learn(self, kind: Hashable, ratio: float) -> None:
        """Take in the cost of look-ups, as a ratio to that of a scan."""
        before = self._ratios.get(kind, ratio)
        self._ratios[kind] = before + _WEIGHT * (ratio - before)
