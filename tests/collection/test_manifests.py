"""Manifests that are none of a collection, or are lost: told, and no id comes twice."""

import shutil

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError
from tests.collection._full import all_files

X = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)


def made(path, n_commits=0, sign=1):
    col = Collection.create(
        path, X, encoder=LinearEncoder(sign * np.eye(8), np.zeros(8))
    )
    for _ in range(n_commits):
        col.add(X[:1])
    return col


def rows_of(col):
    (rows,) = col.path.glob("rows-*")
    return rows


def manifests(col, kind="manifest"):
    return sorted(rows_of(col).glob(f"{kind}-*.json"))


def content(col):
    return [path.read_bytes() for path in sorted(all_files(rows_of(col)))]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_manifest_of_another_collection_is_named(tmp_path, sign):
    col, other = made(tmp_path / "c", 2), made(tmp_path / "d", 6, sign)
    before = col.ids.tolist()
    stray = manifests(other)[-1]
    added = shutil.copy(stray, rows_of(col) / stray.name)
    files = content(col)
    for door in (
        lambda: Collection.open(col.path),
        col.refresh,
        lambda: col.add(X[:1]),
        lambda: col.delete([0]),
        col.compact,
        col.repair,
    ):
        with pytest.raises(ArtefactError) as caught:
            pytest.fail(f"taken: {door()}")
        assert any(name in str(caught.value) for name in (stray.name, "another"))
    (damage,) = col.verify().damages
    assert stray.name in damage.file
    assert (col.ids.tolist(), content(col)) == (before, files)
    copy = shutil.copytree(col.path, tmp_path / "e")
    added.unlink()
    assert Collection.open(col.path).ids.tolist() == before
    assert col.add(X[:1]) == 1
    # Or repair puts it aside.
    Collection.repair_folder(copy, drop_rows=True)
    assert Collection.open(copy).ids.tolist() == before
    assert Collection.verify_folder(copy).is_intact


def test_nothing_is_removed_while_a_file_is_missing(tmp_path):
    col = made(tmp_path / "c", 2)
    col.add(X[:1])
    (segment,) = rows_of(col).glob("seg-*")
    segment.rename(tmp_path / "away")
    with pytest.raises(ArtefactError, match="missing"):
        Collection.open(col.path).search(X[:1], 1)
    names = {path.name for path in rows_of(col).glob("*-*")}
    other = Collection.open(col.path)
    other.add(X[:1])
    other.delete([9])
    assert names <= {path.name for path in rows_of(col).glob("*-*")}
    (tmp_path / "away").rename(segment)
    assert Collection.open(col.path).ids.tolist() == [*range(9)]
    assert Collection.verify_folder(col.path).is_intact


def test_ids_of_commits_that_are_lost_are_not_given_again(tmp_path):
    col = made(tmp_path / "c", 2)
    for kind in ("manifest", "copy"):
        manifests(col, kind)[-1].write_bytes(b"{}")
    report = Collection.repair_folder(col.path, drop_rows=True)
    assert report.n_commits_lost == 1
    col = Collection.open(col.path)
    assert col.add(X[:2]) == 2
    assert col.ids.tolist()[-2:] == [8, 9]


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_is_named(tmp_path, kind):
    col = made(tmp_path / "c", 2)
    stray = rows_of(col) / "manifest-000009.json"
    if kind == "folder":
        stray.mkdir()
    else:
        stray.symlink_to(tmp_path / "nowhere")
    for door in (
        lambda: Collection.open(col.path),
        col.refresh,
        lambda: col.add(X[:1]),
        col.compact,
    ):
        with pytest.raises(ArtefactError, match=stray.name):
            door()
    (damage,) = col.verify().damages
    assert stray.name in damage.file
    (stray.rmdir if kind == "folder" else stray.unlink)()
    assert col.add(X[:1]) == 1
    assert len(Collection.open(col.path)) == 9
