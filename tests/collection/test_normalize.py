"""Vectors of very different lengths: said once, and brought to length 1 on demand."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import fewbits
from fewbits import Collection
from fewbits.cli import app
from fewbits.errors import ArgumentError
from fewbits.learners import LSH

RNG = np.random.default_rng(4)
UNIT = RNG.normal(size=(120, 16)).astype(np.float32)
UNIT /= np.linalg.norm(UNIT, axis=1, keepdims=True)
LONG = UNIT * np.float32(2.0) ** RNG.integers(-6, 7, (120, 1))
COSINE = np.argsort(-(UNIT[:10] @ UNIT.T), axis=1)[:, :5]


def test_a_schema_is_normalized_later():
    encoder = LSH(16, random_state=0).fit(UNIT).encoder_
    col = Collection.create(None, schema=pa.schema([]), encoder=encoder, normalize=True)
    col.add(LONG)
    assert col.facts.normalize
    np.testing.assert_array_equal(col.codes, encoder.encode(UNIT))


def test_lengths_that_differ_are_said_once():
    with pytest.warns(UserWarning, match="normalize=True.*--normalize") as told:
        Collection.create(None, LONG, bits=16)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for vectors in (UNIT, LONG[:, :8], 3 * UNIT):
            Collection.create(None, vectors, bits=8)
        Collection.create(None, LONG, bits=16, normalize=True)


@pytest.mark.parametrize("form", [None, "float16", "float32", "int8"])
def test_lengths_do_not_matter(form, tmp_path):
    options = {"bits": 16, "keep_vectors": form}
    col = Collection.create(tmp_path / "c", LONG, normalize=True, **options)
    plain = Collection.create(None, UNIT, normalize=True, **options)
    np.testing.assert_array_equal(col.codes, plain.codes)
    again = Collection.open(tmp_path / "c")
    assert again.facts.normalize
    manifest = json.loads((tmp_path / "c/collection.json").read_text())
    assert manifest["reader_features"] == ["normalize"]
    again.add(1000 * LONG[:7])
    np.testing.assert_array_equal(again.codes[120:], again.codes[:7])
    for queries in (UNIT[:10], 7 * UNIT[:10]):
        np.testing.assert_array_equal(again.encode(queries), col.codes[:10])
        if form == "float32":
            hits = again.search(queries, 5, allowed=range(120), shortlist=200)
            np.testing.assert_array_equal(hits.ids, COSINE)
    if form is not None:
        lengths = np.linalg.norm(np.asarray(again.vectors, np.float64), axis=1)
        np.testing.assert_allclose(lengths, 1, atol=0.02)


def test_vectors_keep_their_length_through_changes():
    col = Collection.create(None, LONG, normalize=True, keep_vectors="float32", bits=16)
    col.reencode(LSH(16, random_state=1).fit(UNIT).encoder_)
    assert col.facts.normalize
    hits = col.search(9 * UNIT[:10], 5, shortlist=200)
    np.testing.assert_array_equal(hits.ids, COSINE)
    np.testing.assert_array_equal(col.prefix(8).encode(LONG), col.prefix(8).codes)
    (estimate,) = (
        x
        for x in col.recall(k=5, vectors=LONG, shortlist=200)
        if x.search == "euclidean"
    )
    assert estimate.recall == 1


def test_an_encoder_brings_its_normalization_along():
    learnt = fewbits.fit(LONG, normalize=True, bits=16)
    col = Collection.create(None, LONG, encoder=learnt)
    np.testing.assert_array_equal(col.codes, learnt.encode(UNIT))
    own = Collection.create(None, LONG, encoder=learnt.encoder, normalize=True)
    np.testing.assert_array_equal(own.codes, col.codes)


def test_zeros_stay_and_nothing_overflows():
    extremes = np.vstack([UNIT[:4] * 1e-30, UNIT[:4] * np.float32(1e30), UNIT[:1] * 0])
    col = Collection.create(None, UNIT, normalize=True, bits=16, keep_vectors="float32")
    col.add(extremes)
    np.testing.assert_array_equal(col.codes[120:124], col.codes[:4])
    np.testing.assert_array_equal(col.codes[124:128], col.codes[:4])
    assert not col.vectors[128].any()


def test_only_vectors_have_lengths():
    with pytest.raises(ArgumentError, match="normalize is for vectors"):
        Collection.create(None, codes=np.zeros((3, 2), np.uint8), normalize=True)
    with pytest.raises(ArgumentError, match="normalize is for vectors"):
        Collection.create(None, ["a shoe", "a hat"], normalize=True, bits=8)


def test_over_http(tmp_path):
    from fewbits.server import Settings, create_app

    options = {"keep_vectors": "float32", "bits": 16}
    col = Collection.create(tmp_path / "c", LONG, normalize=True, **options)
    app = create_app(tmp_path / "c", Settings())
    with TestClient(app, base_url="http://localhost") as client:
        body = {"vectors": (5 * UNIT[:10]).tolist(), "k": 5, "shortlist": 200}
        answer = client.post("/v1/search", json=body).json()
        codes = client.post("/v1/encode", json={"vectors": LONG.tolist()}).json()
    ids = [[hit["id"] for hit in hits] for hits in answer["hits"]]
    assert ids == COSINE.tolist()
    assert codes["codes"] == [code.tobytes().hex() for code in col.codes]


def test_on_the_command_line(tmp_path):
    np.save(tmp_path / "x.npy", LONG)
    words = ["build", str(tmp_path / "c"), str(tmp_path / "x.npy"), "--bits", "16"]
    assert CliRunner().invoke(app, [*words, "--normalize"]).exit_code == 0
    col = Collection.open(tmp_path / "c")
    assert col.facts.normalize
    np.testing.assert_array_equal(col.codes, col.encode(UNIT))
