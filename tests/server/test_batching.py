"""What waits is answered together; what is too much is refused."""

import asyncio
import itertools
import json
import threading
import time

import httpx
import pytest

from fewbits import Collection
from fewbits.server import Settings, create_app
from tests.server._running import ENCODER, N_BITS, served, small_collection, vectors
from tests.server._web import web

FAR = 10.0


@pytest.fixture
def held(monkeypatch):
    """Hold every search until the event is set; remember the options."""
    may, calls, real = threading.Event(), [], Collection.search

    def search(self, *args, **options):
        calls.append(options)
        assert may.wait(FAR)
        return real(self, *args, **options)

    monkeypatch.setattr(Collection, "search", search)
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
    with served(small_collection()) as url:
        timer = released(may)
        answers = ask_at_once(url, bodies)
        timer.join()
        n_calls = len(calls)
        alone = [web.post(f"{url}/v1/search", json=body) for body in bodies]
    assert n_calls < len(bodies)
    for one, other in zip(answers, alone, strict=True):
        assert (one.status_code, one.content) == (other.status_code, other.content)
    assert [each.status_code for each in answers].count(422) == 2


@pytest.mark.parametrize("limit", [{"max_batch": 2}, {"max_body_bytes": 1700}])
def test_batches_are_bounded(held, limit):
    may, calls = held
    bodies = [{"vectors": vectors(1, seed=i).tolist()} for i in range(9)]
    assert 600 < len(json.dumps(bodies[0])) < 850  # two are less than the limit
    with served(small_collection(), Settings(**limit)) as url:
        timer = released(may)
        answers = ask_at_once(url, bodies)
        timer.join()
    assert {each.status_code for each in answers} == {200}
    sizes = [len(call["vectors"]) for call in calls]
    assert sum(sizes) == 9
    assert max(sizes) == 2


def test_one_fault_is_told_to_one(held):
    """A row of NaN is refused only when all rows are looked at."""
    may, calls = held
    good = {"vectors": vectors(1).tolist(), "k": 2}
    bad = {"vectors": [[1e300] * N_BITS], "k": 2}
    with served(small_collection()) as url:
        timer = released(may)
        first, *answers = ask_at_once(url, [good, *[good, bad] * 3])
        timer.join()
    assert [each.status_code for each in answers] == [200, 422] * 3
    assert {each.text for each in answers[::2]} == {first.text}
    assert any(len(call["vectors"]) > 1 for call in calls)


def test_a_batch_that_fails_is_not_tried_again(monkeypatch):
    calls = []

    def broken(self, **options):
        calls.append(len(options["vectors"]))
        raise MemoryError

    monkeypatch.setattr(Collection, "search", broken)
    body = {"vectors": vectors(1).tolist()}
    with served(small_collection()) as url:
        answers = ask_at_once(url, [body] * 6)
    assert {each.status_code for each in answers} == {500}
    assert sum(calls) == 6


#: For each field of a search, a value that changes the answer to the request below.
OTHERS = {
    "k": 3,
    "radius": 12,
    "filter": "kind = 'red'",
    "allowed": [7, 8, 9],
    "group_by": "kind",
    "rerank": False,
    "shortlist": 5,
    "columns": ["year"],
}
KINDS = {"texts", "vectors", "images", "ids", "codes"}


def bodies_that_differ_in_one_field():
    """Yield requests for one item, of all kinds, each with one option of its own."""
    Q = vectors(1, seed=4)
    codes = [code.tobytes().hex() for code in ENCODER.encode(Q)]
    for kind in ({"vectors": Q.tolist()}, {"codes": codes}, {"ids": [9]}):
        yield kind
        for name, value in OTHERS.items():
            yield {**kind, name: value}
    vector = {"vectors": Q.tolist()}
    yield {**vector, "columns": ["kind"]}
    yield {**vector, "columns": []}
    yield {**vector, "columns": ["year", "kind"]}
    yield {**vector, "k": 4}
    yield {**vector, "k": 10}
    yield {**vector, "rerank": True}
    yield {**vector, "rerank": True, "shortlist": 5}
    yield {**vector, "rerank": True, "shortlist": 6}
    yield {**vector, "filter": "kind = 'green'"}
    yield {**vector, "radius": 12, "k": 2}
    yield {"vectors": vectors(1, seed=5).tolist()}
    yield {"vectors": [[1, *Q.tolist()[0][1:]]]}
    yield {"ids": [10]}


def test_no_request_gets_the_answer_of_one_with_other_options(held):
    """The key of a batch is the whole request."""
    fields = create_app(small_collection()).openapi()["components"]["schemas"]
    assert {*fields["SearchBody"]["properties"]} == {*OTHERS, *KINDS, "at"}
    may, calls = held
    bodies = [*bodies_that_differ_in_one_field()] * 2
    collection = small_collection(keep_vectors="float32")
    with served(collection) as url:
        timer = released(may)
        answers = ask_at_once(url, bodies)
        timer.join()
        n_calls = len(calls)
        alone = [web.post(f"{url}/v1/search", json=body) for body in bodies]
    for body, one, other in zip(bodies, answers, alone, strict=True):
        assert (one.status_code, one.content) == (other.status_code, other.content), (
            body
        )
    assert n_calls < len(bodies)  # some were answered together
    assert len({each.content for each in answers}) > len(OTHERS)


@pytest.mark.parametrize("slow", [{"filter": "year > 0"}, {"group_by": "year"}])
def test_searches_do_not_wait_for_slow_ones(monkeypatch, slow):
    may, begun, real = threading.Event(), threading.Event(), Collection.search

    def search(self, **options):
        if options["filter"] or options["group_by"]:
            begun.set()
            assert may.wait(FAR)
        return real(self, **options)

    monkeypatch.setattr(Collection, "search", search)
    body, found = {"vectors": vectors(1).tolist()}, []
    with served(small_collection(), Settings(threads=1)) as url:
        path = f"{url}/v1/search"
        send = lambda: found.append(web.post(path, json={**body, **slow}))  # noqa: E731
        first = threading.Thread(target=send)
        first.start()
        assert begun.wait(FAR)
        assert web.post(path, json=body).status_code == 200
        assert not found
        may.set()
        first.join()
    assert found[0].status_code == 200


def test_a_burst(held):
    """Of ten times as many requests as may wait, the rest is refused, at once."""
    may, _ = held
    settings = Settings(max_waiting=8, max_batch=4)
    bodies = [{"vectors": vectors(1, seed=i).tolist()} for i in range(100)]
    with served(small_collection(), settings) as url:
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
        assert web.post(f"{url}/v1/search", json=body).status_code == 200


def test_a_late_request(held):
    may, _ = held
    with served(small_collection(), Settings(time_limit=0.1)) as url:
        began = time.monotonic()
        body = {"vectors": vectors(1).tolist()}
        answer = web.post(f"{url}/v1/search", json=body)
        assert time.monotonic() - began < FAR / 2
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "too_slow"
        may.set()
