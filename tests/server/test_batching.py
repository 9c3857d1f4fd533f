"""What waits is answered together; what is too much is refused."""

import asyncio
import itertools
import threading
import time

import httpx
import numpy as np
import pytest
from fewbits.server._batching import Batcher

from fewbits import engine
from fewbits.errors import ArgumentError, LockedError
from fewbits.server import Settings
from fewbits.server._work import Overloaded, TooSlow, Work
from tests.server._running import N_BITS, served, small_bundle, vectors

FAR = 10.0


class Slow:
    """Answers questions by their squares when it may; remembers the batches."""

    def __init__(self):
        self.batches, self.may = [], threading.Event()
        self.has_begun = False

    def __call__(self, questions):
        self.has_begun = True
        assert self.may.wait(FAR)
        self.batches.append(list(questions))
        return [ZeroDivisionError() if x == 0 else x * x for x in questions]


def batcher(**options):
    given = {"max_batch": 64, "max_bytes": 1000, "max_waiting": 100, "time_limit": FAR}
    return Batcher(**{**given, **options})


async def first_is_taken(slow, answers):
    """Ask one question, and wait until a thread has it."""
    first = asyncio.ensure_future(answers.ask("a", 1, 1, slow))
    while not slow.has_begun:
        await asyncio.sleep(0.001)
    return first


def test_what_waits_is_one_batch():
    async def main():
        slow, answers = Slow(), batcher()
        first = await first_is_taken(slow, answers)
        keys = ["a", "b", "a", "b", "a"]
        others = [
            asyncio.ensure_future(answers.ask(key, i + 2, 1, slow))
            for i, key in enumerate(keys)
        ]
        await asyncio.sleep(0)
        slow.may.set()
        found = await asyncio.gather(first, *others)
        answers.close()
        return slow.batches, found

    batches, found = asyncio.run(main())
    assert batches == [[1], [2, 4, 6], [3, 5]]
    assert found == [1, 4, 9, 16, 25, 36]


@pytest.mark.parametrize("limit", [{"max_batch": 2}, {"max_bytes": 2}])
def test_batches_are_bounded(limit):
    async def main():
        slow, answers = Slow(), batcher(**limit)
        first = await first_is_taken(slow, answers)
        others = [
            asyncio.ensure_future(answers.ask("a", i, 1, slow)) for i in range(2, 7)
        ]
        await asyncio.sleep(0)
        slow.may.set()
        await asyncio.gather(first, *others)
        answers.close()
        return slow.batches

    assert asyncio.run(main()) == [[1], [2, 3], [4, 5], [6]]


