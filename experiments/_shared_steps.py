"""Steps that several fits on one matrix share.

At thousands of features they take longer than the rest, and a sweep over lengths and
methods asks for the same ones again and again: the principal axes, the random rotation
to start from, the first rotation that sparse projections find from there, and the
neighbours that codes are trained to keep.
"""

import pickle
import time
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.random import RandomState

from fewbits._typing import Array
from fewbits.learners import _itq
from fewbits.learners._axes import PrincipalAxes, principal_axes
from fewbits.learners._procrustes import polar, random_rotation
from fewbits.learners.neighbours import _frame, _learner
from fewbits.learners.neighbours._graph import NeighbourGraph, neighbour_graph
from fewbits.learners.sparse_projections import _sparse_projections, _splitting


class SharedSteps:
    """What was found before, and the seconds that this has saved.

    Parameters
    ----------
    X : ndarray
        The matrix, never changed meanwhile.
    """

    def __init__(self, X: Array) -> None:
        self.X = X
        self.seconds_saved = 0.0
        self._found: dict[Hashable, tuple[Hashable, Any, float]] = {}

    def axes(self, X: Array) -> PrincipalAxes:
        """Return the axes of a matrix."""
        if X.__array_interface__ != self.X.__array_interface__:
            return principal_axes(X)
        found: PrincipalAxes = self._once("axes", None, lambda: principal_axes(X))
        return found

    def rotation(self, k: int, b: int, rng: RandomState) -> Any:
        """Return a random rotation; `rng` is used for nothing else."""
        seed = zlib.crc32(pickle.dumps(rng.get_state()))
        return self._once("start", (k, b, seed), lambda: random_rotation(k, b, rng))

    def first_polar(self, C: Any) -> Any:
        """Return a polar factor; the first one asked for in each shape is kept."""
        key = ("polar", C.shape)
        return self._once(key, zlib.crc32(C), lambda: polar(C), replace=False)

    def graph(self, V: Any, anchors: Any, k: int, perplexity: float) -> NeighbourGraph:
        """Return the neighbours of anchors; those of each frame of rows are kept."""
        name = "graph", V.shape, zlib.crc32(np.ascontiguousarray(V[:64]))
        key = zlib.crc32(np.ascontiguousarray(anchors)), k, perplexity
        found: NeighbourGraph = self._once(
            name, key, lambda: neighbour_graph(V, anchors, k, perplexity)
        )
        return found

    def _once(
        self,
        name: Hashable,
        key: Hashable,
        find: Callable[[], Any],
        *,
        replace: bool = True,
    ) -> Any:
        """Return what is kept under `name` if it belongs to `key`, or find it."""
        kept = self._found.get(name)
        if kept is not None and kept[0] == key:
            self.seconds_saved += kept[2]
            return kept[1]
        start = time.perf_counter()
        found = find()
        if kept is None or replace:
            self._found[name] = key, found, time.perf_counter() - start
        return found


@contextmanager
def shared_steps(X: Array) -> Iterator[SharedSteps]:
    """Let fits of ITQ, sparse projections and neighbour codes to `X` share steps."""
    shared = SharedSteps(X)
    with ExitStack() as patches:
        for module in (_itq, _sparse_projections):
            for name, step in (
                ("principal_axes", shared.axes),
                ("random_rotation", shared.rotation),
            ):
                patches.enter_context(patch.object(module, name, step))
        for module, name, step in (
            (_splitting, "polar", shared.first_polar),
            (_frame, "principal_axes", shared.axes),
            (_learner, "neighbour_graph", shared.graph),
        ):
            patches.enter_context(patch.object(module, name, step))
        yield shared
