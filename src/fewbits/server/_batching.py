"""Searches that wait are answered together; nothing waits in order to be."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from fewbits.server._work import Overloaded, TooSlow

#: Returns an answer, or an exception, for each of some questions.
Together = Callable[[Sequence[Any]], Sequence[Any]]


@dataclass(eq=False)
class _Waiting:
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
        self._queue: deque[_Waiting] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._running: asyncio.Task[None] | None = None

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
        if len(self._queue) >= self._max_waiting:
            raise Overloaded
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(key, question, size, together, answer)
        self._queue.append(waiting)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._answer_all())
        done, _ = await asyncio.wait([answer], timeout=self._time_limit)
        if not done:
            answer.cancel()
            with contextlib.suppress(ValueError):  # it is being worked on
                self._queue.remove(waiting)
            raise TooSlow
        return answer.result()

    async def _answer_all(self) -> None:
        loop = asyncio.get_running_loop()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "fewbits-batch")
        while batch := self._next():
            self._observe(len(batch))
            questions = [each.question for each in batch]
            try:
                answers = await loop.run_in_executor(
                    self._pool, batch[0].together, questions
                )
            except Exception as error:  # each of them is told
                answers = [error] * len(batch)
            for each, answer in zip(batch, answers, strict=True):
                _tell(each.answer, answer)

    def _next(self) -> list[_Waiting]:
        """Take what was asked first, and what can be answered together with it."""
        batch: list[_Waiting] = []
        others: deque[_Waiting] = deque()
        left = self._max_bytes
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
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _tell(future: "asyncio.Future[Any]", answer: Any) -> None:
    if future.done():  # nobody waits any more
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
