"""Files derived from the codes of a segment: as they were written, or nothing."""

import numpy as np
import pytest

from fewbits.store import Store
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._tables import SCHEMA, content, rows

PIECES = [b"some bytes", np.arange(50_000, dtype="<u4").data, b"", b"more"]
WHOLE = b"".join(bytes(piece) for piece in PIECES)


@pytest.fixture
def store(tmp_path):
    """Return a store of two segments, of the first of which something is kept."""
    store = Store.create(tmp_path / "s", SCHEMA, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(9000)))
        writer.commit()
        assert writer.keep_derived(writer.segments[0], PIECES)
        writer.append(rows(range(9000, 9005)))
        writer.commit()
    return store


def kept(store):
    with store.snapshot() as snapshot:
        found = [part.derived() for part in snapshot.segments]
    return [None if each is None else bytes(each) for each in found]


def path_of(store, number=0):
    token = store.snapshot().segments[number].entry.token
    return store.folder / f"mih-{token}.bin"


def test_it_comes_back_whatever_is_added_or_deleted(store):
    assert kept(store) == [WHOLE, None]
    with store.writer() as writer:
        writer.delete([5, 9001])
        writer.commit()
    assert kept(store) == [WHOLE, None]
    assert [part.has_derived for part in store.snapshot().segments] == [True, False]


def test_another_takes_its_place(store):
    with store.writer() as writer:
        writer.keep_derived(writer.segments[0], [b"new"])
    assert kept(store) == [b"new", None]
    with store.writer() as writer:
        writer.keep_derived(writer.segments[0], None)
        writer.keep_derived(writer.segments[1], None)
    assert kept(store) == [None, None]
    assert not path_of(store).exists()


def test_nothing_at_all_can_be_kept(store):
    with store.writer() as writer:
        writer.keep_derived(writer.segments[0], [])
    assert kept(store)[0] == b""


def test_flips_cuts_and_additions_are_told(store):
    path, wanted = path_of(store), content(store.snapshot())
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    changes = [whole[:n] for n in (0, 1, 11, 100, len(whole) // 2, len(whole) - 1)]
    changes += [whole + b"\0", bytes(len(whole)), whole[1:]]
    for place in [*range(8), *rng.integers(0, len(whole), 200), *range(-100, 0)]:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(rng.integers(8))
        changes.append(bytes(flipped))
    for changed in changes:
        path.write_bytes(changed)
        assert kept(store) == [None, None]
    assert content(store.snapshot()) == wanted
    path.write_bytes(whole)
    assert kept(store) == [WHOLE, None]


def test_that_of_another_segment_is_none(store):
    path_of(store, 1).write_bytes(path_of(store).read_bytes())
    assert kept(store) == [WHOLE, None]


def test_a_folder_in_its_place(store):
    path = path_of(store)
    path.unlink()
    path.mkdir()
    assert kept(store) == [None, None]
    with store.writer() as writer:
        assert not writer.keep_derived(writer.segments[0], PIECES)
    assert not list(store.folder.glob("draft-*"))
    report = store.verify()
    assert (report.damages, report.to_rebuild) == ((), (str(path),))


def test_it_counts_and_is_verified(store):
    path, report = path_of(store), store.verify()
    assert report.is_intact
    before = sum(store.bytes_by_kind().values())
    size = path.stat().st_size
    assert store.bytes_by_kind()["tables"] == size
    damaged = bytearray(path.read_bytes())
    damaged[70_000] ^= 1
    path.write_bytes(damaged)
    report = store.verify()
    assert (report.is_intact, report.to_rebuild) == (True, (str(path),))
    assert f"{path}: to be rebuilt" in str(report)
    path.unlink()
    assert store.verify().is_intact
    assert store.verify().n_bytes == report.n_bytes - size
    assert sum(store.bytes_by_kind().values()) == before - size


def test_repair_goes_on_without_it(store):
    wanted, number = content(store.snapshot()), store.snapshot().number
    path_of(store).write_bytes(b"nothing")
    assert store.repair().is_complete
    assert content(store.snapshot()) == wanted
    assert store.snapshot().number == number
    assert kept(store) == [None, None]
    assert store.verify().is_intact


def test_it_goes_with_a_flip_that_is_put_back(store):
    (path, *_) = sorted(store.folder.glob("seg-*"), key=lambda p: -p.stat().st_size)
    damaged = bytearray(path.read_bytes())
    damaged[70_000] ^= 1
    path.write_bytes(damaged)
    assert store.repair().is_complete
    assert kept(store) == [None, None]
    assert store.verify().is_intact


def test_it_goes_with_its_segment(store):
    path, held = path_of(store), store.snapshot()
    with store.writer() as writer:
        writer.compact()
    assert path.exists()
    held.close()
    with store.writer() as writer:
        writer.delete([0])
        writer.commit()
    assert not path.exists()
    assert kept(store) == [None]


class FullDisk(SimulatedDisk):
    """A disk that takes no more bytes of what is derived."""

    full = False

    def create(self, name):
        if self.full:
            raise OSError(28, "No space left on device", name)
        return super().create(name)


def test_no_room_for_it_is_no_error():
    disk = FullDisk()
    store = simulated_store(disk, SCHEMA)
    with store.writer() as writer:
        writer.append(rows(range(20)))
        writer.commit()
        disk.full = True
        assert not writer.keep_derived(writer.segments[0], PIECES)
    assert kept(store) == [None]


def test_after_a_loss_of_power_it_is_whole_or_nothing():
    disk = SimulatedDisk()
    store = simulated_store(disk, SCHEMA)
    seen, n_whole, n_none = set(), 0, 0
    with store.writer() as writer:
        writer.append(rows(range(20)))
        writer.commit()

        def crash(disk):
            nonlocal n_whole, n_none
            for after in disk.crashes(seen=seen):
                (found,) = kept(Store(after))
                assert found in (None, WHOLE)
                n_whole, n_none = n_whole + (found is not None), n_none + (not found)

        disk.after = crash
        writer.keep_derived(writer.segments[0], PIECES)
    assert n_whole
    assert n_none
