"""New snapshots and new collections go live; no request fails, nothing is held."""

import gc
import os
import shutil
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from fewbits import Collection
from fewbits.learners import LSH
from fewbits.server import Settings
from fewbits.server._live import Live
from fewbits.store import Store
from tests.server._running import N_BITS, served, small_collection, vectors
from tests.server._sizes import NIGHTLY
from tests.server._web import web

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
        asking = [Asking(url) for _ in range(3)]
        for each in asking:
            each.start()
        time.sleep(0.2)
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


def test_a_snapshot_stays_as_it_is_for_whoever_holds_it(tmp_path):
    small_collection(path=tmp_path / "b")
    live = Live(tmp_path / "b")
    held = live.snapshot
    found = held.collection.search(Q, 5)
    assert not live.refresh()
    col = Collection.open(tmp_path / "b")
    col.delete(filter="year < 2015")
    col.compact()
    assert live.refresh()
    assert len(live.snapshot.collection) == 50
    assert live.snapshot.version != held.version
    again = held.collection.search(Q, 5)
    np.testing.assert_array_equal(again.ids, found.ids)


def test_a_folder_that_breaks_leaves_the_old_snapshot(tmp_path):
    small_collection(path=tmp_path / "b")
    live = Live(tmp_path / "b")
    before = live.snapshot
    shutil.copytree(tmp_path / "b", tmp_path / "copy")
    (tmp_path / "b" / "collection.json").write_text("{}")
    assert not live.refresh()
    assert live.snapshot is before
    assert "damaged" in live.fault
    shutil.copy(
        tmp_path / "copy" / "collection.json", tmp_path / "b" / "collection.json"
    )
    assert not live.refresh()
    assert live.fault is None
    shutil.rmtree(tmp_path / "b")
    assert not live.refresh()
    assert live.fault
    live.snapshot.collection.encode(Q)


def test_health_says_what_is_wrong(tmp_path):
    small_collection(path=tmp_path / "b")
    with served(tmp_path / "b", Settings(refresh_seconds=0.01)) as url:
        (tmp_path / "b" / "collection.json").write_text("{}")
        end = time.monotonic() + 20
        health = {"status": "ok"}
        while health["status"] == "ok" and time.monotonic() < end:
            health = web.get(f"{url}/v1/health").json()
        assert health["status"] == "degraded"
        assert "damaged" in health["reason"]
        body = {"vectors": Q.tolist()}
        assert web.post(f"{url}/v1/search", json=body).status_code == 200


def test_reads_do_not_wait_for_writes(tmp_path):
    small_collection(path=tmp_path / "b")
    settings = Settings(writable=True, refresh_seconds=0.01)
    with served(tmp_path / "b", settings) as url:
        (rows,) = (tmp_path / "b").glob("rows-*")
        with Store.open(rows).writer():  # another process writes, and takes its time
            body = {"vectors": Q.tolist()}
            assert web.post(f"{url}/v1/search", json=body).status_code == 200
            locked = web.post(
                f"{url}/v1/delete", json={"ids": [1], "timeout": 0.01}, timeout=30
            )
        assert locked.status_code == 409
        assert locked.json()["error"]["code"] == "locked"
        done = web.post(f"{url}/v1/delete", json={"ids": [1]})
        assert done.json()["n_items"] == 199
