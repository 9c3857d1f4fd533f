"""Bodies that are too large, too deep, too slow or not what they seem."""

import base64
import contextlib
import io
import json
import os
import socket
import struct
import time
import zlib

import httpx
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import fewbits
from fewbits import Collection
from fewbits.client.wire import ARROW, write_stream
from fewbits.server import Settings
from tests.server._images import image_collection
from tests.server._running import (
    ENCODER,
    N_BITS,
    process,
    served,
    small_collection,
    vectors,
)
from tests.server._texts import text_collection
from tests.server._web import web

MIB = 1 << 20
JSON = {"Content-Type": "application/json"}
ROWS = vectors(2).tolist()


def search(url, content, headers=JSON):
    return web.post(f"{url}/v1/search", content=content, headers=headers, timeout=30)


def code(answer):
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture(scope="module")
def url():
    with served(small_collection(), Settings(max_body_bytes=4096, max_k=500)) as url:
        yield url


def padded(size):
    body = json.dumps({"ids": [1], "k": 1}).encode()
    return body + b" " * (size - len(body))


def test_one_byte_over_the_limit(url):
    assert search(url, padded(4096)).status_code == 200
    assert code(search(url, padded(4097))) == (413, "body_too_large")


def test_one_byte_over_the_limit_in_chunks(url):
    def chunks(size):
        body = padded(size)
        yield from (body[i : i + 1000] for i in range(0, size, 1000))

    assert search(url, chunks(4096)).status_code == 200
    assert code(search(url, chunks(4097))) == (413, "body_too_large")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Serve in a process of its own, whose memory can be looked at."""
    folder = tmp_path_factory.mktemp("bounds") / "b"
    small_collection(path=folder)
    with process(folder) as (url, run, _):
        search(url, json.dumps({"vectors": ROWS}))  # everything is imported
        yield url, run


def resident(run):
    with open(f"/proc/{run.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def grows_little(alone):
    """Fail where a test makes the server grow by 64 MiB, or ends it."""
    url, run = alone
    before = resident(run)
    yield url
    assert web.get(f"{url}/v1/health").status_code == 200
    assert resident(run) - before < 64 * MIB


@pytest.mark.parametrize("path", ["/v1/search", "/v1/health", "/nothing"])
def test_a_gibibyte_in_chunks(grows_little, path):
    sent = 0

    def chunks():
        nonlocal sent
        while sent < 1 << 30:
            sent += MIB
            yield bytes(MIB)

    try:
        answer = web.post(
            grows_little + path, content=chunks(), headers=JSON, timeout=60
        )
    except httpx.TransportError:  # the connection is closed while we send
        assert sent < 1 << 30
    else:
        assert 400 <= answer.status_code < 500 or path == "/v1/health"


@pytest.mark.parametrize("opening", [b"[", b'{"vectors":', b'{"a":['])
def test_deep_json(grows_little, opening):
    answer = search(grows_little, opening * (10**6 // len(opening)))
    assert code(answer) == (422, "argument_error")


@pytest.mark.parametrize(
    "body",
    [
        {"vectors": ROWS, "k": 10**9},
        {"vectors": ROWS, "k": 2**64},
        {"vectors": ROWS * 5001, "k": 1},
        {"vectors": ROWS * 4000, "k": 200},
        {"vectors": [[1.0] * N_BITS, [1.0]]},
        {"vectors": [[]]},
        {"vectors": []},
        {"vectors": [[1e39] * N_BITS]},
        {"codes": ["0"], "k": 1},
        {"codes": ["00"], "k": 1},
        {"codes": ["00000000", "00"], "k": 1},
        {"ids": [2**70]},
        {"ids": ["a"]},
        {"texts": ["a"]},
        {"vectors": ROWS, "ids": [1]},
        {"vectors": ROWS, "filter": "(" * 9000},
        {"vectors": ROWS, "filter": "not " * 2000 + "year > 3"},
        {"vectors": ROWS, "filter": " or ".join(["year > 3"] * 900)},
        {"vectors": ROWS, "filter": "x" * 20_000},
        {"vectors": ROWS, "filter": "kind like '" + "%a" * 3000 + "'"},
        {"vectors": ROWS, "allowed": [10**12]},
        {"vectors": ROWS, "radius": 32},
        {"vectors": ROWS * 4000, "radius": 32},
        {"vectors": ROWS, "radius": -1},
        {"vectors": ROWS, "columns": ["nothing"]},
        {"vectors": ROWS, "group_by": "nothing"},
    ],
)
def test_requests_that_ask_too_much(grows_little, body):
    began = time.monotonic()
    answer = search(grows_little, json.dumps(body))
    assert answer.status_code in (200, 422)
    assert time.monotonic() - began < 10
    if answer.status_code == 422:
        assert len(answer.json()["error"]["message"]) < 1000
    else:
        assert {"filter", "k", "radius"} & {*body}


def test_json_has_a_limit_of_its_own():
    settings = Settings(max_json_bytes=2000)
    with served(small_collection(), settings) as url:
        assert search(url, padded(2000)).status_code == 200
        assert code(search(url, padded(2001))) == (413, "body_too_large")
        ids = pa.table({"ids": list(range(200))})
        arrow = {"Content-Type": ARROW}
        assert search(url, write_stream(ids, "{}"), arrow).status_code == 200
        told = write_stream(pa.table({"ids": [1]}), padded(2001).decode())
        assert code(search(url, told, arrow)) == (413, "body_too_large")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"ids": [None] * 10**5}, "ids.0"),
        ({"vectors": [[None] * 10**5] * 3}, "vectors.0.0"),
        ({f"key{i}": 0 for i in range(10**5)}, "more than 100 fields"),
        ({"ids": "none", "text": ["a"]}, "unknown field 'text'"),
    ],
)
def test_only_the_first_fault_is_looked_for(client, body, told):
    answer = client.post("/v1/search", json=body)
    assert code(answer) == (422, "argument_error")
    assert told in answer.json()["error"]["message"]
    assert len(answer.json()["error"]["message"]) < 1000


def test_k_is_bounded(url):
    body = {"vectors": ROWS, "k": 501}
    answer = search(url, json.dumps(body))
    assert "at most 500 hits" in answer.json()["error"]["message"]


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip"])
def test_compressed_bodies_are_not_unpacked(grows_little, encoding):
    squeezed = zlib.compress(bytes(100 * MIB))
    headers = {**JSON, "Content-Encoding": encoding}
    answer = search(grows_little, squeezed, headers)
    assert code(answer) == (415, "unsupported_encoding")


def squeezed_stream():
    table = pa.table({"vectors": pa.array([[0.0] * N_BITS] * 200_000)})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def hostile_streams():
    good = write_stream(pa.table({"ids": [1, 2]}), "{}")
    yield b""
    yield b"\0" * 100
    yield b"\xff" * 100
    yield squeezed_stream()
    yield good[:-20]
    yield write_stream(pa.table({"ids": [1]}), "[" * 10**5)
    yield write_stream(pa.table({"ids": [1]}), '{"k": 3, "limits": 1}')
    yield write_stream(pa.table({"nothing": [1]}), "{}")
    yield write_stream(pa.table({"ids": [1], "codes": ["00"]}), "{}")
    yield write_stream(pa.table({"vectors": [[1.0], [None]]}), "{}")
    yield write_stream(pa.table({"vectors": ["a", "b"]}), "{}")
    yield write_stream(pa.table({"texts": [1, 2]}), "{}")
    yield write_stream(pa.table({"ids": pa.nulls(3)}), "{}")
    rng = np.random.default_rng(0)
    for place in rng.integers(8, len(good), 60).tolist():
        yield good[:place] + bytes([rng.integers(256)]) + good[place + 1 :]


def test_hostile_arrow_streams(grows_little):
    for stream in hostile_streams():
        answer = search(grows_little, stream, {"Content-Type": ARROW})
        assert answer.status_code in (200, 422), answer.text


def large_streams():
    """Yield small streams of large tables, and what is said of them."""
    yield squeezed_stream(), "uncompressed"
    places = pa.array(np.zeros(5000, np.int8))
    texts = pa.DictionaryArray.from_arrays(places, ["x" * 10**5])
    for column in (
        texts,
        pa.array(["x" * 100], pa.string_view()),
        pa.RunEndEncodedArray.from_arrays([5000], ["x" * 10**5]),
        pa.FixedSizeListArray.from_arrays(pa.nulls(10**7), 10**7),
    ):
        yield write_stream(pa.table({"texts": column}), "{}"), "send "
    yield write_stream(pa.table({"texts": pa.nulls(10**9)}), "{}"), "more than were"


def test_small_streams_of_large_tables(client, monkeypatch):
    unpacked = []
    real = pa.ipc.open_stream
    monkeypatch.setattr(pa.ipc, "open_stream", lambda x: unpacked.append(x) or real(x))
    for stream, told in large_streams():
        answer = search_in(client, stream)
        assert code(answer) == (422, "argument_error")
        assert told in answer.json()["error"]["message"]
        assert len(unpacked) == 0 or "uncompressed" not in told


def test_columns_of_streams_that_are_plain(client_of):
    client = client_of(writable=True)
    plain = {"tags": [["a"]], "w": [[1.0]], "at": [np.datetime64("2020", "s")]}
    table = pa.table({"id": [1], **{k: pa.array(v) for k, v in plain.items()}})
    headers = {"Content-Type": ARROW}
    content = write_stream(table, "{}")
    answer = client.post("/v1/update", content=content, headers=headers)
    assert answer.json()["n_changed"] == 1
    (item,) = client.post("/v1/items", json={"ids": [1]}).json()["items"]
    assert (item["columns"]["tags"], item["columns"]["w"]) == (["a"], [1.0])


@pytest.mark.parametrize("route", ["add", "upsert", "update", "search", "encode"])
def test_nothing_follows_a_stream(client_of, route):
    client = client_of(writable=True)
    more = {"vectors": pa.array(vectors(4).tolist(), pa.list_(pa.float32()))}
    if route not in ("search", "encode"):
        more = {"_id": pa.array(range(200, 204)), "kind": pa.array(["x"] * 4)}
    first, second = (write_stream(pa.table(more)[i : i + 2], "{}") for i in (0, 2))
    for data in (first + second, first + b"junk"):
        answer = client.post(
            f"/v1/{route}", content=data, headers={"Content-Type": ARROW}
        )
        assert code(answer) == (422, "argument_error")
        assert "one stream" in answer.json()["error"]["message"]


def test_rows_of_an_update_need_not_have_the_same_columns(client_of):
    client = client_of(writable=True)
    (before,) = client.post("/v1/items", json={"ids": [1]}).json()["items"]
    rows = [{"id": 0, "year": 9}, {"id": 1, "kind": "x"}]
    assert client.post("/v1/update", json={"rows": rows}).json()["n_changed"] == 2
    (item,) = client.post("/v1/items", json={"ids": [1]}).json()["items"]
    assert item["columns"] == before["columns"] | {"kind": "x"}
    rows = [{"id": i, f"c{i}": 1} for i in range(3000)]
    answer = client.post("/v1/update", json={"rows": rows})
    assert code(answer) == (422, "argument_error")


def search_in(client, stream):
    headers = {"Content-Type": ARROW}
    return client.post("/v1/search", content=stream, headers=headers)


def png_of(width, height):
    """Return the head of a PNG that claims to be large, and little else."""

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1 << 20))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data)


@pytest.mark.parametrize(
    "data",
    [
        png_of(30_000, 30_000),
        png_of(2**31 - 1, 2**31 - 1),
        png_of(1, 1)[:30],
        b"GIF89a" + bytes(20),
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"",
    ],
)
def test_images_that_are_none(client_of, tmp_path, monkeypatch, data):
    client = client_of(image_collection(tmp_path, monkeypatch)[0])
    began = time.monotonic()
    sent = base64.b64encode(data).decode()
    answer = client.post("/v1/search", json={"images": [sent]})
    assert answer.status_code == 422
    assert time.monotonic() - began < 5


def test_parts_of_an_image_are_bounded(client_of, tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client, whole = client_of(collection), paths[0].read_bytes()
    end = whole.index(b"IEND") - 4
    part = struct.pack(">I", 0) + b"abCd" + struct.pack(">I", zlib.crc32(b"abCd"))
    for n, status in ((1000, 200), (100_000, 422)):
        data = whole[:end] + n * part + whole[end:]
        kind = {"Content-Type": "image/png"}
        answer = client.post("/v1/search", content=data, headers=kind)
        assert answer.status_code == status
    assert "too many parts" in answer.text


def test_columns_of_new_rows_are_bounded(client_of):
    client = client_of(writable=True)
    wide = {f"c{i}": 1 for i in range(10_001)}
    answer = client.post("/v1/add", json={"rows": [wide]})
    assert answer.status_code == 422
    assert "at most 10,000 columns" in answer.json()["error"]["message"]


def test_pixels_are_bounded(client_of, tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client = client_of(collection, max_pixels=32 * 32 - 1)
    sent = base64.b64encode(paths[0].read_bytes()).decode()
    answer = client.post("/v1/search", json={"images": [sent]})
    assert "1,024 pixels" in answer.json()["error"]["message"]
    assert client.get("/v1/items/0/image").status_code == 422
    assert "not base64" in client.post("/v1/search", json={"images": ["?"]}).text


def test_pixels_of_all_images_are_bounded(client_of, tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client = client_of(collection, max_pixels=32 * 32)
    sent = base64.b64encode(paths[0].read_bytes()).decode()
    few, many = {"images": [sent] * 4}, {"images": [sent] * 5}
    assert client.post("/v1/search", json=few).status_code == 200
    answer = client.post("/v1/search", json=many)
    assert "5,120 pixels" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["search", "encode", "classify", "like", "recall"])
def test_characters_of_all_texts_are_bounded(client_of, monkeypatch, path):
    client = client_of(text_collection(monkeypatch), max_characters=100)
    for texts, status in ((["arm", "x" * 97], 200), (["arm", "x" * 98], 422)):
        body = {"texts": texts}
        if path in ("like", "recall"):
            body = {{"like": "good", "recall": "queries"}[path]: body}
        if path == "classify":
            body["label"] = "n"
        answer = client.post(f"/v1/{path}", json=body)
        if path == "recall" and status == 200:  # which needs more than that
            assert "characters" not in answer.text
            continue
        assert answer.status_code == status, answer.text
    assert "101 characters; 100 are allowed" in answer.json()["error"]["message"]


def test_many_texts_are_sent_in_parts(monkeypatch):
    local = text_collection(monkeypatch)
    texts = ["arm", "x" * 900, "leg", *["bite shark"] * 300, "é" * 400]
    settings = Settings(max_characters=1000)
    with served(local, settings) as url, fewbits.open(url) as remote:
        wanted = local.search(texts, 3)
        assert remote.search(texts, 3).to_list() == wanted.to_list()
        with pytest.raises(fewbits.errors.ArgumentError, match="characters"):
            remote.search(["x" * 1001])


def test_images_for_other_programs_are_none(client_of, tmp_path, monkeypatch):
    client = client_of(image_collection(tmp_path, monkeypatch)[0])
    sink = io.BytesIO()
    Image.new("RGB", (4, 4)).save(sink, "EPS")
    kind = {"Content-Type": "image/eps"}
    answer = client.post("/v1/search", content=sink.getvalue(), headers=kind)
    assert code(answer) == (422, "feature_error")
    assert "not a readable image: readable are PNG" in answer.text


def connected(url):
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def received(sock):
    parts = io.BytesIO()
    while part := sock.recv(65536):
        parts.write(part)
    return parts.getvalue()


HEAD = (
    b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
)


def test_a_body_that_comes_slowly():
    with served(small_collection(), Settings(body_time_limit=0.2)) as url:
        with connected(url) as sock:
            sock.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
            answer = received(sock)
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"body_too_slow" in answer


def test_a_head_that_comes_slowly():
    with served(small_collection(), Settings(head_time_limit=0.2)) as url:
        for sent in (b"", b"GET / HT", HEAD):
            with connected(url) as sock:
                sock.sendall(sent)
                assert received(sock) == b""
        with connected(url) as sock:  # the second request of a connection
            sock.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\nGET")
            assert received(sock).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("sent", "later"),
    [
        (b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n"),
        (b"POST /v1/facts HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b"x"),
    ],
)
def test_a_connection_that_is_held_after_an_answer(sent, later):
    with (
        served(small_collection(), timeout_keep_alive=0.3) as url,
        connected(url) as sock,
    ):
        sock.sendall(sent)
        assert sock.recv(65536).startswith(b"HTTP/1.1")
        # It ends; by a reset, where it ended before what came later.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(later)
            received(sock)


def test_trailers_without_end(url):
    head = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    for trailers in (b"X: a\r\n" * 10**6, b"X: " + b"a" * 10**7):
        with connected(url) as sock:
            sock.sendall(head + b"0\r\n")
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                sock.sendall(trailers)


def test_an_answer_that_nobody_reads():
    long = {"text": ["a" * 10**5] * 100}
    collection = Collection.create(None, vectors(100), encoder=ENCODER, columns=long)
    body = json.dumps({"positions": [*range(100)]}).encode()
    request = HEAD.replace(b"search", b"items") + b"Content-Length: %d\r\n\r\n" % len(
        body
    )
    settings = Settings(time_limit=3.0, max_connections=1)
    with served(collection, settings) as url, connected(url) as sock:
        sock.sendall(request + body)
        assert sock.recv(100).startswith(b"HTTP/1.1 200")
        end, status = time.monotonic() + 30, None
        while status != 200 and time.monotonic() < end:  # there is room for one
            with contextlib.suppress(httpx.TransportError):
                status = web.get(f"{url}/v1/health").status_code
            time.sleep(0.05)
        assert status == 200


def test_a_head_without_end(url):
    with connected(url) as sock:
        sock.sendall(HEAD)
        endless = b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1000) for i in range(10_000))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            sock.sendall(endless)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\r\n\r\n", b"GET /" + b"a" * 10**5])
def test_what_is_no_http_has_the_shape_of_errors(url, sent):
    with connected(url) as sock:
        sock.sendall(sent)
        head, _, body = received(sock).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["code"] == "bad_request"


def test_too_many_connections():
    with served(small_collection(), Settings(max_connections=5)) as url:
        open_ones = [connected(url) for _ in range(20)]
        time.sleep(0.2)
        closed = 0
        for sock in open_ones:
            sock.settimeout(0.05)
            try:
                closed += sock.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                closed += 1
        for sock in open_ones:
            sock.close()
        assert closed == 15
        time.sleep(0.1)
        assert web.get(f"{url}/v1/health").status_code == 200


def test_slow_clients_leave_room_for_others():
    with served(small_collection(), Settings(head_time_limit=5.0)) as url:
        slow = [connected(url) for _ in range(300)]
        for sock in slow:
            sock.sendall(HEAD)
        began = time.monotonic()
        assert search(url, json.dumps({"ids": [1]})).status_code == 200
        assert time.monotonic() - began < 5
        for sock in slow:
            sock.close()


def test_memory_of_all_bodies_is_bounded():
    settings = Settings(max_held_bytes=3000, body_time_limit=5.0)
    with served(small_collection(), settings) as url:
        with connected(url) as sock:
            sock.sendall(HEAD + b"Content-Length: 2900\r\n\r\n" + b" " * 2800)
            time.sleep(0.2)
            answer = search(url, padded(1000))
            assert code(answer) == (429, "overloaded")
            assert "Retry-After" in answer.headers
        time.sleep(0.2)
        assert search(url, padded(1000)).status_code == 200


@pytest.mark.parametrize(
    ("filter", "told"),
    [
        (" or ".join(["kind like '%a%'"] * 21), "at most 20 LIKE patterns, got 21"),
        (f"kind ilike '{'_' * 201}'", "at most 200 characters, got 201"),
    ],
)
@pytest.mark.parametrize("path", ["search", "duplicates", "duplicate-groups", "like"])
def test_patterns_of_a_filter_are_bounded(client_of, path, filter, told):
    bodies = {"search": {"ids": [1]}, "like": {"good_ids": [1, 2]}}
    body = bodies.get(path, {"radius": 1})
    answer = client_of().post(f"/v1/{path}", json={**body, "filter": filter})
    assert answer.status_code == 422
    assert told in answer.json()["error"]["message"]


def test_a_filter_may_speak_of_likes(client_of):
    asked = " or ".join([*["kind like 'r%'"] * 20, f"kind = '{'like ' * 30}'"])
    answer = client_of().post("/v1/search", json={"ids": [1], "filter": asked})
    kinds = [hit["columns"]["kind"] for hit in answer.json()["hits"][0]]
    assert kinds == ["red"] * 10


def refusal_of(url, head, body=b""):
    """Return the answer to a request, and whether the connection is open after it."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        sock.sendall(head.encode() + b"\r\n\r\n" + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += sock.recv(65536)
        again = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with contextlib.suppress(OSError):
            sock.sendall(again.encode())
            while more := sock.recv(65536):
                answer += more
                if answer.count(b"HTTP/1.1 ") > 1:
                    return answer, True
        return answer, False


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/nothing", b"404"), ("/v1/health", b"405")]
)
def test_a_refusal_leaves_the_connection_open_where_the_body_has_come(path, status):
    with served(small_collection(), timeout_keep_alive=0.3) as url:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9"
        with connected(url) as sock:
            sock.sendall(f"{head}\r\n\r\na part".encode())
            assert received(sock).startswith(b"HTTP/1.1 " + status)  # and it ends
        answer, is_open = refusal_of(url, head, b"all of it")
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert is_open


def test_who_waits_to_be_asked_for_a_body_is_refused_at_once():
    with served(small_collection(), Settings(token="t" * 16)) as url:
        began = time.monotonic()
        head = (
            "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n"
            "Expect: 100-continue"
        )
        answer, is_open = refusal_of(url, head)
        assert answer.startswith(b"HTTP/1.1 401")
        assert not is_open
        assert b"connection: close" in answer.lower()
        assert time.monotonic() - began < 5


def test_a_client_that_sends_much_sees_its_refusal():
    with served(small_collection(), Settings(token="t" * 16)) as url:
        for _ in range(5):
            answer = web.post(f"{url}/v1/search", content=bytes(900_000))
            assert answer.status_code == 401
