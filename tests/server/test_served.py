"""What routes are given: one snapshot, and results that are computed once."""

import asyncio
import threading

import pytest

from fewbits.server import Settings
from fewbits.server._live import Live
from fewbits.server._service import Served, Service
from fewbits.server._work import TooSlow
from tests.server._running import small_collection


def served(**settings):
    service = Service(
        Live(small_collection()), Settings(**{"time_limit": 5.0, **settings})
    )
    return Served(service, service.live.snapshot)


def test_results_are_computed_once_for_all_who_wait():
    calls, may = [], threading.Event()

    def slow():
        calls.append(1)
        assert may.wait(5)
        return len(calls)

    async def main():
        given = served()
        several = [asyncio.ensure_future(given.cached("key", slow)) for _ in range(5)]
        await asyncio.sleep(0.01)
        several[0].cancel()  # the others still get it
        may.set()
        found = await asyncio.gather(*several[1:])
        assert await given.cached("key", slow) == 1
        assert await given.cached("another", slow) == 2
        return found

    assert asyncio.run(main()) == [1, 1, 1, 1]


def test_what_takes_longer_than_a_request_is_there_when_asked_again():
    calls, may = [], threading.Event()

    def slow():
        calls.append(1)
        assert may.wait(5)
        return len(calls)

    async def main():
        given = served(time_limit=0.02)
        with pytest.raises(TooSlow):
            await given.cached("key", slow, heavy=True)
        assert await given.run(lambda: 7) == 7  # others do not wait for it
        may.set()
        await given.snapshot.results["key"]
        return await given.cached("key", slow, heavy=True)

    assert asyncio.run(main()) == 1


def test_reads_do_not_wait_for_changes():
    may = threading.Event()

    async def main():
        given = served(threads=1)
        changes = [asyncio.ensure_future(given.run_change(may.wait, 5)) for _ in "ab"]
        await asyncio.sleep(0)
        assert await given.run(lambda: 7) == 7
        assert not any(each.done() for each in changes)
        may.set()
        return await asyncio.gather(*changes)

    assert asyncio.run(main()) == [True, True]


def test_what_failed_is_not_kept():
    answers = [ZeroDivisionError(), 7]

    def sometimes():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def main():
        given = served()
        with pytest.raises(ZeroDivisionError):
            await given.cached("key", sometimes)
        await asyncio.sleep(0)
        return await given.cached("key", sometimes)

    assert asyncio.run(main()) == 7


def test_another_snapshot_has_its_own_results():
    async def main():
        given = served()
        assert await given.cached("key", lambda: 1) == 1
        live = given.service.live
        live.change(lambda collection: collection.delete([0]))
        after = Served(given.service, live.snapshot)
        return await after.cached("key", lambda: 2), len(given.collection)

    assert asyncio.run(main()) == (2, 200)
