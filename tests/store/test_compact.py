"""Segments stay few and mostly alive, and a row is copied few times."""

from math import log
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.store import Store
from fewbits.store._compact import BYTES, ROWS, Size, everything, plan
from fewbits.store._disk import Disk
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import SCHEMA, content, rows

FULL = 1 << 28
SIZES = st.lists(
    st.integers(1, 10**7).flatmap(
        lambda n: st.builds(Size, st.just(n), st.integers(0, n), st.just(30 * n))
    ),
    max_size=60,
)


def weight(group):
    return max(group.n_live / ROWS, group.live_bytes / BYTES)


@given(SIZES)
def test_groups_keep_the_order_and_every_live_row(sizes):
    for groups in (plan(sizes, FULL), everything(sizes, FULL)):
        covered = [i for g in groups for i in range(g.start, g.stop)]
        assert covered == sorted(set(covered))
        assert {i for i, s in enumerate(sizes) if s.n_live} <= set(covered)
        assert sum(g.n_live for g in groups) == sum(s.n_live for s in sizes)


@given(SIZES)
def test_segments_are_few(sizes):
    groups = plan(sizes, FULL)
    full = [2 * g.live_bytes >= FULL for g in groups]
    largest = 1 + log(max(1, FULL / 2 / 30 / ROWS), 4)
    assert len(groups) - sum(full) <= sum(full) + 1 + 3 * largest
    assert all(g.live_bytes <= FULL for g in groups if g.stop - g.start > 1)
    # Doing it again changes nothing.
    again = [Size(int(g.n_live), int(g.n_live), int(g.live_bytes)) for g in groups]
    assert len(plan(again, FULL)) == len(groups)


def test_rows_are_copied_few_times():
    for batch in (1, 100, 5000):
        sizes, copied, n = [], 0, 0
        while n < 400 * batch:
            n += batch
            sizes.append(Size(batch, batch, 30 * batch))
            groups = plan(sizes, FULL)
            copied += sum(g.n_live for g in groups if g.stop - g.start > 1)
            sizes = [
                Size(int(g.n_live), int(g.n_live), int(30 * g.n_live)) for g in groups
            ]
        # While a segment is small each commit writes it again, later each level once.
        small = min(n, ROWS) ** 2 / (2 * batch) * max(1, n / ROWS)
        assert copied <= 2 * small + n * (1 + log(max(4, n / ROWS), 4))


@pytest.fixture
def store(tmp_path, monkeypatch):
    small_segments(monkeypatch)
    return Store.create(tmp_path, SCHEMA, n_bits=64, fingerprint="of a test")


def test_deleted_rows_leave_the_disk(store):
    with store.writer() as writer:
        writer.append(rows(range(5000)))
        writer.commit()
        before = store.disk_bytes()
        writer.delete([i for i in range(5000) if i % 10])
        writer.commit()
    assert store.disk_bytes() < 2 * before / 10 + 40_000


def test_many_small_commits_leave_few_files(store, monkeypatch):
    """Time to open is in ``benchmarks/store.py``; what it reads is here."""
    n, n_ids = (10_000, 5000) if NIGHTLY else (60, 47)
    with store.writer() as writer:
        for i in range(n):
            writer.upsert(rows([i * 7919 % n_ids], i))
            writer.commit()
    assert store.n_files() <= 64
    assert len(content(store.snapshot())) == n_ids

    opened, of_disk = [], Disk.map
    monkeypatch.setattr(
        Disk, "map", lambda disk, name: opened.append(name) or of_disk(disk, name)
    )
    assert Store.open(store.folder).snapshot().n_live == n_ids
    [manifest] = set(opened)  # no file of rows, however many there are
    assert Path(store.folder, manifest).stat().st_size <= 1 << 16
    assert len(opened) <= 2


def test_replacing_everything_keeps_the_size(store):
    """Bytes and files; ``cycles`` of ``benchmarks/store.py`` measures the latency."""
    sizes, files = [], []
    for seed in range(50 if NIGHTLY else 15):
        with store.writer() as writer:
            writer.upsert(rows(range(300), seed))
            writer.commit()
        sizes.append(store.disk_bytes())
        files.append(store.n_files())
    assert max(sizes[3:]) <= 1.2 * min(sizes[3:])
    assert max(files[3:]) <= 1.2 * min(files[3:])


def test_large_tables_become_several_segments(store):
    with store.writer(segment_bytes=10_000) as writer:
        writer.append(rows(range(3000)))
        writer.commit()
    parts = store.snapshot().parts
    assert len(parts) > 5
    assert all(part.entry.n_bytes < 30_000 for part in parts)
    assert list(content(store.snapshot())) == list(range(3000))
    store.compact()
    (part,) = store.snapshot().parts
    assert part.sequence.tolist() == list(range(3000))
    assert part.find(pa.array([2999])).tolist() == [2999]
