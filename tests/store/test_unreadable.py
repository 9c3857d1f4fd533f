"""What the disk cannot read is told as that, and is never taken for damage."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError
from fewbits.store import Store
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._sizes import small_segments
from tests.store._tables import VECTORS, changed, content, rows

ROOT = Path(__file__).parents[2]
N, WIDTH = 16_384, 16
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))


@pytest.fixture
def disk(monkeypatch):
    """Return a disk with every kind of file."""
    small_segments(monkeypatch)
    disk = SimulatedDisk()
    store = simulated_store(disk, VECTORS)
    with store.writer() as writer:
        writer.append(rows([9, 1, 5, *range(20, 60)], 0, VECTORS))
        writer.commit()
        writer.keep_derived(writer.segments[0], [b"derived"])
        writer.delete([1, 20])
        writer.update(changed([5, 30], 1, VECTORS))
        writer.commit()
    return disk


@pytest.mark.parametrize(
    "kind", ["seg-", "vec-", "sum-", "del-", "upd-", "manifest-000002"]
)
@pytest.mark.parametrize("also_damaged", [False, True])
def test_nothing_is_repaired_or_dropped(disk, kind, also_damaged):
    store, wanted = Store(disk), content(Store(disk).snapshot())
    (other,) = (name for name in disk.names_ if name.startswith("vec-"))
    if also_damaged:
        disk.names_[other].data[900] ^= 3
    disk.unreadable = kind
    before, report = disk.state(), store.verify()
    (line,) = report.unreadable
    assert kind in line
    assert "could not be read: Input/output error" in line
    assert not report.is_intact
    assert "".join(damage.file for damage in report.damages).count(kind) == 0
    assert bool(report.damages) == (also_damaged and kind != "vec-")
    for drop_rows in (False, True):
        with pytest.raises(OSError, match="nothing was repaired") as caught:
            store.repair(drop_rows=drop_rows)
        assert caught.value.errno == errno.EIO
        assert kind in str(caught.value)
    assert disk.state() == before
    disk.unreadable = ()
    if not also_damaged:
        assert content(store.snapshot()) == wanted
        assert store.verify().is_intact


@pytest.mark.parametrize("kind", ["ids-", "mih-", "copy-000002"])
def test_what_can_be_made_again_is(disk, kind):
    store, wanted = Store(disk), content(Store(disk).snapshot())
    disk.unreadable = kind
    report = store.verify()
    assert report.is_intact
    assert [kind in path for path in report.to_rebuild] == [True]
    (part,) = store.snapshot().segments
    assert part.find(part.ids).tolist() == [0, -1, 2, -1, *range(4, 43)]
    disk.unreadable = ()
    assert content(store.snapshot()) == wanted


@pytest.fixture
def folder(tmp_path):
    """Return a collection of equal codes in each of 16 runs of vectors."""
    signs = 1 - 2 * (np.arange(16)[:, None] >> np.arange(WIDTH) & 1)
    X = np.repeat(signs, N // 16, axis=0) * np.linspace(1, 2, N)[:, None]
    Collection.create(
        tmp_path / "c",
        X,
        encoder=ENCODER,
        keep_vectors="float32",
        columns={"number": np.arange(N)},
    )
    return tmp_path / "c"


def query(number):
    return (1 - 2 * (number >> np.arange(WIDTH) & 1)).astype(np.float32)[None]


@pytest.mark.skipif(not hasattr(os, "pread"), reason="reads by the map alone")
def test_a_bad_sector_is_an_error_of_the_system(folder, monkeypatch):
    col, real = Collection.open(folder), os.pread
    (path,) = folder.glob("rows-*/vec-*")
    inode = path.stat().st_ino

    def pread(descriptor, size, at):
        if os.fstat(descriptor).st_ino == inode and at + size > 600_000:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, size, at)

    monkeypatch.setattr(os, "pread", pread)
    with pytest.raises(OSError, match="Input/output") as caught:
        col.search(query(15), 3)
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, str(path))
    (line,) = col.verify(record=False).unreadable
    assert path.name in line
    with pytest.raises(OSError, match="nothing was repaired"):
        col.repair(drop_rows=True)
    monkeypatch.setattr(os, "pread", real)
    assert len(col.search(query(15), 3)[0]) == 3
    assert col.verify().is_intact


def test_an_encoder_that_cannot_be_read(folder, monkeypatch):
    (path,) = folder.glob("encoder-*")

    def unreadable(file, *_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr("hashlib.file_digest", unreadable)
        report = Collection.verify_folder(folder)
        assert (report.damages, len(report.unreadable)) == ((), 1)
        assert path.name in report.unreadable[0]
        with pytest.raises(OSError, match="nothing was repaired"):
            Collection.repair_folder(folder, drop_rows=True)
    assert Collection.verify_folder(folder).is_intact


CUT = """
import os, sys
from fewbits import Collection
from fewbits.errors import ArtefactError
from tests.store.test_unreadable import query
col = Collection.open(sys.argv[1])
hits = col.search(query(0), 3, filter="number > 5")
os.truncate(sys.argv[2], 200_000)
for read in (
    lambda: col.search(query(15), 3),
    lambda: col.search(query(15), 3, filter="number > 7"),
    lambda: hits[0],
    lambda: col.get([5]),
    lambda: col.to_arrow(),
    lambda: col.delete([5]),
):
    try:
        print(read())
    except ArtefactError as error:
        print("refused", error)
"""


@pytest.mark.parametrize("kind", ["seg", "vec"])
def test_a_file_that_is_cut_off_under_a_search_kills_no_process(folder, kind):
    (path,) = folder.glob(f"rows-*/{kind}-*")
    run = subprocess.run(
        [sys.executable, "-c", CUT, folder, path],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count(f"refused {path} was cut off") == 6
    with pytest.raises(ArtefactError, match="bytes long"):
        Collection.open(folder).search(query(0), 3)


@pytest.mark.skipif(os.name != "posix", reason="cuts a file that is mapped")
def test_a_repair_helps_while_an_older_version_is_held(folder):
    col = Collection.open(folder)
    before = col.frozen()
    before.search(query(0), 3)
    (path,) = folder.glob("rows-*/vec-*")
    os.truncate(path, 200_000)
    with pytest.raises(ArtefactError, match="was cut off"):
        col.search(query(0), 3)
    col.repair(drop_rows=True)
    assert len(col) == 0
    col.add(query(0), ids=[N], columns={"number": [N]})
    assert col.search(query(0), 3).ids[0, 0] == N
    with pytest.raises(ArtefactError, match="was cut off"):
        before.search(query(0), 3)