def test_an_error_is_of_one_question():
    async def main():
        slow, answers = Slow(), batcher()
        slow.may.set()
        asked = [answers.ask("a", i, 1, slow) for i in range(4)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        answers.close()
        return found

    first, *others = asyncio.run(main())
    assert isinstance(first, ZeroDivisionError)
    assert others == [1, 4, 9]


def test_too_many_and_too_late():
    async def main():
        slow, answers = Slow(), batcher(max_waiting=2, time_limit=0.05)
        first = await first_is_taken(slow, answers)
        asked = [answers.ask("a", i, 1, slow) for i in range(4)]
        found = await asyncio.gather(first, *asked, return_exceptions=True)
        slow.may.set()
        later = await answers.ask("a", 5, 1, slow)
        answers.close()
        return [type(each) for each in found], later, slow.batches

    found, later, batches = asyncio.run(main())
    assert found == [TooSlow, TooSlow, TooSlow, Overloaded, Overloaded]
    assert later == 25
    assert batches == [[1], [5]]  # the others were no longer awaited


def test_work_is_bounded():
    may = threading.Event()

    def slow(x):
        assert may.wait(FAR)
        return x

    async def main():
        work = Work(threads=1, max_waiting=1, time_limit=FAR)
        two = [asyncio.ensure_future(work.run(slow, i)) for i in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await work.run(slow, 3)
        assert work.waiting == 1
        may.set()
        found = await asyncio.gather(*two)
        await asyncio.sleep(0.01)
        assert (work.pending, work.waiting) == (0, 0)
        work.close()
        return found

    assert asyncio.run(main()) == [0, 1]


def test_late_work_counts_until_it_ends():
    may = threading.Event()

    async def main():
        work = Work(threads=1, max_waiting=0, time_limit=0.02)
        with pytest.raises(TooSlow):
            await work.run(may.wait, FAR)
        with pytest.raises(Overloaded):
            await work.run(int)
        may.set()
        while work.pending:
            await asyncio.sleep(0.001)
        assert await work.run(int) == 0
        work.close()

    asyncio.run(main())


def test_changes_that_have_begun_are_waited_for():
    may = threading.Event()

    async def main():
        work = Work(threads=1, max_waiting=1, time_limit=0.02, finishes=True)
        first = asyncio.ensure_future(work.run(may.wait, FAR))
        await asyncio.sleep(0)
        with pytest.raises(TooSlow):  # which has not begun, and never will
            await work.run(int)
        may.set()
        assert await first
        work.close()

    asyncio.run(main())


def test_errors_of_work_are_not_taken_for_lateness():
    def locked():
        raise LockedError("another")  # which is a TimeoutError

    async def main():
        work = Work(threads=1, max_waiting=0, time_limit=FAR)
        with pytest.raises(LockedError):
            await work.run(locked)
        work.close()

    asyncio.run(main())


@pytest.fixture
def held(monkeypatch):
    """Hold every search of the engine until the event is set; count the calls."""
    may, calls, real = threading.Event(), [], engine.search

    def search(bundle, request):
        calls.append(request)
        assert may.wait(FAR)
        return real(bundle, request)

    monkeypatch.setattr(engine, "search", search)
    return may, calls


def ask_at_once(url, bodies, answered=lambda _: None):
    """Send all bodies at once, and return the answers; tell of each as it comes."""

    async def main():
        limits = httpx.Limits(max_connections=len(bodies))
        async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
            posts = (client.post("/v1/search", json=body) for body in bodies)
            sent = [asyncio.ensure_future(each) for each in posts]
            for each in sent:
                each.add_done_callback(answered)
            return await asyncio.gather(*sent)

    return asyncio.run(main())


def released(may):
    timer = threading.Timer(0.5, may.set)
    timer.start()
    return timer


def test_answers_are_those_of_one_alone(held):
    may, calls = held
    Q = vectors(12, seed=4)
    bodies = [{"vectors": [row.tolist()], "k": 3} for row in Q]
    bodies[5] = {"vectors": [[1.0, 2.0]], "k": 3}
    bodies[7] = {"vectors": [[float(x) for x in Q[7]]], "k": 2}
    bodies[9] = {"ids": [10**6], "k": 3}
    bodies[10] = {"ids": [12], "k": 3}
    with served(small_bundle()) as url:
        timer = released(may)
        answers = ask_at_once(url, bodies)
        timer.join()
        n_calls = len(calls)
        alone = [httpx.post(f"{url}/v1/search", json=body) for body in bodies]
    assert n_calls < len(bodies)
    for one, other in zip(answers, alone, strict=True):
        assert (one.status_code, one.content) == (other.status_code, other.content)
    assert [each.status_code for each in answers].count(422) == 2


def test_a_failing_batch_is_asked_one_by_one(held):
    """A row of NaN is refused only when all rows are looked at."""
    may, _ = held
    may.set()
    from fewbits.server._models import SearchBody
    from fewbits.server._searching import _each

    good = vectors(1).astype(float)
    bad = np.full((1, N_BITS), 1e300)
    body, settings = SearchBody(k=2), Settings()
    found = _each(small_bundle(), settings, body, "vectors", [good, bad, good])
    assert isinstance(found[0], bytes)
    assert isinstance(found[1], ArgumentError | ValueError)
    assert found[0] == found[2]


def test_a_batch_that_fails_is_not_tried_again(monkeypatch):
    from fewbits.server._models import SearchBody
    from fewbits.server._searching import _each

    calls = []

    def broken(*_):
        calls.append(1)
        raise MemoryError

    monkeypatch.setattr(engine, "search", broken)
    questions = [vectors(1)] * 3
    with pytest.raises(MemoryError):  # of which the batcher tells all
        _each(small_bundle(), Settings(), SearchBody(), "vectors", questions)
    assert calls == [1]


@pytest.mark.parametrize("slow", [{"filter": "year > 0"}, {"group_by": "year"}])
def test_searches_do_not_wait_for_slow_ones(monkeypatch, slow):
    may, begun, real = threading.Event(), threading.Event(), engine.search

    def search(bundle, request):
        if request.filter or request.group_by:
            begun.set()
            assert may.wait(FAR)
        return real(bundle, request)

    monkeypatch.setattr(engine, "search", search)
    body, found = {"vectors": vectors(1).tolist()}, []
    with served(small_bundle(), Settings(threads=1)) as url:
        path = f"{url}/v1/search"
        send = lambda: found.append(httpx.post(path, json={**body, **slow}))  # noqa: E731
        first = threading.Thread(target=send)
        first.start()
        assert begun.wait(FAR)
        assert httpx.post(path, json=body).status_code == 200
        assert not found
        may.set()
        first.join()
    assert found[0].status_code == 200


def test_a_burst(held):
    """Of ten times as many requests as may wait, the rest is refused, at once."""
    may, _ = held
    settings = Settings(max_waiting=8, max_batch=4)
    bodies = [{"vectors": vectors(1, seed=i).tolist()} for i in range(100)]
    with served(small_bundle(), settings) as url:
        n_answers = itertools.count(1)

        def release_after_most(_):
            if next(n_answers) == 80:  # all of them refused: the rest has to wait
                may.set()

        answers = ask_at_once(url, bodies, release_after_most)
        status = [each.status_code for each in answers]
        assert {*status} == {200, 429}
        assert 8 <= status.count(200) <= 20
        refused = next(each for each in answers if each.status_code == 429)
        assert refused.headers["Retry-After"] == "1"
        assert refused.json()["error"]["code"] == "overloaded"
        body = {"vectors": vectors(1).tolist()}
        assert httpx.post(f"{url}/v1/search", json=body).status_code == 200


def test_a_late_request(held):
    may, _ = held
    with served(small_bundle(), Settings(time_limit=0.1)) as url:
        began = time.monotonic()
        body = {"vectors": vectors(1).tolist()}
        answer = httpx.post(f"{url}/v1/search", json=body)
        assert time.monotonic() - began < FAR / 2
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "too_slow"
        may.set()
