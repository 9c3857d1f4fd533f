"""The command: it starts, tells its addresses and logs, drains, and ends."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import fewbits
from fewbits.cli import app
from tests.server._running import (
    logged,
    process,
    served,
    small_collection,
    vectors,
)
from tests.server._web import web

TOKEN = "0123456789-a-long-token"
ROWS = vectors(2).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("process") / "b"
    small_collection(path=folder)
    return folder


def test_logs_are_lines_of_json_without_secrets(folder, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    with process(folder, "--token-file", tmp_path / "token") as (url, run, lines):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        body = {"vectors": ROWS, "filter": "kind = 'a secret'"}
        answer = web.post(f"{url}/v1/search", json=body, headers=headers)
        assert answer.status_code == 200
        web.get(f"{url}/v1/health")
        web.get(f"{url}/?token={TOKEN}")
        web.get(f"{url}/v1/health?q=a-secret")
    assert run.returncode == 0
    found = logged(lines)
    requests = [each for each in found if each["event"] == "request"]
    (search,) = [each for each in requests if each["route"] == "/v1/search"]
    assert search["status"] == 200
    assert search["method"] == "POST"
    assert search["ms"] > 0
    assert search["client"] == "127.0.0.1"
    assert search["snapshot"] == answer.headers["Fewbits-Snapshot"]
    assert 401 in [each["status"] for each in requests]
    text = json.dumps(found)
    assert "secret" not in text
    assert TOKEN not in text


def test_people_at_a_terminal_read_lines(folder):
    ours, its = pty.openpty()
    with process(folder, stderr=its) as (url, _, _lines):
        web.get(f"{url}/v1/health")
        shown = b""
        while b"/v1/health" not in shown:
            shown += os.read(ours, 65536)
    os.close(ours)
    os.close(its)
    assert re.fullmatch(rb"[\d:]{8}  GET /v1/health 200 [\d.]+ ms\s*", shown)


def test_sigterm_drains(folder):
    """A request that has begun is answered; later ones are refused."""
    with process(folder) as (url, run, _):
        answers = []
        body = {"vectors": [ROWS[0]] * 500, "k": 200}

        def ask():
            answers.append(web.post(f"{url}/v1/search", json=body, timeout=60))

        asking = threading.Thread(target=ask)
        asking.start()
        busy = "fewbits_requests_in_progress 2.0"  # this one, and that for metrics
        _wait_until(lambda: answers or busy in web.get(f"{url}/metrics").text)
        run.send_signal(signal.SIGTERM)
        asking.join(60)
        assert run.wait(60) == 0
    assert [answer.status_code for answer in answers] == [200]
    with pytest.raises(httpx.ConnectError):
        web.get(f"{url}/v1/health")


def _wait_until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_another_process_adds_rows(folder, tmp_path):
    small_collection(path=tmp_path / "b")
    with process(tmp_path / "b") as (url, _, _lines), fewbits.open(url) as remote:
        columns = {"kind": ["new"], "year": [1]}
        col = fewbits.open(tmp_path / "b")
        col.add(vectors(1, seed=7), ids=[999], columns=columns)
        _wait_until(lambda: remote.refresh() or len(remote) == 201)
        assert remote.search(vectors(1, seed=7), 1).ids.tolist() == [[999]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "set a token"),
        (["--token-file", "no-file"], "no-file"),
        (["--port", "70000"], "port"),
    ],
)
def test_mistakes(folder, options, message):
    result = CliRunner().invoke(app, ["serve", str(folder), *options])
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_no_collection(tmp_path):
    result = CliRunner().invoke(app, ["serve", str(tmp_path)])
    assert result.exit_code == 2
    assert "no collection" in result.output


def test_an_unknown_setting(folder, monkeypatch):
    monkeypatch.setenv("FEWBITS_SERVE_TOKENS", TOKEN)
    result = CliRunner().invoke(app, ["serve", str(folder)])
    assert result.exit_code == 2
    assert "no setting is called FEWBITS_SERVE_TOKENS" in result.output


def test_a_port_that_is_taken(folder):
    with served(small_collection()) as url:
        port = url.rpartition(":")[2]
        command = [Path(sys.executable).with_name("fewbits"), "serve", folder]
        run = subprocess.run(
            [*command, "--port", port], capture_output=True, text=True, check=False
        )
    assert run.returncode == 2
    assert f"port {port} is in use: choose another by --port" in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_without_the_extra(folder):
    code = """
import sys
sys.modules["fastapi"] = None
from fewbits.cli import main
sys.argv[1:] = ["serve", "b"]
main()
"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "pip install 'fewbits[serve]'" in run.stderr


def test_importing_fewbits_needs_no_server():
    code = (
        "import sys, fewbits, fewbits.cli, fewbits.collection, fewbits.client.wire;"
        "print(sorted({'fastapi', 'uvicorn', 'httpx', 'pydantic'} & {*sys.modules}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
