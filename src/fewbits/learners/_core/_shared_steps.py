"""Steps that several fits of the same rows have in common."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from fewbits._runtime import Found, changed, current_runtime


class SharedSteps:
    """A cache of steps, and the seconds that it has saved.

    Attributes
    ----------
    seconds_saved : float
        Wall-clock time that the steps took when they were done.
    """

    def __init__(self) -> None:
        self.seconds_saved = 0.0
        self._found: dict[Hashable, tuple[Hashable, Any, float]] = {}

    def cached_step(
        self, name: Hashable, key: Hashable, find: Callable[[], Found]
    ) -> Found:
        """Return what is cached under `name` if it belongs to `key`; else find it."""
        kept = self._found.get(name)
        if kept is not None and kept[0] == key:
            self.seconds_saved += kept[2]
            known: Found = kept[1]
            return known
        self._found.pop(name, None)  # two of them may not fit into memory
        start = time.perf_counter()
        found = find()
        self._found[name] = key, found, time.perf_counter() - start
        return found


@contextmanager
def shared_steps() -> Iterator[SharedSteps]:
    """Let fits in the block share intermediate results on the same rows.

    These are the principal axes, the random rotation to start from, and the neighbours
    that codes are trained to keep. At thousands of features they take longer than the
    rest, and a sweep over methods, lengths and parameters asks for the same ones again
    and again. Results are identical to those without. The last of each is kept, as long
    as the block lasts. Fits in other threads or processes do not share.

    Yields
    ------
    SharedSteps
        Its ``seconds_saved`` is the time that sharing has saved.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> with shared_steps():
    ...     codes = [ITQ(n_bits, random_state=0).fit(X) for n_bits in (4, 8)]
    """
    shared = SharedSteps()
    with changed(shared_steps=shared):
        yield shared


def cached_step(
    name: Hashable, key: Callable[[], Hashable], find: Callable[[], Found]
) -> Found:
    """Return what `find` returns, or did when another fit with this key asked for it.

    What is returned must not be changed.
    """
    shared = current_runtime().shared_steps
    return find() if shared is None else shared.cached_step(name, key(), find)
