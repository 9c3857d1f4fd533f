"""Three servers with a third of the rows each answer as one does."""

import contextlib
import json

import httpx
import numpy as np
import pytest

import fewbits
from fewbits.bundle import Bundle
from fewbits.client.searching import Busy, HttpSearcher
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ServiceError
from fewbits.server import Settings, create_sharded_app, run_shards
from tests.server._running import ENCODER, free_port, running, served, vectors

N = 3000
CODES = np.repeat(ENCODER.encode(vectors(N // 10)), 10, axis=0)  # many ties
RNG = np.random.default_rng(5)
IDS = RNG.permutation(N)
COLUMNS = {"kind": [f"k{i % 7}" for i in range(N)], "year": [*range(N)]}
Q = vectors(40, seed=3).tolist()


def part(rows):
    columns = {name: values[rows] for name, values in COLUMNS.items()}
    return Bundle(ENCODER).with_codes(CODES[rows], ids=IDS[rows], columns=columns)


@contextlib.contextmanager
def sharded(urls):
    settings = Settings()
    app = create_sharded_app([HttpSearcher(url) for url in urls], settings)
    with running(app, settings, free_port()) as url:
        yield url


@pytest.fixture(scope="module")
def parts():
    with contextlib.ExitStack() as stack:
        step = N // 3
        yield [
            stack.enter_context(served(part(slice(i, i + step))))
            for i in range(0, N, step)
        ]


@pytest.fixture(scope="module")
def whole():
    with served(part(slice(None))) as url:
        yield url


@pytest.fixture(scope="module")
def together(parts):
    with sharded(parts) as url:
        yield url


def asked(url, path, body):
    answer = httpx.post(f"{url}/v1/{path}", json=body, timeout=30)
    return answer.status_code, answer.content


REQUESTS = [
    ("search", {"vectors": Q, "k": 25}),
    ("search", {"vectors": Q[:1], "k": 10}),
    ("search", {"vectors": Q, "k": 5000}),
    ("search", {"ids": [int(x) for x in IDS[[3, 1500, 2999]]], "k": 12}),
    ("search", {"ids": [int(IDS[3])] * 2, "k": 4}),
    ("search", {"codes": ["00000000", "ffffffff"], "k": 12}),
    ("search", {"vectors": Q, "k": 9, "filter": "kind = 'k3' and year > 100"}),
    ("search", {"vectors": Q, "k": 4, "group_by": "kind"}),
    ("search", {"vectors": Q, "k": 9, "group_by": "kind", "columns": ["year"]}),
    ("search", {"vectors": Q, "k": 3, "columns": []}),
    ("search", {"vectors": Q[:3], "k": 3, "explain": True}),
    ("search", {"vectors": Q, "k": 9, "allowed": IDS[900:1200].tolist()}),
    ("search", {"vectors": Q, "k": 9, "allowed": []}),
    ("range-search", {"vectors": Q, "radius": 9, "allowed": IDS[:9].tolist()}),
    ("range-search", {"vectors": Q, "radius": 9}),
    ("range-search", {"vectors": Q, "radius": 12, "limit": 7}),
    ("range-search", {"ids": [int(IDS[7])], "radius": 8, "filter": "year < 1000"}),
    ("encode", {"vectors": Q}),
    ("items", {"ids": [int(x) for x in IDS[[2999, 0, 1200]]]}),
]


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_the_same_as_one(whole, together, path, body):
    status, content = asked(together, path, body)
    assert (status, content) == asked(whole, path, body)
    assert status == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("search", {"vectors": [[1.0]]}),
        ("search", {"vectors": Q, "filter": "nothing = 3"}),
        ("search", {"ids": [10**9]}),
        ("search", {"vectors": Q, "k": 10**9}),
        ("search", {"vectors": Q, "allowed": [int(IDS[0]), 10**9]}),
        ("items", {"ids": [10**9]}),
        ("items", {"ids": [int(IDS[0])] * 2}),
        ("items", {"ids": [*range(10_001)]}),
        ("items", {"positions": [0]}),
    ],
)
def test_errors_pass_through(together, path, body):
    status, content = asked(together, path, body)
    assert status == 422
    assert json.loads(content)["error"]["message"]


def test_a_missing_shard_is_flagged(parts):
    with sharded([parts[0], f"http://127.0.0.1:{free_port()}", parts[2]]) as url:
        status, content = asked(url, "search", {"vectors": Q, "k": 25})
        health = httpx.get(f"{url}/v1/health").json()
        facts = httpx.get(f"{url}/v1/facts").json()
        by_id = asked(url, "search", {"ids": [int(IDS[0])], "k": 2})[0]
        lost = [
            asked(url, "items", {"ids": [int(IDS[N // 2])]}),
            asked(url, "search", {"ids": [int(IDS[N // 2])]}),
            asked(url, "search", {"vectors": Q, "allowed": [int(IDS[N // 2])]}),
        ]
    found = json.loads(content)
    assert status == 200
    assert by_id == 200
    assert len(found.pop("missing_shards")) == 1
    assert health["status"] == "degraded"
    assert len(health["missing_shards"]) == 1
    assert facts["n_items"] == facts["summary"]["n_items"] == 2 * N // 3
    assert facts["missing_shards"] == health["missing_shards"]
    for status, content in lost:
        assert status == 503
        assert health["missing_shards"][0] in json.loads(content)["error"]["message"]
    with served(_without_the_second()) as other:
        wanted = json.loads(asked(other, "search", {"vectors": Q, "k": 25})[1])
    assert found == wanted


def _without_the_second():
    rows = np.r_[0 : N // 3, 2 * N // 3 : N]
    columns = {name: [values[i] for i in rows] for name, values in COLUMNS.items()}
    return Bundle(ENCODER).with_codes(CODES[rows], ids=IDS[rows], columns=columns)


def test_no_shard_at_all():
    with sharded([f"http://127.0.0.1:{free_port()}"]) as url:
        status, content = asked(url, "search", {"vectors": Q})
        assert httpx.get(f"{url}/v1/health").status_code == 503
    assert status == 503
    assert json.loads(content)["error"]["code"] == "no_shards"


def test_shards_rerank_no_items(together):
    body = {"ids": [int(IDS[3])], "rerank": True}
    status, content = asked(together, "search", body)
    assert status == 422
    assert "shards re-rank raw items" in json.loads(content)["error"]["message"]


def test_shards_are_read_only():
    with pytest.raises(ArgumentError, match="where they are"):
        create_sharded_app([HttpSearcher("http://a")], Settings(writable=True))
    with pytest.raises(ArgumentError, match="one shard or more"):
        create_sharded_app([])


def test_a_remote_bundle(together):
    """The client asks in Arrow, and gets what a local bundle answers."""
    local = part(slice(None))
    some = IDS[900:1200].tolist()
    options = {"filter": "kind = 'k3'", "group_by": "year"}
    with fewbits.connect(together) as remote:
        for k, more in ((25, {}), (5000, {}), (7, {"allowed": some})):
            found, wanted = remote.search(Q, k, **more), local.search(Q, k, **more)
            np.testing.assert_array_equal(found.distances, wanted.distances)
            np.testing.assert_array_equal(found.ids, wanted.ids)
        for more in ({}, options, {"group_by": "kind"}):
            found = remote.search_records(Q, 4, **more)
            assert found == local.search_records(Q, 4, **more)
        found, wanted = remote.range_search(Q, 9), local.range_search(Q, 9)
        np.testing.assert_array_equal(found.ids, wanted.ids)
        np.testing.assert_array_equal(found.offsets, wanted.offsets)
        np.testing.assert_array_equal(remote.encode(Q), local.encode(Q))
        assert remote.summary()["n_items"] == N
        assert remote.facts is remote.facts  # not asked for again
        with pytest.raises(ServiceError, match="ask a shard for /v1/classify"):
            remote.classify(Q)


def test_shards_of_another_encoder_are_refused(parts):
    turned = LinearEncoder(-np.eye(32), np.zeros(32))
    with (
        served(Bundle(turned).with_codes(CODES[:9])) as other,
        sharded([parts[0], other]) as url,
    ):
        answers = [
            asked(url, "search", {"vectors": Q, "k": 3}),
            asked(url, "encode", {"vectors": Q}),
        ]
        health = httpx.get(f"{url}/v1/health").json()
    assert health["status"] == "degraded"
    assert other in health["reason"]
    for status, content in answers:
        error = json.loads(content)["error"]
        assert (status, error["code"]) == (502, "shards_differ")
        assert parts[0] in error["message"]
        assert other in error["message"]


def test_a_shard_with_another_token_is_named(parts):
    with (
        served(part(slice(9)), Settings(token="a-token-of-its-own")) as closed,
        sharded([parts[0], closed]) as url,
    ):
        status, content = asked(url, "search", {"vectors": Q, "k": 3})
    assert status == 502
    assert f"{closed} asks for a token" in json.loads(content)["error"]["message"]


def test_retry_after_is_passed_on(parts):
    class Full(HttpSearcher):
        async def ask(self, path, body=None, **options):
            if path == "/v1/search":
                raise Busy("full", "7")
            return await super().ask(path, body, **options)

    settings = Settings()
    app = create_sharded_app([Full(parts[0])], settings)
    with running(app, settings, free_port()) as url:
        answer = httpx.post(f"{url}/v1/search", json={"vectors": Q})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")


@pytest.mark.parametrize("address", ["localhost:8000", "10.0.0.1:8000"])
def test_an_address_without_a_scheme(address):
    with pytest.raises(ArgumentError, match=f"write http://{address}"):
        run_shards([address])


@pytest.mark.parametrize("path", ["/", "/v1/map", "/v1/items/3/image"])
def test_what_is_not_there_says_what_is(together, path):
    answer = httpx.get(together + path)
    assert answer.status_code == 404
    assert "/v1/search" in answer.json()["error"]["message"]
