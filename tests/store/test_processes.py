"""Several processes and threads at one store, and processes that are killed."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fewbits.errors import FewbitsError
from fewbits.store import Store
from tests.store._process import check
from tests.store._sizes import NIGHTLY
from tests.store._tables import SCHEMA, content, expected, rows

ROOT = Path(__file__).parents[2]


def start(*arguments):
    command = [sys.executable, "-m", "tests.store._process", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE
    )


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")


def test_killed_writers_lose_nothing(store):
    rng, seed = random.Random(0), 0
    for _ in range(50 if NIGHTLY else 2):
        process = start("replace", store.folder, seed)
        said = [process.stdout.readline()]
        time.sleep(rng.random() / 5)
        process.kill()
        rest, _ = process.communicate()
        said += [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        acknowledged = int(said[-1])
        found = check(content(store.snapshot()))
        assert found in (acknowledged, acknowledged + 1)
        seed = found + 1
    with store.writer(timeout=0) as writer:
        writer.append(rows([1000], 7))
        writer.commit()
    assert len(content(store.snapshot())) == 21
    assert store.verify().is_intact


def test_parallel_appends_are_all_there_or_told(store):
    processes = [start("append", store.folder, i, 60 if i else 0) for i in range(3)]
    said = [process.communicate()[0].strip() for process in processes]
    done = [i for i, words in enumerate(said) if words == "done"]
    locked = [words for words in said if "is being changed by" in words]
    assert len(done) + len(locked) == 3
    assert len(done) >= 2
    assert sorted(content(store.snapshot())) == done


def test_readers_beside_a_writer(store):
    writer = start("replace", store.folder, 0)
    writer.stdout.readline()
    seconds = 60 if NIGHTLY else 0.5
    readers = [start("read", store.folder, seconds) for _ in range(8 if NIGHTLY else 2)]
    try:
        counts = [int(reader.communicate()[0]) for reader in readers]
    finally:
        writer.kill()
        writer.communicate()
    assert all(reader.returncode == 0 for reader in readers)
    assert min(counts) > 0
    assert store.verify().is_intact


def test_threads_read_one_snapshot(store):
    with store.writer() as writer:
        writer.append(rows(range(3000)))
        writer.commit()
    snapshot = store.snapshot()
    found = []

    def look():
        found.append(content(snapshot))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each == expected(rows(range(3000))) for each in found)
    assert len(found) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_reads_and_does_not_write(store):
    test_threads_read_one_snapshot(store)
    snapshot = store.snapshot()
    wanted = content(snapshot)
    with store.writer() as writer:
        writer.delete(range(10))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                try:
                    writer.commit()
                except FewbitsError:
                    status = 0 if content(snapshot) == wanted else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        writer.commit()
    try:
        # The child has the lock's descriptor, but no longer the lock.
        with store.writer(timeout=0) as writer:
            writer.delete([11])
            writer.commit()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert content(snapshot) == wanted
    assert len(content(store.snapshot())) == 2989


@pytest.mark.skipif(os.name != "posix", reason="modes of folders")
def test_media_that_cannot_be_written(store, monkeypatch):
    with store.writer() as writer:
        writer.append(rows(range(5)))
        writer.commit()
    real = os.open

    def reading(path, flags, *rest, **named):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise PermissionError(13, "read-only", str(path))
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", reading)
    opened = Store(store.folder)
    assert content(opened.snapshot()) == expected(rows(range(5)))
    assert opened.verify().is_intact
    with pytest.raises(PermissionError):
        opened.writer().__enter__()
