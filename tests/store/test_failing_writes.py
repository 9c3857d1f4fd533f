"""Each operation on files fails in turn; the store is at the old state, or the new."""

import contextlib
import errno
import os
import sys

import pytest

from fewbits.errors import FewbitsError
from fewbits.store import Store
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import VECTORS, content, expected, rows


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_segments(monkeypatch)


def prepared(**disk):
    disk = SimulatedDisk(**disk)
    store = simulated_store(disk, VECTORS)
    with store.writer() as writer:
        writer.append(rows(range(20), 0, VECTORS))
        writer.commit()
    return disk, store


def change(store):
    with store.writer() as writer:
        writer.upsert(rows([3, 50, 51], 1, VECTORS))
        writer.delete(range(6, 18))  # more than half: the segment is written anew
        writer.commit()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_failure_leaves_one_of_two_states(error):
    disk, store = prepared()
    first = disk.n_operations
    change(store)
    both = content(store.snapshot())
    n_failed = 0
    for fail_at in range(first + 1, disk.n_operations + 1, 1 if NIGHTLY else 3):
        broken, store = prepared(fail_at=fail_at, error=error)
        before = content(store.snapshot())
        try:
            change(store)
            done = True
        except OSError:
            done = False
            n_failed += 1
        broken.fail_at = None
        found = content(store.snapshot())
        assert found == both if done else found in (before, both), fail_at
        with store.writer() as writer:
            writer.upsert(rows([70], 2, VECTORS))
            writer.commit()
        wanted = {**found, **expected(rows([70], 2, VECTORS))}
        assert content(store.snapshot()) == wanted
    # Where only compaction found the disk full, the commit succeeds without it.
    assert n_failed > (1 if error == errno.ENOSPC else 6)


@pytest.mark.parametrize("error", [errno.EIO])
def test_power_fails_after_a_failure(error):
    """A writer goes on from a state whose name is not on the disk yet."""
    disk, store = prepared()
    first = disk.n_operations
    before = content(store.snapshot())
    change(store)
    both = content(store.snapshot())
    last = [i for i, what in enumerate(disk.operations) if "folder 2" in what][-1] + 1
    steps = range(first + 1, disk.n_operations + 1, 3)
    added = expected(rows([70], 2, VECTORS))
    for fail_at in sorted({*(steps if NIGHTLY else ()), last - 2, last}):
        disk, store = prepared(fail_at=fail_at, error=error)
        with contextlib.suppress(OSError):
            change(store)
        disk.fail_at = None
        found = content(store.snapshot())
        assert found in (before, both)
        allowed = [before, both, {**found, **added}]
        seen = set()

        def look(disk, allowed=allowed, seen=seen):
            for crashed in disk.crashes(1, seen):
                assert content(Store(crashed).snapshot()) in allowed

        disk.after = look
        with store.writer() as writer:
            writer.upsert(rows([70], 2, VECTORS))
            writer.commit()
        allowed[:2] = []
        seen.clear()
        look(disk)


class FullDisk(SimulatedDisk):
    """Has room for `room` bytes more, once it is set."""

    room = None

    def _begin(self, what):
        super()._begin(what)
        if self.room is not None and what.startswith("write"):
            name = what.split()[1]
            if not name.startswith(("del-", "draft-")):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)


def test_rows_are_deleted_on_a_full_disk():
    disk = FullDisk()
    store = simulated_store(disk, VECTORS)
    with store.writer() as writer:
        writer.append(rows(range(20), 0, VECTORS))
        writer.commit()
    wanted = content(store.snapshot())
    disk.room = 0
    with store.writer() as writer:
        writer.delete(range(5, 20))  # so many that the segment would be written anew
        writer.commit()
    assert list(content(store.snapshot())) == list(range(5))
    assert content(store.snapshot()) == {i: wanted[i] for i in range(5)}
    with store.writer() as writer:
        writer.append(rows([99], 0, VECTORS))
        with pytest.raises(OSError, match="space"):
            writer.commit()
    with store.writer() as writer:
        writer.delete(range(5))
        writer.commit()
    assert content(store.snapshot()) == {}


