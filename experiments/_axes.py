"""Principal axes that several fits on one matrix share.

At thousands of features they take longer than the iterations that follow, and a sweep
over lengths and methods asks for the same ones again and again.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from fewbits._typing import Array
from fewbits.learners import _itq, _sparse_projections
from fewbits.learners._axes import PrincipalAxes, principal_axes


@dataclass
class SharedAxes:
    """The axes of one matrix, and what it took to find them.

    Parameters
    ----------
    X : ndarray
        Never changed while its axes are shared.
    """

    X: Array
    seconds_saved: float = 0.0
    _axes: PrincipalAxes | None = None
    _seconds: float = 0.0

    def __call__(self, X: Array) -> PrincipalAxes:
        """Return the axes of `X`, known ones where it is the matrix they belong to."""
        if X is not self.X and not _same_memory(X, self.X):
            return principal_axes(X)
        if self._axes is None:
            start = time.perf_counter()
            self._axes = principal_axes(X)
            self._seconds = time.perf_counter() - start
        else:
            self.seconds_saved += self._seconds
        return self._axes


def _same_memory(a: Array, b: Array) -> bool:
    return a.__array_interface__ == b.__array_interface__


@contextmanager
def shared_axes(X: Array) -> Iterator[SharedAxes]:
    """Let every fit of ITQ and sparse projections to `X` use the same axes."""
    shared = SharedAxes(X)
    with (
        patch.object(_itq, "principal_axes", shared),
        patch.object(_sparse_projections, "principal_axes", shared),
    ):
        yield shared
