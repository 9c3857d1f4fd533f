"""Several changes that are one commit: all of them are there, or none."""

import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

import fewbits
from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FeatureError, LockedError
from tests.collection._power import PowerLoss

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

N, WIDTH = 12, 8
X = np.random.default_rng(0).normal(size=(N, WIDTH)).astype(np.float32)
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))


def made(path=None, n=N, **options):
    options = {"keep_vectors": "float32", **options}
    columns = {"n": np.arange(n)}
    return Collection.create(path, X[:n], encoder=ENCODER, columns=columns, **options)


def content(col):
    vectors = None if col.vectors is None else col.vectors.tolist()
    return col.to_arrow().to_pylist(), col.codes.tolist(), vectors


def change(col):
    """Do all kinds of changes, each of which needs those before it."""
    assert col.add(X[:2], columns={"n": [50, 51]}) == 2
    assert col.delete([0, 12]) == 2
    assert col.add(-X[:1], ids=[0], columns={"n": [60]}) == 1
    assert col.update(None, ids=[0, 3], columns={"n": [61, 33]}) == 2
    assert col.upsert(X[:1], ids=[3], columns={"n": [34]}) == 1
    assert col.update(None, ids=[13], columns={"kind": ["new"]}) == 1
    assert col.add(X[5:6], columns={"n": [70], "kind": ["last"]}) == 1
    assert col.delete(filter="n between 4 and 6 or kind = 'last'") == 4
    assert col.delete([1, 99], missing_ok=True) == 1


def test_a_transaction_does_what_its_changes_do_alone(home):
    one, other = home(made()), home(made())
    change(one)
    with other.transaction():
        change(other)
    assert content(other) == content(one)
    assert other.search(X, 3).ids.tolist() == one.search(X, 3).ids.tolist()
    for col in (one, other):  # ids go on where they were
        col.add(X[:1], columns={"n": [1], "kind": ["x"]})
        assert col.ids[-1] == 15


def test_it_is_one_commit_that_others_see_at_its_end(home):
    col = home(made())
    before, version = content(col), col.version
    other = col if col.path is None else Collection.open(col.path)
    held = other.frozen()
    with col.transaction():
        change(col)
        assert content(col) == before  # also through this handle
        other.refresh()
        assert (content(other), other.version) == (before, version)
        assert col.search(X[:1], 1).version == version
    other.refresh()
    assert other.version == col.version == version + 1
    assert content(other) == content(col) != before
    assert content(held) == before
    if col.path is not None:
        assert content(Collection.open(col.path)) == content(col)
        assert col.verify().is_intact


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_everything_as_it_was(home, error):
    col = home(made())
    before, files = content(col), names(col)
    with pytest.raises(error), col.transaction():  # noqa: PT012
        change(col)
        raise error
    assert (content(col), col.version, names(col)) == (before, 1, files)
    with col.transaction():
        change(col)
    assert col.version == 2


def names(col):
    """Return the files of the rows; none in memory."""
    folder = col.path
    return folder and {path.name for path in folder.glob("rows-*/*")} - {"LOCK"}


def test_a_change_that_is_refused_leaves_those_before_it(home):
    col = home(made())
    with col.transaction():
        col.delete([0])
        for wrong in (
            lambda: col.add(X[:1], ids=[1], columns={"n": [1]}),
            lambda: col.delete([0]),
            lambda: col.delete(filter="none = 1"),
            lambda: col.update(None, ids=[0], columns={"n": [1]}),
            lambda: col.upsert(X[:1, :3], ids=[1], columns={"n": [1]}),
        ):
            with pytest.raises((ArgumentError, FeatureError)):
                wrong()
        col.add(X[:1], ids=[0], columns={"n": [5]})
    assert (len(col), list(col)[-1], col[0]) == (N, 0, {"n": 5})


def test_an_empty_transaction_is_no_commit(home):
    col = home(made())
    with col.transaction():
        assert col.delete([99], missing_ok=True) == 0
    assert col.version == 1
    with col.transaction():
        col.add(X[:1], ids=[50], columns={"n": [0]})
        col.delete([50])
    assert (len(col), list(col)) == (N, [*range(N)])


def test_everything_may_go_and_come(home):
    col = home(made())
    with col.transaction():
        col.delete(filter="n >= 0")
        col.update(None, ids=[], columns={"kind": pa.array([], pa.string())})
        assert col.delete(filter="n >= 0") == 0
        col.add(X[:2], ids=[7, 3], columns={"n": [7, 3], "kind": ["a", "b"]})
    assert [*col] == [7, 3]
    assert col.search(X[:1], 1).ids.tolist() == [[7]]


def test_items_that_are_there_are_passed_over_as_the_block_has_them(home):
    col = home(made())
    items = tools.read_items(col, X[:3], ids=[0, 1, 90], columns={"n": [5, 6, 7]})
    with col.transaction():
        col.delete([1])
        assert tools.add_missing(col, items) == 2
        assert tools.add_missing(col, items) == 0
    assert [*col] == [0, *range(2, N), 1, 90]


def test_within_one_there_are_changes_of_rows_alone(home):
    col = home(made())
    with col.transaction():
        for refused in (
            col.compact,
            lambda: col.transaction().__enter__(),
            lambda: col.reencode(ENCODER),
            lambda: col.tag("x"),
        ):
            with pytest.raises(ArgumentError, match="transaction is open"):
                refused()
        col.delete([0])
    assert len(col) == N - 1
    with pytest.raises(ArgumentError, match="read-only"), col.frozen().transaction():
        pass
    with (
        pytest.raises(ArgumentError, match="no rows"),
        fewbits.fit(X, learner="lsh", bits=8).transaction(),
    ):
        pass


