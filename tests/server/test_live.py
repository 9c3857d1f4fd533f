"""New snapshots and new collections go live; no request fails, nothing is held."""

import gc
import os
import shutil
import threading
import time
from pathlib import Path

import httpx
import pytest

from fewbits import Collection
from fewbits.learners import LSH
from fewbits.server import Settings
from fewbits.store import Store
from tests.server._running import N_BITS, served, small_collection, vectors
from tests.server._sizes import NIGHTLY
from tests.server._web import web

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

SWAPS = 1000 if NIGHTLY else 12
Q = vectors(3, seed=9)


class Asking(threading.Thread):
    """Sends searches until it is told to stop; keeps what was wrong."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.stopped, self.wrong, self.count = url, False, [], 0
        self.seen = set()

    def run(self):
        with httpx.Client(base_url=self.url, timeout=30) as client:
            while not self.stopped:
                body = {"vectors": Q[:1].tolist(), "k": 3}
                answer = client.post("/v1/search", json=body)
                self.count += 1
                if answer.status_code != 200:
                    self.wrong.append(answer.text)
                    continue
                self.seen.add(answer.headers["Fewbits-Snapshot"])
                hits = answer.json()["hits"][0]
                distances = [hit["distance"] for hit in hits]
                if len(hits) != 3 or distances != sorted(distances):
                    self.wrong.append(answer.text)
                time.sleep(0.005)  # of one interpreter, others have their share


def all_asking(url):
    """Return three threads that have had an answer each."""
    asking = [Asking(url) for _ in range(3)]
    for each in asking:
        each.start()
    end = time.monotonic() + 30
    while min(each.count for each in asking) == 0:
        assert time.monotonic() < end
        time.sleep(0.005)
    return asking


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def step(folder, i):
    """Change the folder as another process would: rows, or the whole collection."""
    if i % 5 == 4:
        if i % 10 != 9:
            small_collection(path=folder, overwrite=True)
            return
        X = vectors(200)
        encoder = LSH(N_BITS, random_state=i).fit(X).encoder_
        col = Collection.create(folder, X, encoder=encoder, overwrite=True)
        col.add(X[:2], ids=[1000, 1001])
        return
    col = Collection.open(folder)
    columns = {name: [i if name == "year" else name] for name in col.columns}
    col.upsert(Q[:1], ids=[10_000 + i], columns=columns)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc")
def test_swaps_under_load(tmp_path):
    folder = tmp_path / "b"
    small_collection(path=folder)
    with served(folder, Settings(refresh_seconds=0.01)) as url:
        asking = all_asking(url)
        held, newest = [], None
        for i in range(SWAPS):
            step(folder, i)
            newest = _awaited(url, newest)
            held.append(descriptors())
        for each in asking:
            each.stopped = True
        for each in asking:
            each.join(30)
        health = web.get(f"{url}/v1/health").json()
    assert [wrong for each in asking for wrong in each.wrong] == []
    assert health["status"] == "ok"
    assert len(set().union(*(each.seen for each in asking))) > SWAPS / 2
    assert max(held[len(held) // 2 :]) <= max(held[: len(held) // 2]) + 8


def _awaited(url, before):
    """Wait until another snapshot is live."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        now = web.get(f"{url}/v1/health").json()["snapshot"]
        if now != before:
            return now
        time.sleep(0.005)
    raise TimeoutError(before)


def test_a_column_comes_under_load(tmp_path):
    small_collection(path=tmp_path / "b")
    body = {"vectors": Q[:1].tolist(), "k": 2, "columns": ["note"]}
    with served(tmp_path / "b", Settings(refresh_seconds=0.01)) as url:
        asking = all_asking(url)
        assert web.post(f"{url}/v1/search", json=body).status_code == 422
        for i in range(6):
            col = Collection.open(tmp_path / "b")
            col.update(None, ids=col.ids, columns={"note": [f"{i}"] * len(col)})
            notes, end = set(), time.monotonic() + 20
            while notes != {f"{i}"} and time.monotonic() < end:
                answer = web.post(f"{url}/v1/search", json=body)
                hits = answer.json()["hits"][0] if answer.is_success else []
                notes = {hit["columns"]["note"] for hit in hits}
                assert len(notes) <= 1  # all are of one version
            assert notes == {f"{i}"}
        for each in asking:
            each.stopped = True
            each.join()
    assert [each.wrong for each in asking] == [[]] * 3


def test_a_folder_that_breaks_leaves_the_old_version(tmp_path):
    folder = tmp_path / "b"
    small_collection(path=folder)
    whole = (folder / "collection.json").read_bytes()
    body = {"vectors": Q.tolist()}
    with served(folder, Settings(refresh_seconds=0.01)) as url:

        def awaited(status):
            end = time.monotonic() + 20
            while True:
                health = web.get(f"{url}/v1/health").json()
                if health["status"] == status:
                    return health
                assert time.monotonic() < end, health
                time.sleep(0.005)

        before = awaited("ok")["snapshot"]
        for spoil in (
            lambda: (folder / "collection.json").write_text("{}"),
            lambda: shutil.rmtree(folder),
        ):
            spoil()
            health = awaited("degraded")
            assert "damaged" in health["reason"] or not folder.exists()
            assert health["snapshot"] == before
            assert str(tmp_path) not in str(health)
            assert web.post(f"{url}/v1/search", json=body).status_code == 200
            if folder.exists():
                (folder / "collection.json").write_bytes(whole)
                assert awaited("ok")["snapshot"] == before


def test_reads_do_not_wait_for_writes(tmp_path):
    small_collection(path=tmp_path / "b")
    settings = Settings(writable=True, refresh_seconds=0.01)
    with served(tmp_path / "b", settings) as url:
        (rows,) = (tmp_path / "b").glob("rows-*")
        with Store(rows).writer():  # another process writes, and takes its time
            body = {"vectors": Q.tolist()}
            assert web.post(f"{url}/v1/search", json=body).status_code == 200
            locked = web.post(
                f"{url}/v1/delete", json={"ids": [1], "timeout": 0.01}, timeout=30
            )
        assert locked.status_code == 409
        assert locked.json()["error"]["code"] == "locked"
        done = web.post(f"{url}/v1/delete", json={"ids": [1]})
        assert done.json()["n_items"] == 199


@pytest.mark.parametrize("id", [5, 999])
def test_a_version_goes_with_its_last_search(client_of, tmp_path, id):
    client = client_of(small_collection(path=tmp_path / "c"), writable=True)
    gc.disable()
    try:
        first = client.get("/v1/versions").json()["version"]
        client.post("/v1/search", json={"ids": [id]})
        for row in (1, 2, 3):
            client.post("/v1/delete", json={"ids": [row]})
        assert first not in client.get("/v1/versions").json()["versions"]
    finally:
        gc.enable()
