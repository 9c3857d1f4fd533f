"""A collection goes back to an earlier version in place."""

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from tests.collection.test_tags import X, churn, content, made, reopened

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")


def test_content_comes_back_and_names_stay(home):
    col = home(made())
    col.delete([5])
    first = content(col)
    number = col.tag("spring")
    churn(col)
    col.update(None, ids=[1, 2], columns={"n": [-1, -2], "kind": ["a", "b"]})
    second = content(col)
    summer = col.tag("summer")
    assert col.restore("spring") == col.version == summer + 1
    for handle in (col, reopened(col)):
        assert content(handle) == content(handle.at(number)) == first
        assert content(handle.at("summer")) == second
        assert handle.tags() == {"spring": number, "summer": summer}
        assert handle.columns == ["n"]
    churn(col)
    assert col.restore(summer) == col.version
    assert content(col) == second
    assert col.restore(summer) == col.restore("summer") == col.version  # no commit


def test_numbers_of_rows_and_ids_are_not_given_again(home):
    col = home(made())
    col.tag("a")
    assert col.add(X[:2], columns={"n": [100, 101]}) == 2
    assert col.ids[-2:].tolist() == [12, 13]
    col.restore("a")
    assert col.ids[-1] == 11
    col.add(X[:2], columns={"n": [102, 103]})
    assert col.ids[-2:].tolist() == [14, 15]
    col.delete([3])
    col.restore("a")
    col.compact()
    col.add(X[3:4], ids=[12], columns={"n": [5]})
    assert [hit.id for hit in col.search(X[3:4], 2)[0]] == [3, 12]


def test_an_empty_version_and_rows_that_were_deleted(home):
    col = home(made())
    col.tag("full")
    col.delete(filter="n >= 0")
    col.tag("empty")
    col.restore("full")
    assert len(col) == 12
    col.restore("empty")
    assert (len(col), col.search(X, 1).ids.shape) == (0, (12, 1))
    col.add(X[:1], columns={"n": [1]})
    assert col.ids.tolist() == [12]


def test_what_is_refused(home):
    col = home(made())
    col.tag("a")
    version = col.version
    for wrong, reason in (
        (99, "version 99.* is gone"),
        ("b", "no version is named 'b'; known: a"),
        (-1, "version"),
        (1.5, "version"),
        (None, "version"),
    ):
        with pytest.raises(ArgumentError, match=reason):
            col.restore(wrong)
    with pytest.raises(ArgumentError, match="read-only"):
        col.at("a").restore("a")
    with pytest.raises(ArgumentError, match="is open"), col.transaction():
        col.restore("a")
    gone = col.version
    col.untag("a")
    for _ in range(3):
        churn(col)
    with pytest.raises(ArgumentError, match=f"version {gone}.* is gone"):
        col.restore(gone)
    assert col.version > version
    flipped = LinearEncoder(-np.eye(8), np.zeros(8))
    before = col.version
    col.reencode(flipped)  # no version before it can be read
    with pytest.raises(ArgumentError, match="gone"):
        col.restore(before)


def test_a_version_whose_files_are_gone_is_refused(tmp_path):
    col = made(tmp_path / "c")
    number, before = col.tag("a"), content(col)
    (rows,) = col.path.glob("rows-*/seg-*")
    churn(col)
    data = rows.read_bytes()
    rows.unlink()
    with pytest.raises(ArgumentError, match=f"version {number} of .* is gone"):
        Collection.open(col.path).restore("a")
    rows.write_bytes(data)
    other = Collection.open(col.path)
    other.restore("a")
    assert col.refresh()
    assert content(col) == before
    assert col.verify().is_intact
    assert col.repair().before.is_intact


def test_nothing_is_written_anew(tmp_path):
    col = made(tmp_path / "c")
    col.tag("a")
    col.delete([1])
    files = {*col.path.glob("rows-*/[sv]*")}
    col.restore("a")
    assert {*col.path.glob("rows-*/[sv]*")} == files
    col.backup(tmp_path / "backup")
    assert content(Collection.open(tmp_path / "backup")) == content(col)
