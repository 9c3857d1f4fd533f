"""Record of earlier searches, which tells whether the next one is looked up."""

from collections import Counter
from collections.abc import Hashable

_AGAIN = 32  # a kind of search that did not pay is tried once in so many
_FIRST = 0.5, 4  # the ratio that is assumed of so many queries at first
_MOST = 64  # queries that a ratio is the mean of


class Outcomes:
    """Cost of look-ups, for each kind of search: a few queries do not tell before.

    Nothing but the time of a search depends on it.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[float, int]] = {}
        self._left_out: Counter[Hashable] = Counter()

    def promise(self, kind: Hashable) -> bool:
        """Return whether to look up: it paid lately, or was not tried for long."""
        if self._known.get(kind, _FIRST)[0] <= 1:
            return True
        self._left_out[kind] += 1
        return self._left_out[kind] % _AGAIN == 0

    def learn(self, kind: Hashable, ratio: float, n_queries: int) -> None:
        """Take in the cost of look-ups, as a ratio to that of a scan."""
        before, n = self._known.get(kind, _FIRST)
        mean = (before * n + ratio * n_queries) / (n + n_queries)
        self._known[kind] = mean, min(n + n_queries, _MOST)
