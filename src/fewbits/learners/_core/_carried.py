"""Estimators that take the runtime of a block to other threads and processes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import local
from typing import Any, NamedTuple, Self

from sklearn.base import BaseEstimator

from fewbits._runtime import NO_BLOCK, Runtime, current_runtime, entered
from fewbits.learners._core._threads import threads_limited

_numbers = count()


class _Numbered(local):
    """A number for each thread, which those that come later do not have again."""

    def __init__(self) -> None:
        self.number = next(_numbers)


_thread = _Numbered()


def _here() -> tuple[int, int]:
    """Return what tells this thread from others, also of a process forked off it."""
    return os.getpid(), _thread.number


class _Carried(NamedTuple):
    runtime: Runtime
    home: tuple[int, int] | None  #: The thread whose blocks say so; None in a pickle.


class RuntimeCarrier(BaseEstimator):  # type: ignore[misc]
    """An estimator that takes the device and the thread limit of blocks along.

    A clone remembers the blocks around it, and so does a pickle. They count in other
    threads and processes, such as the workers of joblib; where they are from only the
    blocks themselves count, for as long as they last. A pickle of a fitted estimator
    remembers none: it may be read on another machine, years later.
    """

    _carried: tuple[_Carried, ...]

    def __sklearn_clone__(self) -> Self:
        made: Self = super().__sklearn_clone__()
        if carried := self._to_carry():
            made._carried = carried
        return made

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__()}
        state.pop("_carried", None)
        portable = self._runtime().portable
        if "encoder_" not in state and portable != NO_BLOCK:
            # Without a home: joblib's caches distinguish estimators by their pickles.
            state["_carried"] = (_Carried(portable, None),)
        return state

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Work in the runtime of this estimator inside the block."""
        runtime = self._runtime()
        with entered(runtime), threads_limited(runtime.threads):
            yield

    def _runtime(self) -> Runtime:
        """Return that of the blocks around here, over what is remembered."""
        runtime = current_runtime()
        for each in self._from_elsewhere():
            runtime = runtime.over(each.runtime)
        return runtime

    def _to_carry(self) -> tuple[_Carried, ...]:
        around, elsewhere = current_runtime().portable, self._from_elsewhere()
        if around == NO_BLOCK:
            return elsewhere
        return _Carried(around, _here()), *elsewhere

    def _from_elsewhere(self) -> tuple[_Carried, ...]:
        carried: tuple[_Carried, ...] = vars(self).get("_carried", ())
        return tuple(each for each in carried if each.home != _here())