def test_changes_by_other_threads_wait_for_its_end(home):
    col, seen = home(made()), []

    def add():
        col.add(X[:1], ids=[90], columns={"n": [0]})
        seen.append("added")

    thread = threading.Thread(target=add)
    with col.transaction():
        thread.start()
        col.delete([0])
        thread.join(0.05)
        assert len(col.search(X[:1])) == 1  # searches do not wait
        seen.append("block")
    thread.join()
    assert (seen, len(col), col.version) == (["block", "added"], N, 3)


def test_other_handles_wait_for_its_end(tmp_path):
    made(tmp_path / "c")
    one, other = (Collection.open(tmp_path / "c") for _ in range(2))
    with one.transaction():
        one.delete([0])
        with pytest.raises(LockedError), other.transaction(timeout=0):
            pass
        with pytest.raises(LockedError):
            other.delete([1], timeout=0)
    with other.transaction(timeout=0):  # which has not seen the first one
        with pytest.raises(ArgumentError, match="no item with id 0"):
            other.delete([0])
        other.delete([1])
    assert [*other] == [*range(2, N)]


def test_another_collection_may_have_taken_the_place(tmp_path):
    col = made(tmp_path / "c")
    made(tmp_path / "c", 3, overwrite=True)
    with pytest.raises(ArgumentError, match="refresh"), col.transaction():
        raise AssertionError
    col.refresh()
    with col.transaction():
        col.delete([0])
    assert len(col) == 2


KILLED = """
import os, sys
from fewbits import Collection
import numpy as np
col = Collection.open(sys.argv[1])
with col.transaction():
    col.add(np.ones((3, 8), np.float32), columns={"n": [0, 0, 0]})
    col.update(None, ids=[0, 12], columns={"n": [8, 9]})
    col.delete(filter="n = 9")
    os._exit(9)
"""


def test_a_process_that_dies_in_one_leaves_nothing(tmp_path):
    col = made(tmp_path / "c")
    before, files = content(col), names(col)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "c")]
    assert subprocess.run(command, check=False).returncode == 9
    assert content(Collection.open(tmp_path / "c")) == before
    assert names(col) > files
    with col.transaction(timeout=0):
        pass
    assert names(col) == files


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as _power says")
def test_power_fails_in_the_middle(tmp_path):
    """What a power failure leaves is the version before, or the one after."""
    root, crashed = tmp_path / "disk", tmp_path / "crashed"
    col = made(root / "c", 3, keep_vectors=None)
    allowed, seen = [content(col)], {}
    with col.transaction():
        rearrange(col)
    allowed.append(content(col))
    made(root / "c", 3, keep_vectors=None, overwrite=True)
    col, bad = Collection.open(root / "c"), []

    def look(disk):
        for tree in disk.trees(n_random=0):
            state = frozenset(tree.items())
            if state in seen:
                continue
            folder = crashed / str(len(seen))
            for path, data in tree.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            seen[state] = content(Collection.open(folder / "c"))
            if seen[state] not in allowed:
                bad.append(disk.calls[-1])

    disk = PowerLoss(root, look)
    with pytest.MonkeyPatch.context() as patch:
        disk.watch(patch)
        with col.transaction():
            rearrange(col)
    allowed[:1] = []
    seen.clear()
    look(disk)
    assert not bad
    assert content(Collection.open(root / "c")) == allowed[-1]


def rearrange(col):
    col.add(X[:1], columns={"n": [5]})
    col.delete(filter="n = 1")
    col.delete([0])
    with suppress(ArgumentError):
        col.delete([0])
    col.update(None, ids=[2], columns={"n": [9]})


def test_what_a_broken_block_has_deleted_is_there_afterwards(home):
    """Names of files come again: nothing that was read of the first ones is left."""
    col = home(made())
    with pytest.raises(ArgumentError), col.transaction():
        assert [col.delete([1]), col.delete(filter="n = 2"), col.delete([1])] == []
    with col.transaction():
        for gone in (5, 6, 7):  # each of which writes a file of the same name
            assert col.delete([gone]) == 1
            assert col.delete(filter=f"n = {gone} or n = {gone - 5}") == 1
    assert [*col] == [3, 4, 8, 9, 10, 11]
    assert col.search(X[[1, 3, 5]], 1).ids[1].tolist() == [3]
    assert reread(col) == [3, 4, 8, 9, 10, 11]


def reread(col):
    return [*(col if col.path is None else Collection.open(col.path))]


def test_each_change_is_written_at_the_end_alone(tmp_path, monkeypatch):
    col, disk = made(tmp_path / "c"), PowerLoss(tmp_path)
    disk.watch(monkeypatch)
    n_syncs = []
    for n in (2, 12):
        disk.syncs.clear()
        with col.transaction():
            for i in range(n):
                col.add(X[:1], columns={"n": [i]})
                col.update(None, ids=[i], columns={"n": [i]})
                col.upsert(X[:1], ids=[i], columns={"n": [i]})
        n_syncs.append(len(disk.syncs))
    assert n_syncs[0] == n_syncs[1] > 0
