"""The choice of the best epoch on held-out items."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.learners.deep._state import State

N_SMOOTHED = 9  #: Epochs beside each other that tell together how good they are.

#: The metrics of an epoch.
Record = dict[str, Any]


class BestEpoch:
    """The best epoch so far on held-out items, and what network and loss were then.

    Parameters
    ----------
    by_accuracy : bool
        Whether items are classified; mAP decides otherwise.

    Attributes
    ----------
    found : tuple of int, dict, dict or None
        The place in the history, and the states of network and objective; None before
        the first epoch with metrics.
    """

    def __init__(self, *, by_accuracy: bool) -> None:
        self._criterion = "accuracy" if by_accuracy else "map"
        self.found: tuple[int, State, State] | None = None

    def update(
        self, history: list[Record], states: Callable[[], tuple[State, State]]
    ) -> None:
        """Keep the `states` if the last epoch is better than all before."""
        if self._criterion not in history[-1]:
            return
        if self.found is None or self._rank(history[-1]) > self._rank(
            history[self.found[0]]
        ):
            self.found = len(history) - 1, *states()

    def is_older_than(self, patience: int | None, history: list[Record]) -> bool:
        """Return whether `patience` epochs or more have passed since."""
        if patience is None or self.found is None:
            return False
        return len(history) - 1 - self.found[0] >= patience

    def n_epochs(self, history: list[Record], eval_every: int) -> int:
        """Return how many epochs are best, by smoothed metrics; all without any."""
        found = [r for r in history if self._criterion in r]
        if not found:
            return len(history)
        values = [record[self._criterion] for record in found]
        window = max(1, N_SMOOTHED // eval_every)  # of looks, not epochs
        return int(found[int(np.argmax(smooth(values, window)))]["epoch"])

    def _rank(self, record: Record) -> tuple[float, ...]:
        """Return what is larger for a better epoch; accuracies are often the same."""
        if self._criterion == "map":
            return (record["map"],)
        return record["accuracy"], -record["loss"]


def smooth(values: Sequence[float], n: int | None = None) -> NDArray[np.float64]:
    """Return means over neighbouring values, of fewer at both ends.

    The best epoch of all is partly luck; the middle of good ones is less so.
    """
    near = np.ones(min(n or N_SMOOTHED, len(values)))
    sums, counts = (
        np.convolve(each, near, "same") for each in (values, np.ones(len(values)))
    )
    return sums / counts
