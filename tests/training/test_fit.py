"""Every method gives a bundle; every mistake is named before long work."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError, FewbitsError
from fewbits.inputs import Input
from fewbits.training import METHODS, fit_bundle

X = np.random.default_rng(0).normal(size=(80, 10)).astype(np.float32)
LABELS = np.array(["a", "b", "c", "d"] * 20)


def vectors(values=X, labels=LABELS):
    return Input("vectors", values, labels, "x.npz")


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method):
    settings = {"density": 0.5} if method == "sp" else {}
    bundle = fit_bundle(vectors(), method=method, parameters=settings)
    assert bundle.encode(X).shape[0] == 80
    assert bundle.summary()["method"] == method
    assert bundle.summary()["trained_on"] == 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "no method 'magic'; known are lsh"),
        ({"parameters": {"magic": 1}}, "itq has no parameter 'magic'"),
        ({"method": "threshold", "n_bits": 8}, "decides the length itself"),
        ({"n_bits": 0}, "n_bits must be"),
        ({"backbone": "wordllama-256"}, "vectors need no backbone"),
        ({"random_state": -1}, "random_state must be"),
        ({"parameters": {"random_state": "x"}}, "random_state must be"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ArgumentError, match=message):
        fit_bundle(vectors(), **options)


def test_labels_missing():
    with pytest.raises(ArgumentError, match=r"cca-itq learns from labels.*--labels"):
        fit_bundle(vectors(labels=None), method="cca-itq")


def test_fewer_rows_than_bits_and_constant_columns():
    few = X[:5].copy()
    few[:, 3] = 1
    assert fit_bundle(vectors(few, None), n_bits=64).encode(few).shape == (5, 8)


def test_nothing_to_learn_from():
    with pytest.raises(FewbitsError):
        fit_bundle(vectors(np.ones((9, 4), np.float32), None))


def test_texts_take_their_backbone_along():
    texts = Input("texts", ["a cat", "a dog", "a bank", "an arm"], None, "t.txt")
    bundle = fit_bundle(texts, n_bits=16)
    assert bundle.item_kind == "texts"
    assert bundle.backbone_fingerprint


def test_backbone_of_another_kind():
    images = Input("images", ["a.jpg", "b.jpg"], None, "photos")
    with pytest.raises(ArgumentError, match="takes texts, but photos holds images"):
        fit_bundle(images, backbone="wordllama-256")
