"""Metadata is checked where it is made, and where it is read."""

import hashlib
import json
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from fewbits.bundle import Bundle, Metadata
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError

X = np.random.default_rng(0).normal(size=(9, 4))
FULL = Metadata(
    method="itq",
    parameters={"n_bits": 4, "lengths": [2, 4]},
    feature_names=["a", "b", "c", "d"],
    kernel_map="chi2",
    shortlist=9,
    index="flat",
    keep_vectors="int8",
    trained_on=np.int64(100),
    repaired_classes=0,
    several_labels=True,
    label_threshold=np.float32(0.5),
    prefix_of=8,
    raw_column="text",
    label_column="kind",
    id_column="sku",
    novelty_radius=0,
    interrupted="after 3 iterations",
    extra={"owner": "Ada"},
)
WRONG = {
    "method": [1, b"itq", ["itq"]],
    "parameters": [None, 3, "x", [1], {1: 2}, {"a": object()}],
    "feature_names": ["abcd", 3, [1], ["a", None], {"a": 1}],
    "kernel_map": [3],
    "shortlist": [0, -1, 2.0, "9", True, float("nan"), [9]],
    "index": ["auto", "hnsw", 3, True, ["flat"]],
    "keep_vectors": ["int4", 8, True, ["int8"]],
    "trained_on": [-1, 1.5, "many", False],
    "repaired_classes": [-1, "1"],
    "several_labels": [None, 1, "yes"],
    "label_threshold": [float("nan"), float("inf"), "0.5", True],
    "prefix_of": [0, "8"],
    "raw_column": [0, ["text"]],
    "label_column": [0],
    "id_column": [0],
    "novelty_radius": [-1, 0.5, "3", True],
    "interrupted": [True],
    "extra": [None, [1], {"method": "itq"}, {"x": {1, 2}}],
}


def bundle(metadata=FULL):
    return Bundle(LinearEncoder(np.eye(4), np.zeros(4)), metadata=metadata)


def test_every_field_is_tried():
    assert set(WRONG) == {each.name for each in fields(Metadata)}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]]
)
def test_a_wrong_value_is_refused_in_one_line(name, value, tmp_path):
    with pytest.raises(ArgumentError, match=name) as caught:
        Metadata(**{name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("metadata", [FULL, Metadata()])
def test_round_trip(metadata, tmp_path):
    bundle(metadata).save(tmp_path / "b")
    assert Bundle.load(tmp_path / "b").metadata == metadata
    kept = json.loads((tmp_path / "b" / "bundle.json").read_text())["metadata"]
    assert kept == json.loads(json.dumps(metadata.to_dict()))


def resealed(folder, **changes):
    """Change a manifest together with its checksum."""
    path = folder / "bundle.json"
    manifest = {**json.loads(path.read_text()), **changes}
    manifest.pop("sha256")
    canonical = json.dumps(manifest, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps({**manifest, "sha256": digest}))


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        ([], "metadata is a list, no object"),
        (None, "metadata is a NoneType, no object"),
        ({"shortlist": "9"}, "shortlist must be a whole number from 1 on, got '9'"),
        ({"colour": 1}, "metadata has no field 'colour'"),
        ({"parameters": 3}, "parameters must be a mapping, got 3"),
        ({"extra": {"method": 1}}, "extra cannot have 'method'"),
    ],
)
def test_damage_is_told_in_one_line(damaged, message, tmp_path):
    bundle().save(tmp_path)
    resealed(tmp_path, metadata=damaged)
    with pytest.raises(ArtefactError, match=r"bundle\.json is damaged") as caught:
        Bundle.load(tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("written", [1, 2])
def test_an_older_folder_is_told_in_one_line(written, tmp_path):
    bundle().save(tmp_path)
    resealed(tmp_path, format=written)
    with pytest.raises(ArtefactError, match="by an early version") as caught:
        Bundle.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_it_does_not_change():
    with pytest.raises(FrozenInstanceError):
        FULL.shortlist = 3
    for given in (FULL.parameters, FULL.extra):
        with pytest.raises(TypeError, match="does not change"):
            given["x"] = 1
    assert (FULL.parameters["lengths"], FULL.trained_on) == ((2, 4), 100)


def test_a_summary_is_flat_and_leaves_column_names_out():
    names = {"feature_names", "raw_column", "label_column", "id_column", "extra"}
    shown = {each.name for each in fields(Metadata)} - names
    assert set(FULL.summary()) == shown | {"owner"}
    assert Metadata().summary() == Metadata().to_dict() == {}


def test_another_length_forgets_what_holds_for_one():
    short = FULL.of_other_length(4)
    assert short == replace(
        FULL, novelty_radius=None, shortlist=None, label_threshold=None
    )
    assert Metadata().of_other_length(4) == Metadata(prefix_of=4)


@pytest.mark.parametrize("wrong", [{"method": "itq"}, None, "itq"])
def test_a_bundle_takes_nothing_else(wrong):
    with pytest.raises(ArgumentError, match=r"must be a fewbits\.bundle\.Metadata"):
        bundle(wrong)


def test_metadata_decides_how_a_bundle_searches():
    tuned = Metadata(shortlist=5, keep_vectors="float32")
    made = bundle(tuned).with_items(X)
    assert made.collection.vectors is not None
    assert made.search_records(X[:1], 1)[0][0]["metric"] == "euclidean"
    assert (
        "metric"
        not in bundle().with_items(X).search_records(X[:1], 1, rerank=False)[0][0]
    )
