"""Blocking work in a bounded pool of threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Overloaded(Exception):
    """As many requests wait as may."""


class TooSlow(Exception):
    """A request took longer than it may."""


class Work:
    """Runs functions in threads; refuses more than may wait, gives up what is late.

    Python cannot stop a thread: work that timed out still counts until it ends.

    Parameters
    ----------
    threads, max_waiting : int
    time_limit : float
        Seconds, of waiting and working together.
    finishes : bool, default=False
        Wait for what has begun, however late: the caller must know how it ended.
    """

    def __init__(
        self,
        threads: int,
        max_waiting: int,
        time_limit: float,
        *,
        finishes: bool = False,
    ) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._threads, self._most = threads, threads + max_waiting
        self.time_limit, self._finishes = time_limit, finishes
        self.pending = 0

    @property
    def waiting(self) -> int:
        """Number of calls that wait for a thread."""
        return max(0, self.pending - self._threads)

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns.

        Raises
        ------
        Overloaded, TooSlow
        """
        return await self._run(self.time_limit, function, *args)

    async def finish(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns, however long it takes.

        Raises
        ------
        Overloaded
        """
        return await self._run(None, function, *args)

    async def _run(
        self, limit: float | None, function: Callable[..., T], *args: object
    ) -> T:
        if self.pending >= self._most:
            raise Overloaded
        loop = asyncio.get_running_loop()
        self.pending += 1
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, "fewbits")
        submitted = self._pool.submit(function, *args)
        submitted.add_done_callback(lambda _: loop.call_soon_threadsafe(self._one_less))
        future = asyncio.wrap_future(submitted)
        try:
            done, _ = await asyncio.wait([future], timeout=limit)
            if not done and self._finishes and not submitted.cancel():
                done, _ = await asyncio.wait([future])
        finally:
            submitted.cancel()  # unless it has begun
        if not done:
            raise TooSlow
        return future.result()

    def _one_less(self) -> None:
        self.pending -= 1

    def close(self) -> None:
        """Finish what has begun; a later call begins anew."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
