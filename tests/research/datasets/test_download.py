"""Downloads from a server on this machine."""

import hashlib
import re
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fewbits.errors import ArtefactError, MissingDataError
from research.common.datasets._download import Remote, fetch

BODY = bytes(range(256)) * 4000


@dataclass
class Server:
    """What the server should do, and what it was asked."""

    url: str = ""
    body: bytes = BODY
    ranges: bool = True
    stop_after: int | None = None
    asked: list = field(default_factory=list)

    def remote(self, path="file.bin", **changes):
        digest = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
        known = {"checksum": digest, "size": len(BODY)} | changes
        return Remote(f"{self.url}/{path}", "sub/file.bin", **known)


def handler(server):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range")
            server.asked.append(asked)
            if self.path != "/file.bin":
                return self.send_error(404)
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
            start = start if server.ranges else 0
            size = len(server.body)
            if start >= size:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.send_header("Content-Length", str(size - start))
            self.end_headers()
            # The client hangs up on a body that is longer than it should be.
            with suppress(ConnectionError):
                self.wfile.write(server.body[start:][: server.stop_after])

        def log_message(self, *args):
            pass

    return Handler


@pytest.fixture
def server():
    state = Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(state)) as http:
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield state
        http.shutdown()
        thread.join()


def test_download(server, tmp_path):
    calls = []
    path = fetch(server.remote(), tmp_path, progress=lambda *a: calls.append(a))
    assert path == tmp_path / "sub" / "file.bin"
    assert path.read_bytes() == BODY
    assert [p.name for p in path.parent.iterdir()] == ["file.bin"]
    assert calls[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    fetch(server.remote(), tmp_path)
    assert server.asked == [None]


def test_unknown_size(server, tmp_path):
    calls = []
    remote = server.remote(size=None, checksum=f"md5:{hashlib.md5(BODY).hexdigest()}")
    fetch(remote, tmp_path, progress=lambda *a: calls.append(a))
    assert calls[-1] == (len(BODY), len(BODY))


@pytest.mark.parametrize("size", [len(BODY), None])
def test_resume(server, tmp_path, size):
    server.stop_after = 300_000
    with pytest.raises(MissingDataError, match=r"after 300,000 of 1,024,000 bytes"):
        fetch(server.remote(size=size), tmp_path)
    assert not (tmp_path / "sub" / "file.bin").exists()
    server.stop_after = None
    calls = []
    path = fetch(
        server.remote(size=size), tmp_path, progress=lambda *a: calls.append(a)
    )
    assert path.read_bytes() == BODY
    assert server.asked == [None, "bytes=300000-"]
    assert calls[0][0] > 300_000
    assert calls[-1] == (len(BODY), len(BODY))


def test_server_without_ranges(server, tmp_path):
    part = tmp_path / "sub" / "file.bin.part"
    part.parent.mkdir()
    part.write_bytes(b"old" * 100)
    server.ranges = False
    assert fetch(server.remote(), tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("have", [BODY, BODY + b"more"])
@pytest.mark.parametrize("size", [len(BODY), None])
def test_part_that_lacks_nothing(server, tmp_path, have, size):
    part = tmp_path / "sub" / "file.bin.part"
    part.parent.mkdir()
    part.write_bytes(have)
    assert fetch(server.remote(size=size), tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("body", [b"x" * len(BODY), BODY + b"x" * 10**6])
def test_wrong_file(server, tmp_path, body):
    server.body = body
    with pytest.raises(ArtefactError, match="not the expected file"):
        fetch(server.remote(), tmp_path)
    assert not list((tmp_path / "sub").iterdir())
    server.body = BODY
    assert fetch(server.remote(), tmp_path).read_bytes() == BODY


def test_damaged_copy_is_replaced(server, tmp_path):
    path = fetch(server.remote(), tmp_path)
    path.write_bytes(b"damaged")
    assert fetch(server.remote(), tmp_path).read_bytes() == BODY


def test_not_found(server, tmp_path):
    with pytest.raises(MissingDataError, match="the server says 404") as no:
        fetch(server.remote("nothing"), tmp_path)
    assert "\n" not in str(no.value)


def test_offline(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    remote = Remote(f"http://127.0.0.1:{port}/x", "x", "sha256:0", 1)
    with pytest.raises(MissingDataError, match="cannot be downloaded") as no:
        fetch(remote, tmp_path)
    assert "\n" not in str(no.value)


def test_silent_server(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(MissingDataError, match="timed out"):
            fetch(Remote(url, "x", "sha256:0", 1), tmp_path, timeout=0.1)
