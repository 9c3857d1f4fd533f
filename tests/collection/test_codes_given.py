"""Codes that the encoder has made before are taken as they are."""

import numpy as np
import pytest

from fewbits import Collection
from fewbits.errors import ArgumentError, CodeError
from fewbits.learners import ITQ


@pytest.fixture(scope="module")
def made():
    """Return vectors, an encoder of theirs, and their codes."""
    X = np.random.default_rng(0).normal(size=(300, 16)).astype(np.float32)
    encoder = ITQ(16, random_state=0).fit(X).encoder_
    return X, encoder, encoder.encode(X)


def test_codes_with_their_encoder_answer_as_the_vectors_do(made):
    X, encoder, codes = made
    of_codes = Collection.create(None, codes=codes[:200], encoder=encoder)
    assert of_codes.add(codes=codes[200:]) == 100
    of_vectors = Collection.create(None, X, encoder=encoder)
    for rerank in (None, True):
        first, second = (
            each.search(X[:20], k=5, rerank=rerank) for each in (of_codes, of_vectors)
        )
        np.testing.assert_array_equal(first.ids, second.ids)
        np.testing.assert_array_equal(first.distances, second.distances)


def test_codes_that_do_not_fit_are_refused(made):
    X, encoder, codes = made
    with pytest.raises(CodeError, match="2 bytes"):
        Collection.create(None, codes=codes[:, :1], encoder=encoder)
    with pytest.raises(ArgumentError, match="no vectors to keep"):
        Collection.create(None, codes=codes, encoder=encoder, keep_vectors="int8")
    keeping = Collection.create(None, X, encoder=encoder, keep_vectors="int8")
    with pytest.raises(ArgumentError, match="more of its items"):
        keeping.add(codes=codes)


def test_codes_are_given_as_bytes():
    packed = np.random.default_rng(0).integers(0, 256, (5, 4), np.uint8)
    packed[:, -1] = 0  # which NumPy would drop of bytes
    col = Collection.create(None, codes=[row.tobytes() for row in packed])
    np.testing.assert_array_equal(col.codes, packed)
    found = col.search(codes=[packed[2].tobytes()], k=1)
    assert (found.ids.tolist(), found.distances.tolist()) == ([[2]], [[0]])
    with pytest.raises(CodeError, match="bytes"):
        col.search(codes=[b"abc"])
