"""Threads: no more than a block allows, and no more of BLAS than are worth it."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import Any

from threadpoolctl import ThreadpoolController

from fewbits._runtime import changed, current_runtime, lowest
from fewbits.learners._core._parameters import check_integer

#: Multiplications below which a product is done by one thread: a third of a
#: millisecond. Where other work has the cores, threads of one product wait for each
#: other for longer than that: codes of digits that keep neighbours took 29 s, now 10.
_WORTH_THREADS = 30_000_000

_held = RLock()


@contextmanager
def thread_limit(n: int) -> Iterator[None]:
    """Use no more than `n` threads in the block.

    These are the threads of the kernels, which encode and search, and while a learner
    learns or encodes those of BLAS and OpenMP, on which torch runs. Those of BLAS
    belong to the whole process: of fits in several threads at once, the first decides.
    A limit never raises a number of threads; of limits within each other the lowest
    counts. With another number of threads rounding is another, and may flip bits that
    are learnt.

    Like that of `on_device`, the block also counts for clones that are made in it and
    fitted in another thread or process, as `GridSearchCV` does with ``n_jobs``.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    ArgumentError
        When `n` is not an integer, or less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> with thread_limit(1):
    ...     itq = ITQ(n_bits=8, random_state=0).fit(X)
    """
    n = check_integer("the limit of threads", n, 1)
    with changed(threads=lowest(n, current_runtime().threads)):
        yield


def threads_for(n: int, k: int, m: int) -> AbstractContextManager[None]:
    """Leave products of (n, k) and (k, m) matrices to one thread, if they are small."""
    return _blas_at_most(1) if n * k * m < _WORTH_THREADS else nullcontext()


@contextmanager
def threads_limited(n: int | None) -> Iterator[None]:
    """Let libraries use `n` threads at most in the block; None changes nothing."""
    if n is None:
        yield
        return
    if "torch" in sys.modules:
        sys.modules["torch"].get_num_threads()  # the first call in a thread sets them
    with _blas_at_most(n), _at_most(n, "openmp"):  # that is of this thread alone
        yield


@contextmanager
def _blas_at_most(n: int) -> Iterator[None]:
    """Limit the threads of BLAS in the process, unless another thread does so already.

    That one restores the earlier number; other threads go on with its limit. If each
    restored what it had found, the last to leave would leave a limit for good.
    """
    if not _held.acquire(blocking=False):
        yield
        return
    try:
        with _at_most(n, "blas"):
            yield
    finally:
        _held.release()


def _at_most(n: int, api: str) -> AbstractContextManager[Any]:
    """Limit those libraries that have more threads."""
    controller = _libraries.controller()
    many = [
        each.filepath
        for each in controller.lib_controllers
        if each.user_api == api and (each.num_threads or 1) > n
    ]
    return controller.select(filepath=many).limit(limits=n)  # type: ignore[no-any-return]


class _Libraries:
    """The libraries that have threads, looked for again after imports.

    Finding them takes milliseconds, which is longer than a small product.
    """

    def __init__(self) -> None:
        self._found: tuple[Any, ThreadpoolController] | None = None

    def controller(self) -> ThreadpoolController:
        """Return threadpoolctl's controller of all of them."""
        imported = len(sys.modules), next(reversed(sys.modules))
        if self._found is None or self._found[0] != imported:
            self._found = imported, ThreadpoolController()
        return self._found[1]


_libraries = _Libraries()
