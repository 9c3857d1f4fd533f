"""Segments stay few and mostly alive, and a row is copied few times."""

from math import log

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.store import Store
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import SCHEMA, content, rows

ROWS, BYTES = 4, 1 << 12  # that make a segment of weight 1 in these tests
FULL = 1 << 15


def check_few(parts):
    """Check that segments are few and half alive, whatever was done before."""
    files = [part.entry.arrow_files.values() for part in parts]
    whole = [sum(file.n_bytes for file in of_part) for of_part in files]
    shares = [part.n_live / part.n_rows for part in parts]
    sizes = [size * share for size, share in zip(whole, shares, strict=True)]
    full = sum(2 * size >= FULL for size in sizes)
    weights = [
        max(part.n_live / ROWS, size / BYTES)
        for part, size in zip(parts, sizes, strict=True)
        if 2 * size < FULL
    ]
    levels = log(max(1, *weights, 1), 4)
    assert len(weights) <= full + 4 + 3 * levels
    assert all(2 * part.n_live >= part.n_rows for part in parts)


@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 5, 40, 300]), st.integers(0, 100)),
        max_size=25,
    ),
)
def test_segments_are_few(commits):
    """A commit of so many rows each, and of deletes of so many of a hundred rows."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        small_segments(monkeypatch)
        store = simulated_store(SimulatedDisk(), SCHEMA)
        n, live = 0, []
        with store.writer(segment_bytes=FULL) as writer:
            for n_rows, n_deleted in commits:
                writer.append(rows(range(n, n + n_rows)))
                live += range(n, n + n_rows)
                n += n_rows
                gone = live[:: 100 // n_deleted] if n_deleted else []
                writer.delete(gone)
                live = sorted({*live} - {*gone})
                writer.commit()
                check_few(store.snapshot().segments)
        assert list(content(store.snapshot())) == live


class CountingDisk(SimulatedDisk):
    """Counts the bytes of rows that are written."""

    n_bytes = 0

    def _end(self):
        super()._end()
        if self.operations[-1].startswith("sync seg-"):
            self.n_bytes += len(self.names_[self.operations[-1][5:]].data)


@pytest.mark.parametrize("batch", [1, 4, 20])
def test_rows_are_copied_few_times(batch, monkeypatch):
    small_segments(monkeypatch)
    disk, n = CountingDisk(), 0
    store = simulated_store(disk, SCHEMA)
    with store.writer() as writer:
        for _ in range(150):
            writer.append(rows(range(n, n + batch)))
            writer.commit()
            n += batch
    n_copies = 2 + log(max(4, n / ROWS), 4)
    per_file = 1300  # of Arrow itself
    assert disk.n_bytes < n_copies * n * 60 + 2 * 150 * per_file


@pytest.fixture
def store(tmp_path, monkeypatch):
    small_segments(monkeypatch)
    return Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")


def test_deleted_rows_leave_the_disk(store):
    with store.writer() as writer:
        writer.append(rows(range(5000)))
        writer.commit()
        before = sum(store.bytes_by_kind().values())
        writer.delete([i for i in range(5000) if i % 10])
        writer.commit()
    assert sum(store.bytes_by_kind().values()) < 2 * before / 10 + 40_000


class NotingDisk(SimulatedDisk):
    """Notes the files that are read."""

    def map(self, name):
        self.opened.append(name)
        return super().map(name)


def test_many_small_commits_leave_few_files(monkeypatch):
    """Time to open is in ``benchmarks/store.py``; what it reads is here."""
    small_segments(monkeypatch)
    n, n_ids = (10_000, 5000) if NIGHTLY else (60, 47)
    disk = NotingDisk()
    disk.opened = []
    store = simulated_store(disk, SCHEMA)
    with store.writer() as writer:
        for i in range(n):
            writer.upsert(rows([i * 7919 % n_ids], i))
            writer.commit()
    assert store.n_files() <= 64
    assert len(content(store.snapshot())) == n_ids
    disk.opened.clear()
    assert Store(disk).snapshot().n_live == n_ids
    [manifest] = disk.opened  # no file of rows, however many there are
    assert disk.size(manifest) <= 1 << 16


def test_replacing_everything_keeps_the_size(store):
    """Bytes and files; ``cycles`` of ``benchmarks/store.py`` measures the latency."""
    sizes, files = [], []
    for seed in range(50 if NIGHTLY else 15):
        with store.writer() as writer:
            writer.upsert(rows(range(300), seed))
            writer.commit()
        sizes.append(sum(store.bytes_by_kind().values()))
        files.append(store.n_files())
    assert max(sizes[3:]) <= 1.2 * min(sizes[3:])
    assert max(files[3:]) <= 1.2 * min(files[3:])


def test_large_tables_become_several_segments(store):
    with store.writer(segment_bytes=10_000) as writer:
        writer.append(rows(range(3000)))
        writer.commit()
    parts = store.snapshot().segments
    assert len(parts) > 5
    assert all(part.entry.rows.n_bytes < 30_000 for part in parts)
    assert list(content(store.snapshot())) == list(range(3000))
    with store.writer() as writer:
        writer.compact()
    (part,) = store.snapshot().segments
    assert part.row_numbers.tolist() == list(range(3000))
    assert part.find(pa.array([2999])).tolist() == [2999]
