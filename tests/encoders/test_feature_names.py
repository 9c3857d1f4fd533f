"""An encoder remembers the names of the frame that it was learnt from."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fewbits
from fewbits.encoders import LinearEncoder, load
from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from fewbits.learners import BRE, ITQ, AdditiveCodes, KernelMapped, NeighbourCodes

NAMES = ["age", "height", "weight", "pulse"]
X = np.random.default_rng(0).random((60, 4)).astype(np.float32)
FRAME = pd.DataFrame(X, columns=NAMES)
TURNED = FRAME[NAMES[::-1]]
LEARNERS = [
    ITQ(8, random_state=0),
    BRE(8, n_iter=2, random_state=0),
    AdditiveCodes(8, correction=True, random_state=0),
    NeighbourCodes(8, n_iter=1, random_state=0),
    KernelMapped(ITQ(8, random_state=0)),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_columns_are_taken_by_name(learner, tmp_path):
    encoder = learner.fit(FRAME).encoder_
    assert encoder.feature_names == tuple(NAMES)
    encoder.save(tmp_path / "encoder.safetensors")
    kept = load(tmp_path / "encoder.safetensors")
    for each in (encoder, kept, kept.prefix(5), pickle.loads(pickle.dumps(kept))):
        assert each.feature_names == tuple(NAMES)
        codes = each.encode(X)
        for frame in (FRAME, TURNED, pl.DataFrame(TURNED), pa.table(dict(TURNED))):
            assert np.array_equal(each.encode(frame), codes)
            assert np.array_equal(each.project(frame), each.project(X))
            assert np.array_equal(each.query_scores(frame), each.query_scores(X))
        found = each.corrections(TURNED, codes)
        if found is not None:
            assert np.array_equal(found.values, each.corrections(X, codes).values)


def test_other_columns_are_refused_by_their_names():
    encoder = ITQ(8, random_state=0).fit(FRAME).encoder_
    renamed = FRAME.rename(columns={"pulse": "puls"})
    with pytest.raises(FeatureError, match="lacks pulse and has puls besides"):
        encoder.encode(renamed)
    with pytest.raises(FeatureError, match="it lacks age, pulse"):
        encoder.encode(FRAME[["height", "weight"]])
    with pytest.raises(FeatureError, match="has sex besides"):
        encoder.project(FRAME.assign(sex=1.0))


def test_names_are_no_part_of_codes():
    named, plain = (ITQ(8, random_state=0).fit(each).encoder_ for each in (FRAME, X))
    assert plain.feature_names is None
    assert named.fingerprint == plain.fingerprint
    assert named.with_feature_names(None).to_bytes() == plain.to_bytes()
    # Without names, a frame is a matrix.
    assert np.array_equal(plain.encode(FRAME), named.encode(X))
    unnamed = FRAME.set_axis(range(4), axis=1)
    assert np.array_equal(named.encode(unnamed), named.encode(X))


def test_a_fit_for_collections_keeps_names():
    encoder = fewbits.fit(FRAME, bits=8).encoder
    assert encoder.feature_names == tuple(NAMES)


def test_a_second_fit_forgets_the_names_of_the_first():
    itq = ITQ(8, random_state=0).fit(FRAME)
    assert itq.fit(X).encoder_.feature_names is None


def test_bad_names():
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    for names in (["a"], ["a", "a"], ["a", "b", "c"]):
        with pytest.raises(ArgumentError, match="2 features need as many names"):
            encoder.with_feature_names(names)


def test_damaged_names_are_refused(tmp_path):
    path = tmp_path / "encoder.safetensors"
    LinearEncoder(np.eye(2), np.zeros(2)).with_feature_names("ab").save(path)
    content = path.read_bytes()
    assert content.count(b'[\\"a\\", \\"b\\"]') == 1
    path.write_bytes(content.replace(b'[\\"a\\", \\"b\\"]', b'[\\"a\\", \\"b\\" '))
    with pytest.raises(ArtefactError, match="is damaged"):
        load(path)
