"""Every method gives a collection; every mistake is named before long work."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import fewbits
from fewbits import Collection
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.inputs import Input
from fewbits.learners import CBE
from fewbits.training import METHODS

X = np.random.default_rng(0).normal(size=(80, 10)).astype(np.float32)
LABELS = np.array(["a", "b", "c", "d"] * 20)


def vectors(values=X, labels=LABELS):
    return Input("vectors", values, labels, "x.npz")


same_bits = pytest.mark.filterwarnings("ignore:only .* bits are different")
# 64 bits of 80 rows: some may end constant, which a training's last bit decides.
constant_bits = pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")


@constant_bits
@same_bits
@pytest.mark.parametrize("method", METHODS)
def test_every_method(method):
    settings = {"density": 0.5} if method == "sp" else {}
    if "n_iter" in METHODS[method]().get_params():
        settings["n_iter"] = 3  # for the sake of time
    collection = fewbits.fit(vectors(), learner=method, parameters=settings)
    assert collection.encode(X).shape[0] == 80
    assert collection.summary()["method"] == method
    assert collection.summary()["trained_on"] == 80
    learner = METHODS[method](**settings).fit(X, LABELS)
    assert Collection.from_learner(learner, X, LABELS).facts.method == method


def test_a_chosen_number_is_told():
    told = {"supervision": "validated", "n_iter": 3}
    found = fewbits.fit(
        vectors(), learner="supervised-itq", bits=8, parameters=told
    ).summary()
    assert found["parameters"]["supervision"] == "validated"
    assert 0 <= found["chosen"]["supervision"] <= 1
    given = {"supervision": 0.25, "n_iter": 3}
    plain = fewbits.fit(vectors(), learner="supervised-itq", bits=8, parameters=given)
    assert "chosen" not in plain.summary()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "magic"}, "no method 'magic'; 'fewbits methods' lists"),
        ({"parameters": {"magic": 1}}, "itq has no parameter 'magic'"),
        ({"learner": "threshold", "bits": 8}, "chooses the number of bits itself"),
        ({"bits": 0}, "bits must be"),
        ({"backbone": "wordllama-256"}, "vectors need no backbone"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": True}, "random_state must be"),
        ({"parameters": {"random_state": "x"}}, "random_state must be"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ArgumentError, match=message):
        fewbits.fit(vectors(), **options)


@constant_bits
def test_additive_codes_of_few_bits_are_told():
    with pytest.warns(UserWarning, match="^8 bits for 10 features: additive codes"):
        fewbits.fit(vectors(), learner="additive", bits=8)
    fewbits.fit(vectors(), learner="additive", bits=10)
    given = {"correction": True}
    fewbits.fit(vectors(), learner="additive", bits=8, parameters=given)


def test_bytes_may_be_packed_codes():
    codes = np.packbits(X > 0, axis=1)
    with pytest.warns(UserWarning, match="for codes packed into bytes the method is"):
        fewbits.fit(codes, bits=2)
    fewbits.fit(codes, learner="packed")  # without a word


def test_labels_missing():
    with pytest.raises(ArgumentError, match=r"cca-itq learns from labels.*--label"):
        fewbits.fit(vectors(labels=None), learner="cca-itq")


def test_fewer_rows_than_bits_and_constant_columns():
    few = X[:5].copy()
    few[:, 3] = 1
    assert fewbits.fit(vectors(few, None), bits=64).encode(few).shape == (5, 8)


@pytest.mark.parametrize("kernel_map", [None, "chi2"])
def test_dead_bits_are_told_once(kernel_map):
    X = np.random.default_rng(0).random((200, 6)).astype(np.float32)
    X[:, 4:] = 1
    with pytest.warns(UserWarning, match="constant|share their code") as told:
        fewbits.fit(vectors(X, None), learner="threshold", kernel_map=kernel_map)
    messages = [str(each.message) for each in told]
    assert sum("constant on" in each for each in messages) == 1
    assert not any("never change" in each for each in messages)


def test_nothing_to_learn_from():
    with pytest.raises(FewbitsError):
        fewbits.fit(vectors(np.ones((9, 4), np.float32), None))


def test_texts_take_their_backbone_along():
    texts = Input("texts", ["a cat", "a dog", "a bank", "an arm"], None, "t.txt")
    collection = fewbits.fit(texts, bits=16)
    assert collection.kind == "texts"
    assert collection.backbone


def test_backbone_of_another_kind():
    images = Input("images", ["a.jpg", "b.jpg"], None, "photos")
    with pytest.raises(ArgumentError, match="takes texts, but photos holds images"):
        fewbits.fit(images, backbone="wordllama-256")


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.bool_])
@pytest.mark.parametrize("form", [np.asarray, sp.coo_array, sp.csr_matrix])
def test_several_labels_per_item(dtype, form):
    y = (X[:, :3] > 0).astype(np.uint8)
    expected = fewbits.fit(vectors(labels=y), learner="cca-itq", bits=3).encode(X)
    if form is not np.asarray and dtype is np.float16:
        dtype = np.float32  # SciPy has no sparse matrices of float16
    labels = form(y.astype(dtype))
    collection = fewbits.fit(vectors(labels=labels), learner="cca-itq", bits=3)
    np.testing.assert_array_equal(collection.encode(X), expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([["a", "b"]] * 80), "0 and 1 only, got dtype <U1"),
        (np.array([[1, None]] * 80), "0 and 1 only, got None"),
        (np.ones((80, 2), complex), "0 and 1 only, got dtype complex128"),
        (X, "0 and 1 only, got 0.1257"),
        (np.full((80, 2), np.nan), "0 and 1 only, got nan"),
        (sp.csr_array(np.full((80, 2), 7)), "0 and 1 only, got 7"),
        (sp.csr_array(np.ones((80, 1))), "needs at least 2 classes, .* 1 class"),
        (np.ones((80, 2, 2)), r"\(n,\) or \(n, n_labels\), got \(80, 2, 2\)"),
        ([None] * 80, "missing in 80 of 80 rows: got None in row 0"),
        (["a", "b", None, "a"] * 20, "missing in 20 of 80 rows: got None in row 2"),
        ([0, 1, 2, np.nan] * 20, "missing in 20 of 80 rows: got nan in row 3"),
    ],
)
def test_labels_that_are_none(labels, message):
    with pytest.raises(ArgumentError, match=message):
        fewbits.fit(vectors(labels=labels), learner="cca-itq", bits=3)


def test_zeros_that_a_sparse_matrix_stores_are_no_labels():
    stored = sp.csr_array(np.ones((80, 2)))
    stored.data[:] = np.eye(2)[np.arange(80) % 2].ravel()
    collection = fewbits.fit(vectors(labels=stored), learner="classemes")
    assert collection.encode(X).shape[0] == 80
    assert stored.nnz == 160  # the caller's matrix is left alone


def test_labels_that_are_all_different():
    source = vectors(labels=np.arange(80).astype(str))
    with pytest.raises(ArgumentError, match=r"labels of x.npz are all different"):
        fewbits.fit(source, learner="cca-itq")
    assert fewbits.fit(source, learner="itq").encoder.n_bits  # which uses no labels


def test_classes_of_single_items():
    labels = np.r_[np.arange(60), np.arange(20)].astype(str)
    with pytest.warns(UserWarning, match=r"x.npz has 60 classes for 80 items") as told:
        fewbits.fit(vectors(labels=labels), learner="cca-itq", bits=4)
    assert told[0].filename == __file__
    # More than half as many classes as items, and still two items of nearly each.
    pairs = np.r_[np.repeat(np.arange(39), 2), 40, 41].astype(str)
    fewbits.fit(vectors(labels=pairs), learner="cca-itq", bits=4)


def test_codes_that_collapse_are_told():
    values = np.repeat(X[:2], 6000, axis=0)  # a sample of them is looked at
    with pytest.warns(UserWarning, match="codes of training items") as told:
        fewbits.fit(vectors(values, None), learner="lsh", bits=32)
    assert "100% of the items share their code" in str(told[1].message)
    assert told[1].filename == __file__
    fewbits.fit(vectors(np.tile(X, (2, 1)), None), learner="lsh", bits=32)


@pytest.mark.parametrize("method", ["itq", "lsh", "threshold"])
def test_zeros_and_ones_that_collapse_to_two_codes_are_told(method):
    values = np.repeat(np.eye(2, 8, dtype=np.float32), 100, axis=0)
    with pytest.warns() as told:
        collection = fewbits.fit(vectors(values, None), learner=method)
    said = [str(each.message) for each in told]
    assert any("100% of the items share their code" in each for each in said)
    assert any("in one direction only" in each for each in said) == (method == "itq")
    assert len(np.unique(collection.encode(values), axis=0)) == 2


@same_bits
def test_more_bits_than_items_to_learn_from_are_told():
    with pytest.warns(UserWarning, match="96 bits are learnt from 80 rows"):
        fewbits.fit(vectors(), learner="dbc", bits=96)


@pytest.mark.parametrize(
    ("learner", "n_told"),
    [("itq", 1), (CBE(), 1), (CBE(learn=False), 0), ("lsh", 0), ("hadamard", 0)],
    ids=str,
)
def test_bits_of_few_rows_are_told_once_where_they_are_learnt(learner, n_told):
    for make in (fewbits.fit, partial(Collection.create, None)):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            make(X[:9], learner=learner, bits=16)
        said = [x for x in warned if "16 bits are learnt from 9 " in str(x.message)]
        assert len(said) == n_told


def test_settings_of_a_loss_and_a_control():
    pytest.importorskip("torch")
    settings = {
        "loss.gamma": 30,
        "loss.quantization": 0,
        "control": "posterior",
        "control.mode": "replace",
        "control.n_hidden": 16,
    }
    quick = {**settings, "training.max_epochs": 1, "checkpoint": None}
    collection = fewbits.fit(vectors(), learner="dch", bits=16, parameters=quick)
    assert settings.items() <= collection.facts.parameters.items()
    with pytest.raises(ArgumentError, match="gamma must be"):
        fewbits.fit(vectors(), learner="dch", parameters={"loss.gamma": 0})


def test_lists_of_numbers_are_told():
    settings = {"nested_bits": (8, 16), "n_iter": 1}
    collection = fewbits.fit(
        vectors(), learner="neighbours", bits=32, parameters=settings
    )
    told = collection.summary()["parameters"]
    assert tuple(told["nested_bits"]) == (8, 16)


def test_a_module_makes_no_collection():
    with pytest.raises(ArgumentError, match="a collection names its backbone"):
        fewbits.fit(vectors(), learner="csq", parameters={"network.backbone": object()})
