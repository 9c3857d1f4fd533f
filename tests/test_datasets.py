"""Data sets by name, and the files that they are exported to."""

import sys

import numpy as np
import pytest

from fewbits import datasets, inputs
from fewbits._extras import install_hint
from fewbits.errors import ArgumentError, MissingExtraError


def test_available():
    entries = {entry.name: entry for entry in datasets.available()}
    assert list(entries) == ["digits", "icd10"]
    assert entries["digits"].present
    assert entries["icd10"].how == install_hint("text")


def test_load_by_name():
    assert datasets.load("digits").name == "digits"
    with pytest.raises(ArgumentError, match="no data set 'mnist'; known: digits"):
        datasets.load("mnist")


def test_digits():
    digits = datasets.load_digits()
    assert digits.items.shape == (1797, 64)
    assert digits.items.dtype == np.float32
    assert set(digits.labels["class"]) == set(range(10))
    assert len(set(digits.keys)) == len(digits)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[text\]'"):
        datasets.load_icd10()


def made(kind, items, labels):
    labels = {name: np.array(values) for name, values in labels.items()}
    return datasets.Dataset("made", kind, items, [], labels)


def test_exported_texts_are_read_again(tmp_path):
    texts = ["a, b", 'say "c"', "naïve\nline"]
    data = made("texts", texts, {"coarse": ["x", "y", "x"], "fine": [1, 2, 3]})
    datasets.export(data, tmp_path / "t.csv")
    result = inputs.read(tmp_path / "t.csv", column="text", label="fine")
    assert result.values == texts
    assert result.labels.tolist() == ["1", "2", "3"]


def test_exported_vectors_are_read_again(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    data = made("vectors", X, {"kind": np.array(["x", "y", "x"], dtype=object)})
    for name, labels in (("v.npz", "kind"), ("v.npy", None)):
        datasets.export(data, tmp_path / name)
        result = inputs.read(tmp_path / name, label=labels)
        np.testing.assert_array_equal(result.values, X)
        assert labels is None or result.labels.tolist() == ["x", "y", "x"]


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
        result = part.items if kind == "texts" else part.items[:, 0].tolist()
        assert result == [items[i] if kind == "texts" else i for i in rows]
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
