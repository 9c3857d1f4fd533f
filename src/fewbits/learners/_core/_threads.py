"""Threads of BLAS, for as long as they are worth it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

#: Multiplications below which a product is done by one thread: a third of a
#: millisecond. Where other work has the cores, threads of one product wait for each
#: other for longer than that: codes of digits that keep neighbours took 29 s, now 10.
_WORTH_THREADS = 30_000_000

_held = Lock()


def threads_for(n: int, k: int, m: int) -> AbstractContextManager[None]:
    """Leave products of (n, k) and (k, m) matrices to one thread, if they are small."""
    return _one_thread() if n * k * m < _WORTH_THREADS else nullcontext()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit the process to one thread, unless somebody does so already.

    That one gives back what was there before, and others go on with as many. If each
    gave back what it had found, the last to leave would leave one thread for good.
    """
    if not _held.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _held.release()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
