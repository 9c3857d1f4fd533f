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

from fewbits.errors import FewbitsError
from fewbits.server._errors import RETRY, ApiError

T = TypeVar("T")


def _overloaded() -> ApiError:
    message = "as many requests wait as may: try again later"
    return ApiError("overloaded", message, RETRY)


def too_slow() -> ApiError:
    """Return the refusal of a request that took longer than it may."""
    return ApiError("too_slow", "the request took longer than it may")


class Work:
    """Runs functions in threads; refuses more than may wait, gives up what is late.

    Python cannot stop a thread: work that timed out still counts until it ends. With
    `finishes`, what has begun is waited for, however late: the caller must know how it
    ended.
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
        self._time_limit, self._finishes = time_limit, finishes
        self._pending = 0

    @property
    def waiting(self) -> int:
        """Number of calls that wait for a thread."""
        return max(0, self._pending - self._threads)

    async def run(
        self, function: Callable[..., T], *args: object, has_limit: bool = True
    ) -> T:
        """Return what a function returns; refuse where too many wait, or it is late."""
        if self._pending >= self._most:
            raise _overloaded()
        loop = asyncio.get_running_loop()

        def one_less() -> None:
            self._pending -= 1

        self._pending += 1
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, "fewbits")
        submitted = self._pool.submit(function, *args)
        submitted.add_done_callback(lambda _: loop.call_soon_threadsafe(one_less))
        future = asyncio.wrap_future(submitted)
        limit = self._time_limit if has_limit else None
        try:
            done, _ = await asyncio.wait([future], timeout=limit)
            if not done and self._finishes and not submitted.cancel():
                done, _ = await asyncio.wait([future])
        finally:
            submitted.cancel()  # unless it has begun
        if not done:
            raise too_slow()
        return future.result()

    def close(self) -> None:
        """Finish what has begun; a later call begins anew."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


#: Returns an answer to each of some questions.
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

    A batch has at most `max_batch` questions, whose bodies have at most `max_bytes`;
    `observe` is called with its size.
    """

    def __init__(
        self,
        max_batch: int,
        max_bytes: int,
        max_waiting: int,
        time_limit: float,
        observe: Callable[[float], None],
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
        """Return the answer to a question, whose body has `size` bytes.

        Questions of the same key may be answered together, by one call of `together` in
        a thread.
        """
        loop = asyncio.get_running_loop()
        waiting = _Question(key, question, size, together, loop.create_future())

        def give_up() -> None:
            with self._lock, contextlib.suppress(ValueError):  # it is being worked on
                self._queue.remove(waiting)
            _resolve([(waiting.answer, too_slow())])

        with self._lock:
            if len(self._queue) >= self._max_waiting:
                raise _overloaded()
            self._queue.append(waiting)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._answer_all,
                args=(self._calls,),
                name="fewbits-batch",
                daemon=True,
            )
            self._thread.start()
        self._calls.put(True)
        limit = loop.call_later(self._time_limit, give_up)
        try:
            return await waiting.answer
        finally:
            limit.cancel()

    def _answer_all(self, calls: "SimpleQueue[bool]") -> None:
        while calls.get():
            self._answer_next()  # which holds a version no longer than it takes

    def _answer_next(self) -> None:
        batch = self._next_batch()
        if not batch:  # taken together with an earlier one
            return
        self._observe(len(batch))
        futures = [waiting.answer for waiting in batch]
        pairs = list(zip(futures, self._answers(batch), strict=True))
        with contextlib.suppress(RuntimeError):  # of a loop that has ended
            futures[0].get_loop().call_soon_threadsafe(_resolve, pairs)

    def _answers(self, batch: "Sequence[_Question]") -> Sequence[Any]:
        """Answer questions in one call; where it fails, each by itself."""
        try:
            return batch[0].together([waiting.question for waiting in batch])
        except FewbitsError as error:  # perhaps of one of them
            if len(batch) == 1:
                return [error]
            return [self._answers([waiting])[0] for waiting in batch]
        except Exception as error:  # each of them is told
            return [error] * len(batch)

    def _next_batch(self) -> list[_Question]:
        """Take the first question, and what can be answered together with it."""
        batch: list[_Question] = []
        others: deque[_Question] = deque()
        left = self._max_bytes
        with self._lock:
            while self._queue and len(batch) < self._max_batch:
                waiting = self._queue.popleft()
                fits = waiting.size <= left
                if not batch or (fits and waiting.key == batch[0].key):
                    batch.append(waiting)
                    left -= waiting.size
                else:
                    others.append(waiting)
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
