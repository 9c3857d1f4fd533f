"""Versions that have a name stay until it is taken from them."""

import pickle
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from tests.store import _format

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

N, WIDTH = 12, 8
X = np.random.default_rng(0).normal(size=(N, WIDTH)).astype(np.float32)
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))


def made(path=None):
    columns = {"n": np.arange(N)}
    return Collection.create(
        path, X, encoder=ENCODER, columns=columns, keep_vectors="float32"
    )


def content(col):
    return col.to_arrow().to_pylist(), col.codes.tolist(), col.search(X, 3).to_list()


def churn(col, n=6):
    """Change and compact until nothing of the first files is needed."""
    for i in range(n):
        col.upsert(X[:4] + i, ids=[0, 1, 2, 3], columns={"n": [i] * 4})
    col.delete(filter="n > 5")
    col.compact()


def test_named_versions_stay(home):
    col = home(made())
    first, start = content(col), datetime.now(UTC).replace(microsecond=0)
    assert col.tags() == {}
    spring = col.tag("spring")
    col.delete([0])
    second = content(col)
    assert col.tag("sommer \N{SNOWMAN}") == col.version > spring
    churn(col)
    assert col.tags() == {"spring": spring, "sommer \N{SNOWMAN}": spring + 2}
    times = col.tag_times()
    assert {*times} == {*col.tags()}
    assert start <= times["spring"] <= datetime.now(UTC)
    assert reopened(col).tag_times() == times
    assert {*col.tags().values(), col.version} <= {*col.versions()}
    for handle in (col, pickle.loads(pickle.dumps(col)), reopened(col)):
        assert content(handle.at("spring")) == content(handle.at(spring)) == first
        assert content(handle.at("sommer \N{SNOWMAN}")) == second
    with pytest.raises(ArgumentError, match="read-only"):
        col.at("spring").delete([1])
    churn(col)
    col.untag("spring")
    churn(col)
    assert spring not in col.versions()
    with pytest.raises(ArgumentError, match="gone"):
        col.at(spring)
    with pytest.raises(ArgumentError, match="no version is named 'spring'"):
        col.at("spring")
    assert content(col.at("sommer \N{SNOWMAN}")) == second


def reopened(col):
    return col if col.path is None else Collection.open(col.path)


def test_space_comes_back_with_the_last_name(tmp_path):
    col = made(tmp_path / "c")
    for name in "ab":
        col.tag(name)
    churn(col)
    col.compact()
    kept = col.usage()["n_files"]
    for name in "ab":
        col.untag(name)
    churn(col)
    assert col.usage()["n_files"] < kept
    assert col.verify().is_intact


def test_an_earlier_version_that_is_held_gets_a_name(home):
    col = home(made())
    held = col.frozen()
    before = content(held)
    churn(col)
    assert col.tag("before", held.version) == held.version
    number = held.version
    del held
    churn(col)
    assert content(col.at("before")) == content(col.at(number)) == before


def test_what_is_refused(home):
    col = home(made())
    version = col.tag("a")
    with pytest.raises(ArgumentError, match=f"'a' is the name of version {version}"):
        col.tag("a")
    for wrong in ("", " a", "12", 3, None, b"x"):
        with pytest.raises(ArgumentError, match="the name of a version"):
            col.tag(wrong)
    for gone in (999, version + 1):
        with pytest.raises(ArgumentError, match="gone"):
            col.tag("b", gone)
    for wrong in (-1, 1.5, "1"):
        with pytest.raises(ArgumentError):
            col.tag("b", wrong)
    with pytest.raises(ArgumentError, match="'b'; known: a"):
        col.untag("b")
    with pytest.raises(ArgumentError, match="read-only"):
        col.frozen().tag("b")
    assert (col.version, col.tags()) == (version, {"a": version})


def test_names_are_seen_by_others_and_by_an_earlier_version(tmp_path):
    one, other = made(tmp_path / "c"), Collection.open(tmp_path / "c")
    past = other.frozen()
    one.tag("a")
    assert other.tags() == past.tags() == one.tags() == {"a": one.version}
    with pytest.raises(ArgumentError, match="'a' is the name"):
        other.tag("a")
    other.delete([0])
    other.untag("a")
    assert one.refresh()
    assert one.tags() == {}


