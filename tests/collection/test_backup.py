"""A backup has the files of one version, while others write."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fewbits import Collection
from fewbits.errors import ArgumentError, ArtefactError
from tests.collection._full import answers, full, learnt
from tests.collection._power import PowerLoss

WRITES = """
import sys
import numpy as np
from fewbits import Collection
from tests.collection._full import X
col = Collection.open(sys.argv[1])
n = 0
while True:
    n += 1
    table = {"sku": [f"n{n}"], "v": X[:1], "kind": ["red"], "year": [n % 100]}
    col.add(table)
    if n > 3:
        col.delete([f"n{n - 3}"])
    print(n, flush=True)
"""


def no_links(source, target):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM), source, None, target)


@pytest.mark.parametrize("links", [True, False])
def test_it_is_the_version_and_goes_its_own_way(tmp_path, monkeypatch, links):
    col = full(tmp_path / "c")
    col.delete(["k7"])
    old, before = col.frozen(), answers(col)
    col.delete(["k8"])
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    old.backup(tmp_path / "d")
    copy = Collection.open(tmp_path / "d")
    assert answers(copy) == before
    assert copy.version == old.version
    assert copy.verify().is_intact
    for pattern in ("rows-*/seg-*", "rows-*/vec-*", "encoder-*"):
        (path,) = (tmp_path / "d").glob(pattern)
        assert path.stat().st_nlink == (2 if links else 1)
    copy.delete(["k9"])
    copy.compact()
    assert ("k9" in copy, "k9" in col) == (False, True)
    assert old.verify().is_intact
    assert answers(old) == before
    with pytest.raises(ArtefactError, match="holds a collection already"):
        col.backup(tmp_path / "d")
    del col, old
    copy.backup(tmp_path / "e")
    assert len(Collection.open(tmp_path / "e")) == 28


def test_it_can_be_taken_while_others_write(tmp_path):
    col = full(tmp_path / "c")
    run = subprocess.Popen(
        [sys.executable, "-c", WRITES, tmp_path / "c"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
    )
    try:
        for number in range(5):
            run.stdout.readline()
            col.refresh()
            n, ids = len(col), col.ids.tolist()
            run.stdout.readline()  # another version has come since
            col.backup(tmp_path / str(number))
            copy = Collection.open(tmp_path / str(number))
            assert (len(copy), copy.ids.tolist()) == (n, ids)
            assert copy.verify().is_intact
    finally:
        run.kill()
        run.communicate()
    assert Collection.open(tmp_path / "c").verify().is_intact


def test_what_has_no_files_or_is_replaced(tmp_path):
    with pytest.raises(ArgumentError, match="in memory"):
        full().backup(tmp_path / "d")
    col = full(tmp_path / "c")
    learnt(calibration=None).save(tmp_path / "c", overwrite=True)
    with pytest.raises(ArgumentError, match="has been replaced"):
        col.backup(tmp_path / "d")
    assert not (tmp_path / "d").exists()
    Collection.open(tmp_path / "c").backup(tmp_path / "d")
    assert len(Collection.open(tmp_path / "d")) == 0


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    col, real = full(tmp_path / "c"), os.fsync
    before, calls = sorted(tmp_path.rglob("[!L]*")), 0
    has_failed = True
    while has_failed:
        numbers, has_failed = iter(range(100)), False

        def fsync(descriptor, numbers=numbers, call=calls):
            if next(numbers) == call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            try:
                col.backup(tmp_path / "d")
            except OSError:
                has_failed = True
        if has_failed and (tmp_path / "d").exists():
            assert Collection.open(tmp_path / "d").verify().is_intact
            break  # only the last sync, of the manifest's name
        assert not has_failed or sorted(tmp_path.rglob("[!L]*")) == before
        calls += 1
    assert calls > 5


@pytest.mark.skipif(
    sys.platform != "linux", reason="names of open files are read there"
)
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("has_rows", [True, False])
def test_power_fails_meanwhile(tmp_path, monkeypatch, links, has_rows):
    root, crashed = tmp_path / "disk", tmp_path / "crashed"
    root.mkdir()
    if has_rows:
        full(root / "c").delete(["k7"])
    else:
        learnt().save(root / "c")
    col, seen = Collection.open(root / "c"), {}
    before = col.codes.tolist() if has_rows else []

    def look(disk):
        for tree in disk.trees():
            tree = {k: v for k, v in tree.items() if k.startswith("d/")}
            state = frozenset(tree.items())
            if state in seen or "d/collection.json" not in tree:
                continue
            seen[state] = True
            folder = crashed / str(len(seen))
            for path, content in tree.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            copy = Collection.open(folder / "d")
            assert (copy.codes.tolist() if has_rows else []) == before
            assert copy.verify().is_intact

    disk = PowerLoss(root, look)
    with monkeypatch.context() as patch:
        if not links:
            patch.setattr(os, "link", no_links)
        disk.watch(patch)
        col.backup(root / "d")
    assert seen
    assert len(Collection.open(root / "d")) == len(before)
