"""Power fails while a collection is saved: the old one is there, or the new one."""

import errno
import os
import re
import sys
from contextlib import suppress

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError
from tests.collection._power import PowerLoss

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="names of open files are read there"
)
X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
ALONE = Collection.from_parts(LinearEncoder(np.eye(4), np.zeros(4)))
HOLDING = Collection.create(None, X, encoder=ALONE, keep_vectors="float32")
NEW_ALONE = Collection.from_parts(LinearEncoder(-np.eye(4), np.ones(4)))
NEW_HOLDING = Collection.create(None, X, encoder=NEW_ALONE, keep_vectors="float32")
SAVES = {
    "new": (None, NEW_ALONE, "b"),
    "new with rows": (None, NEW_HOLDING, "b"),
    "deep": (None, NEW_ALONE, "x/y/b"),
    "over one": (ALONE, NEW_ALONE, "b"),
    "over one with rows": (HOLDING, NEW_HOLDING, "b"),
    "rows lost": (HOLDING, NEW_ALONE, "b"),
    "rows built": (ALONE, HOLDING, "b"),
}


class Loss(Exception):
    """The collection came back as something that it never was."""


def facts_of(col):
    rows = None if not len(col) else (col.ids.tolist(), col.codes.tobytes())
    return col.encoder.fingerprint, rows


class Run:
    """One save, and each folder that a power failure may leave meanwhile."""

    def __init__(self, tmp_path, old, new, name):
        self.name, self.n_crashes, self.seen = name, 0, {}
        self.root, self.crashed = tmp_path / "disk", tmp_path / "crashed"
        self.root.mkdir()
        self.crashed.mkdir()
        if old is not None:
            old.save(self.root / name)
        self.new = new
        self.losses = []
        self.allowed = [None if old is None else facts_of(old), facts_of(new)]

    def go(self, without=None, error=None):
        self.disk = PowerLoss(self.root, self.look, without, error)
        with pytest.MonkeyPatch.context() as patch:
            self.disk.watch(patch)
            with suppress(OSError):
                self.new.save(self.root / self.name, overwrite=True)
                assert error is None
        if error is None:
            self.allowed = self.allowed[1:]
        self.look(self.disk)
        if self.losses:
            raise Loss(self.losses[0])
        return self.disk

    def look(self, disk):
        for tree in disk.trees():
            read = self.read(tree)
            state = frozenset(read.items())
            if state not in self.seen:
                self.seen[state] = self.loaded(read)
                self.n_crashes += 1
            if (facts := self.seen[state]) not in self.allowed:
                self.losses.append(f"after {disk.calls[-1]}: {facts}")

    def read(self, tree):
        """Return the files without those of stores that the manifest does not name."""
        manifest = tree.get(f"{self.name}/collection.json", b"")
        stores = {path: re.search("rows-[^/]*", path) for path in tree}
        named = {x for x, y in stores.items() if y is None or y[0].encode() in manifest}
        return {path: tree[path] for path in named}

    def loaded(self, tree):
        """Return what the collection is, None where it is missing."""
        if f"{self.name}/collection.json" not in tree:
            return None
        folder = self.crashed / str(self.n_crashes)
        for path, content in tree.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        try:
            return facts_of(Collection.open(folder / self.name))
        except ArtefactError as error:
            return str(error)


@pytest.mark.parametrize("save", SAVES)
def test_the_old_collection_or_the_new_one_is_there(tmp_path, save):
    run = Run(tmp_path, *SAVES[save])
    run.go()
    assert run.n_crashes > 10


#: Of a save: the name of the folder, the encoder, its draft's name, all names, the
#: manifest, its name.
SYNCS = [0, 1, 3, 4, 5]


@pytest.mark.parametrize(
    ("save", "sync"),
    [("over one", sync) for sync in SYNCS[1:]]
    + [("new", sync) for sync in SYNCS]
    + [("deep", sync) for sync in range(3)],
)
def test_each_sync_is_needed(tmp_path, save, sync):
    with pytest.raises(Loss):
        Run(tmp_path, *SAVES[save]).go(without=sync)


@pytest.mark.parametrize("save", ["new", "over one", "rows lost"])
@pytest.mark.parametrize("sync", range(6))
def test_after_a_sync_that_fails(tmp_path, save, sync):
    error = OSError(errno.EIO, os.strerror(errno.EIO))
    Run(tmp_path, *SAVES[save]).go(sync, error)


def test_a_folder_that_was_there_is_on_the_disk(tmp_path):
    run = Run(tmp_path, *SAVES["new"])
    (run.root / "b").mkdir()
    assert run.go().syncs[0] == "sync ."


def test_while_versions_get_names_and_rows_change(tmp_path):
    root, crashed, seen = tmp_path / "disk", tmp_path / "crashed", {}
    root.mkdir()
    HOLDING.save(root / "c")
    col = Collection.open(root / "c")
    #: What is done, with what is there afterwards: ids, and those of each name.
    ids = [*range(6)]
    changes = [
        (lambda: col.tag("a"), (ids, {"a": ids})),
        (lambda: col.delete([0, 1]), (ids[2:], {"a": ids})),
        (lambda: col.upsert(X[:1], ids=[2]), ([3, 4, 5, 2], {"a": ids})),
        (lambda: col.tag("b"), ([3, 4, 5, 2], {"a": ids, "b": [3, 4, 5, 2]})),
        (lambda: col.untag("a"), ([3, 4, 5, 2], {"b": [3, 4, 5, 2]})),
        (lambda: col.compact(), ([3, 4, 5, 2], {"b": [3, 4, 5, 2]})),
        (lambda: col.delete([3]), ([4, 5, 2], {"b": [3, 4, 5, 2]})),
        (lambda: col.restore("b"), ([3, 4, 5, 2], {"b": [3, 4, 5, 2]})),
    ]
    allowed = [(ids, {})]

    def look(disk):
        for tree in disk.trees():
            state = frozenset(tree.items())
            if state not in seen:
                folder = crashed / str(len(seen))
                for path, content in tree.items():
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(content)
                there = Collection.open(folder / "c")
                assert there.verify().is_intact
                names = {name: there.at(name).ids.tolist() for name in there.tags()}
                seen[state] = there.ids.tolist(), names
            assert seen[state] in allowed, disk.calls[-1]

    disk = PowerLoss(root, look)
    with pytest.MonkeyPatch.context() as patch:
        disk.watch(patch)
        for change, after in changes:
            allowed = [allowed[-1], after]
            change()
            allowed = [after]
            look(disk)
    assert len(seen) > 50