def test_codes_are_not_replaced_under_a_name(home):
    col = home(made())
    col.tag("a")
    flipped = LinearEncoder(-np.eye(WIDTH), np.zeros(WIDTH))
    with pytest.raises(ArgumentError, match="untag a"):
        col.reencode(flipped)
    col.untag("a")
    col.reencode(flipped)
    assert (len(col), col.tags()) == (N, {})


def test_a_column_that_comes_later_is_not_in_a_named_version(home):
    col = home(made())
    col.tag("a")
    col.update(None, ids=[3], columns={"kind": ["x"]})
    churn_columns = {"n": [1], "kind": ["y"]}
    col.upsert(X[:1], ids=[0], columns=churn_columns)
    col.compact()
    assert col.at("a").columns == ["n"]
    assert col.search(X[3:4], 1)[0][0]["kind"] == "x"


def test_a_damaged_manifest_of_a_named_version_takes_no_rows_with_it(tmp_path):
    col = made(tmp_path / "c")
    before, number = content(col), col.tag("a")
    churn(col)
    (path,) = col.path.glob(f"rows-*/manifest-{number:06d}.json")
    data = path.read_bytes()
    path.write_bytes(data[:-9] + b"x" + data[-8:])
    churn(col)
    with pytest.raises(ValueError, match=r"damaged|gone"):
        col.at("a")
    path.write_bytes(data)
    assert content(col.at("a")) == before
    path.unlink()
    churn(col)
    path.write_bytes(data)
    assert content(col.at("a")) == before


def cut(path):
    path.write_bytes(path.read_bytes()[:-3])


def test_verify_reads_named_versions_and_repair_leaves_them_their_files(tmp_path):
    col = made(tmp_path / "c")
    before, number = content(col), col.tag("a")
    (path,) = col.path.glob("rows-*/seg-*.arrow")
    churn(col)
    whole = path.read_bytes()
    path.write_bytes(whole[:-60] + bytes([whole[-60] ^ 1]) + whole[-59:])
    assert [path.name in damage.file for damage in col.verify().damages] == [True]
    report = col.repair()
    assert (report.damaged_tags, report.is_complete) == (("a",), False)
    path.write_bytes(whole)
    assert col.verify().is_intact
    assert content(Collection.open(col.path).at("a")) == before
    manifest = path.parent / f"manifest-{number:06d}.json"
    copy = path.parent / f"copy-{number:06d}.json"
    for hurt in (cut, cut, Path.unlink):
        hurt(manifest)
        assert [manifest.name in x.file for x in col.verify().damages] == [True]
        version = col.version
        report = col.repair()  # from its copy, without a commit
        assert (report.is_complete, report.rebuilt) == (
            True,
            (str(manifest.absolute()),),
        )
        assert (col.version, col.verify().is_intact) == (version, True)
        assert content(Collection.open(col.path).at("a")) == before
    copy.unlink()
    cut(manifest)
    assert col.repair().damaged_tags == ("a",)
    col.untag("a")
    churn(col)
    assert col.verify().is_intact


def test_times_of_names_that_an_older_fewbits_moved_are_none(tmp_path):
    col = made(tmp_path / "c")
    for name in ("moved", "gone", "stays"):
        col.tag(name)
    (newest,) = tmp_path.glob(f"c/rows-*/manifest-{col.version:06d}.json")
    content = _format.manifest(newest.read_bytes())
    content["number"] += 1
    content["tags"] = {**content["tags"], "moved": content["number"]}
    del content["tags"]["gone"]
    newest = newest.with_name(f"manifest-{content['number']:06d}.json")
    newest.write_bytes(_format.manifest_bytes(content))
    col = Collection.open(tmp_path / "c")
    assert {*col.tag_times()} == {"stays"}
    assert {*col.tags()} == {"moved", "stays"}
    col.tag("new")
    assert {*reopened(col).tag_times()} == {"stays", "new"}
