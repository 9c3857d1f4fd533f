"""Blocking work in bounds: a pool of threads, and searches answered together."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

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


#: Returns an answer, or an exception, for each of some questions.
Together = Callable[[Sequence[Any]], Sequence[Any]]


@dataclass(eq=False)
class _Question:
    key: Hashable
    question: Any
    size: int
    together: Together
    answer: "asyncio.Future[Any]" = field(repr=False)


class Batcher:
    """One batch is answered at a time; what comes meanwhile is the next ones.

    Parameters
    ----------
    max_batch, max_bytes : int
        Questions of a batch, and bytes of their bodies.
    max_waiting : int
    time_limit : float
        Seconds from when a question comes.
    observe : callable
        Called with the size of each batch.
    """

    def __init__(
        self,
        max_batch: int,
        max_bytes: int,
        max_waiting: int,
        time_limit: float,
        observe: Callable[[int], None] = lambda size: None,
    ) -> None:
        self._max_batch, self._max_bytes = max_batch, max_bytes
        self._max_waiting, self._time_limit = max_waiting, time_limit
        self._observe = observe
        self._lock = threading.Lock()
        self._queue: deque[_Question] = deque()
        # A thread of its own: an executor would take longer than most searches.
        self._thread: threading.Thread | None = None
        self._calls: SimpleQueue[bool] = SimpleQueue()  # False ends the thread

    @property
    def waiting(self) -> int:
        """Number of questions that wait."""
        return len(self._queue)

    async def ask(
        self, key: Hashable, question: Any, size: int, together: Together
    ) -> Any:
        """Return the answer to a question.

        Parameters
        ----------
        key : hashable
            Questions of the same key may be answered together.
        question : object
        size : int
            Bytes that it takes.
        together : callable
            Answers several of one key in a thread.

        Raises
        ------
        Overloaded, TooSlow
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        waiting = _Question(key, question, size, together, answer)
        with self._lock:
            if len(self._queue) >= self._max_waiting:
                raise Overloaded
            self._queue.append(waiting)
        self._call()
        limit = loop.call_later(self._time_limit, self._give_up, waiting)
        try:
            return await answer
        finally:
            limit.cancel()

    def _call(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._work, args=(self._calls,), name="fewbits-batch"
            )
            self._thread.daemon = True
            self._thread.start()
        self._calls.put(True)

    def _give_up(self, waiting: _Question) -> None:
        with self._lock, contextlib.suppress(ValueError):  # it is being worked on
            self._queue.remove(waiting)
        _resolve([(waiting.answer, TooSlow())])

    def _work(self, calls: "SimpleQueue[bool]") -> None:
        while calls.get():
            if batch := self._next():  # not taken together with an earlier one
                self._answer(batch)

    def _answer(self, batch: Sequence[_Question]) -> None:
        self._observe(len(batch))
        try:
            answers = batch[0].together([each.question for each in batch])
        except Exception as error:  # each of them is told
            answers = [error] * len(batch)
        futures = [each.answer for each in batch]
        loop = futures[0].get_loop()
        with contextlib.suppress(RuntimeError):  # of a loop that has ended
            loop.call_soon_threadsafe(
                _resolve, list(zip(futures, answers, strict=True))
            )

    def _next(self) -> list[_Question]:
        """Take what was asked first, and what can be answered together with it."""
        batch: list[_Question] = []
        others: deque[_Question] = deque()
        left = self._max_bytes
        with self._lock:
            while self._queue and len(batch) < self._max_batch:
                each = self._queue.popleft()
                if not batch or (each.key == batch[0].key and each.size <= left):
                    batch.append(each)
                    left -= each.size
                else:
                    others.append(each)
            self._queue.extendleft(reversed(others))
        return batch

    def close(self) -> None:
        """Finish what has begun; a later call begins anew."""
        if self._thread is not None:
            self._calls.put(False)
            self._thread.join()
            self._thread, self._calls = None, SimpleQueue()


def _resolve(answers: "Sequence[tuple[asyncio.Future[Any], Any]]") -> None:
    for future, answer in answers:
        if future.done():  # no longer awaited
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
