"""What routes of one's own are given: a snapshot, and results computed once."""

import asyncio
import threading

import httpx
import pytest

from fewbits.server import Current, Settings, create_app
from tests.server._running import small_collection, vectors


def app_of(source=None, **settings):
    """Return an application that answers ``/v1/PATH`` by functions that may be added.

    Each is called with what the route is given.
    """
    source = small_collection() if source is None else source
    app = create_app(source, Settings(**{"time_limit": 5.0, **settings}))
    app.functions = {}

    @app.get("/v1/own/{path}")
    async def own(path: str, served: Current):
        return await app.functions[path](served)

    return app


def ask(app, main):
    """Run a coroutine that is given a function to ask by, and return what it does."""

    async def run():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=30
        ) as client:
            return await main(lambda path: client.get(f"/v1/own/{path}"))

    return asyncio.run(run())


class Slow:
    """Returns how often it was called, when it may."""

    def __init__(self):
        self.may, self.count = threading.Event(), 0

    def __call__(self):
        self.count += 1
        assert self.may.wait(5)
        return self.count


def test_results_are_computed_once_for_all_who_wait():
    slow, app = Slow(), app_of()
    app.functions["a"] = lambda served: served.cached("key", slow)
    app.functions["b"] = lambda served: served.cached("another", slow)

    async def main(get):
        several = [asyncio.ensure_future(get("a")) for _ in range(5)]
        await asyncio.sleep(0.05)
        several[0].cancel()  # the others still get it
        slow.may.set()
        answers = [(await each).json() for each in several[1:]]
        return answers, (await get("a")).json(), (await get("b")).json()

    assert ask(app, main) == ([1] * 4, 1, 2)


def test_what_takes_longer_than_a_request_is_there_when_asked_again():
    slow, app = Slow(), app_of(time_limit=0.05)
    app.functions["a"] = lambda served: served.cached("key", slow, lane="heavy")
    app.functions["b"] = lambda served: served.run(lambda: 7)

    async def main(get):
        assert (await get("a")).status_code == 503
        assert (await get("b")).json() == 7  # others do not wait for it
        slow.may.set()
        while (answer := await get("a")).status_code == 503:
            await asyncio.sleep(0.01)
        return answer.json()

    assert ask(app, main) == 1


@pytest.mark.parametrize(
    "lane",
    [
        lambda served, function: served.run(function, lane="changes"),
        lambda served, function: served.run(function, lane="heavy"),
        lambda served, function: served.run(function, lane="bulk"),
    ],
    ids=["changes", "heavy", "bulk"],
)
def test_short_reads_wait_for_nothing_else(lane):
    slow, app = Slow(), app_of(threads=1)
    app.functions["a"] = lambda served: lane(served, slow)
    app.functions["b"] = lambda served: served.run(lambda: 7)

    async def main(get):
        others = [asyncio.ensure_future(get("a")) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert (await get("b")).json() == 7
        assert not any(each.done() for each in others)
        slow.may.set()
        return [(await each).json() for each in others]

    assert ask(app, main) == [1, 2]


def test_what_may_wait_is_bounded():
    slow, app = Slow(), app_of(threads=1, max_waiting=1)
    app.functions["a"] = lambda served: served.run(slow)

    async def main(get):
        several = [asyncio.ensure_future(get("a")) for _ in range(2)]
        await asyncio.sleep(0.05)
        refused = await get("a")
        slow.may.set()
        answers = [(await each).json() for each in several]
        return refused.status_code, answers, (await get("a")).json()

    assert ask(app, main) == (429, [1, 2], 3)


def test_late_work_counts_until_it_ends():
    slow, app = Slow(), app_of(threads=1, max_waiting=1, time_limit=0.05)
    app.functions["a"] = lambda served: served.run(slow)

    async def main(get):
        late = [(await get("a")).status_code for _ in range(2)]
        slow.may.set()
        while (answer := await get("a")).status_code != 200:
            await asyncio.sleep(0.01)
        return late, answer.json()

    late, count = ask(app, main)
    assert late == [503, 503]
    assert count == 2  # the second had not begun, and never did


def test_a_change_that_has_begun_is_waited_for():
    slow, app = Slow(), app_of(time_limit=0.05)
    app.functions["a"] = lambda served: served.run(slow, lane="changes")

    async def main(get):
        first = asyncio.ensure_future(get("a"))
        await asyncio.sleep(0.02)
        second = await get("a")  # which has not begun, and never will
        slow.may.set()
        return (await first).json(), second.status_code

    assert ask(app, main) == (1, 503)


def test_what_failed_is_not_kept():
    answers, app = [ZeroDivisionError(), 7], app_of()

    def sometimes():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    app.functions["a"] = lambda served: served.cached("key", sometimes)

    async def main(get):
        return (await get("a")).status_code, (await get("a")).json()

    assert ask(app, main) == (500, 7)


def test_a_snapshot_stays_as_it_is_for_whoever_holds_it():
    app, held, Q = app_of(writable=True), [], vectors(3, seed=9)

    async def hold(served):
        held.append(served)
        return await served.cached("key", lambda: len(served.collection))

    app.functions["a"] = hold

    async def main(get):
        before = (await get("a")).json()
        hits = held[0].collection.search(Q, 5)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost"
        ) as client:
            body = {"filter": "year < 2015"}
            assert (await client.post("/v1/delete", json=body)).status_code == 200
        return before, hits, (await get("a")).json()

    before, hits, after = ask(app, main)
    assert (before, after) == (200, 50)
    assert held[0].version != held[1].version
    assert held[0].collection.search(Q, 5).ids.tolist() == hits.ids.tolist()