def test_rows_that_were_written_before_the_disk_is_full_stay():
    disk = FullDisk()
    store = simulated_store(disk, VECTORS)
    with store.writer(segment_bytes=1000) as writer:
        for start in range(0, 60, 20):  # each is written at once
            writer.append(rows(range(start, start + 20), 0, VECTORS))
        writer.delete(range(5, 20))  # so many that their segment would be written anew
        disk.room = 0
        writer.commit()
    assert sorted(content(store.snapshot())) == [*range(5), *range(20, 60)]


def test_a_writer_that_failed_is_of_no_use(tmp_path):
    disk, store = prepared()
    with store.writer(segment_bytes=300) as writer:
        disk.fail_at = disk.n_operations + 4
        with pytest.raises(OSError, match="space"):
            writer.append(rows(range(100, 130), 0, VECTORS))
        for again in (writer.commit, lambda: writer.append(rows([99], 0, VECTORS))):
            with pytest.raises(FewbitsError, match="another writer"):
                again()
    assert content(store.snapshot()) == expected(rows(range(20), 0, VECTORS))


def test_short_writes_go_on(tmp_path, monkeypatch):
    real = os.write

    def short(descriptor, data):
        return real(descriptor, memoryview(data)[: max(1, len(data) // 2)])

    monkeypatch.setattr(os, "write", short)
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(20), 0, VECTORS))
        writer.commit()
    assert content(store.snapshot()) == expected(rows(range(20), 0, VECTORS))
    assert store.verify().is_intact


@pytest.mark.skipif(sys.platform != "linux", reason="other calls sync there")
def test_a_sync_that_fails_is_told(tmp_path, monkeypatch):
    store, real, calls = None, os.fsync, []

    def fsync(descriptor):
        calls.append(descriptor)
        if len(calls) == fails_at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor)

    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    monkeypatch.setattr(os, "fsync", fsync)
    fails_at = 0
    with store.writer() as writer:
        writer.append(rows(range(9000), 0, VECTORS))
        writer.commit()
    n_syncs = None
    for fails_at in (0, *range(1, 8)):
        calls.clear()
        with store.writer() as writer:
            writer.append(rows([9000 + fails_at], 0, VECTORS))
            writer.delete([fails_at])
            if fails_at == 0:
                writer.commit()
                n_syncs = len(calls)
                continue
            with pytest.raises(OSError, match="Input/output"):
                writer.commit()
    # Rows, vectors, sums, deletes, their names, the manifest, its name.
    assert n_syncs == 7
    assert store.verify().is_intact


@pytest.mark.skipif(os.name != "posix", reason="renames there")
@pytest.mark.parametrize("number", [errno.EEXIST, errno.EIO])
def test_a_lost_reply_of_link_is_no_error(tmp_path, monkeypatch, number):
    """Over a network a call is made again when its reply is lost."""
    real = os.link

    def link(source, target):
        real(source, target)
        raise OSError(number, os.strerror(number), source, None, target)

    monkeypatch.setattr(os, "link", link)
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(20), 0, VECTORS))
        writer.commit()
    assert content(store.snapshot()) == expected(rows(range(20), 0, VECTORS))
    assert not list(tmp_path.glob("draft-*"))
    monkeypatch.setattr(os, "link", real)
    with store.writer() as writer:
        writer.append(rows([30], 0, VECTORS))
        other = tmp_path / "manifest-000002.json"
        other.write_bytes(b"of somebody else")
        with pytest.raises(FileExistsError):
            writer.commit()
    assert other.read_bytes() == b"of somebody else"


def test_a_folder_that_takes_no_files(tmp_path, no_new_files):
    with pytest.raises((PermissionError, FewbitsError)):
        Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
