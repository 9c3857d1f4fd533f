"""Hours of work leave memory and descriptors as they were."""

import gc
import os
import sys
import threading
import time

import httpx
import numpy as np
import pytest

import fewbits
from tests.server._running import process, small_collection, vectors
from tests.server._sizes import NIGHTLY

SECONDS = float(os.environ.get("FEWBITS_SOAK_SECONDS", 600 if NIGHTLY else 3))
MIB = 1 << 20


def resident(run):
    with open(f"/proc/{run.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(run):
    return len(os.listdir(f"/proc/{run.pid}/fd"))


class Load(threading.Thread):
    """Everything that clients do, again and again."""

    def __init__(self, url, seed):
        super().__init__(daemon=True)
        self.url, self.rng = url, np.random.default_rng(seed)
        self.stopped, self.count, self.wrong = False, 0, []

    def run(self):
        with fewbits.open(self.url) as remote, httpx.Client(timeout=30) as client:
            while not self.stopped:
                try:
                    self.step(remote, client)
                except Exception as error:  # all of them are counted
                    self.wrong.append(repr(error))
                self.count += 1

    def step(self, remote, client):
        Q = vectors(int(self.rng.integers(1, 40)), int(self.rng.integers(1 << 30)))
        kind = int(self.rng.integers(7))
        if kind == 0:
            remote.search(Q, 9, filter="year > 2005")
        elif kind == 1:
            remote.search(Q, 3, rerank=True).to_list()
        elif kind == 2:
            remote.search(Q, radius=9)
        elif kind == 3:
            remote.classify(Q)
        elif kind == 4:
            key = int(self.rng.integers(1000, 1050))
            columns = {"kind": ["x"], "year": [1990]}
            remote.upsert(Q[:1], ids=[key], columns=columns)
        elif kind == 5:
            body = {"vectors": Q.tolist(), "k": 3}
            path = "explain" if len(Q) < 9 else "search"
            assert client.post(f"{self.url}/v1/{path}", json=body).status_code == 200
        else:
            assert client.post(f"{self.url}/v1/search", json={}).status_code == 422


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc")
def test_memory_and_descriptors_stay(tmp_path, record_property):
    small_collection(path=tmp_path / "b", keep_vectors="float32")
    with process(tmp_path / "b", "--writable") as (url, run, _):
        load = [Load(url, seed) for seed in range(3)]
        for each in load:
            each.start()
        time.sleep(SECONDS / 3)  # imports, caches and pools
        memory, files, end = [], [], time.monotonic() + SECONDS * 2 / 3
        while time.monotonic() < end:
            memory.append(resident(run))
            files.append(descriptors(run))
            time.sleep(0.1)
        for each in load:
            each.stopped = True
        for each in load:
            each.join(60)
        gc.collect()
    counted = sum(each.count for each in load)
    told = (
        f"{counted} requests, {memory[0] / MIB:.0f} to {memory[-1] / MIB:.0f} MiB, "
        f"at most {max(memory) / MIB:.0f}, {min(files)} to {max(files)} descriptors"
    )
    record_property("soak", told)
    if NIGHTLY:
        sys.stderr.write(f"{told}\n")
    assert [wrong for each in load for wrong in each.wrong] == []
    assert counted > 20
    early, late = np.split(np.array(memory), [len(memory) // 2])
    assert late.mean() < early.mean() + 32 * MIB
    assert max(files) < 200
