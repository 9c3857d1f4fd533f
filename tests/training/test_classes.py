"""What a collection learns about its classes beside the encoder."""

import numpy as np
import pytest

import fewbits
from fewbits.classify import Codebook, calibrate
from fewbits.codes import smallest_distance, unpack
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.learners.deep import LLC, CodebookConfig, TrainingConfig
from fewbits.training import class_codes_for
from tests.classify._probabilities import class_probabilities

QUICK = {
    "codebook_training.max_epochs": 5,
    "training.max_epochs": 10,
    "training.learning_rate": 0.01,
}

QUICK_DEEP = {"training.max_epochs": 1, "training.validation": 0.0}


def items(seed, n=600):
    """Return items whose classes overlap, as features of at least 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, n)
    X = np.abs(np.eye(6, 12)[y] * 2 + rng.normal(size=(n, 12)))
    return X.astype(np.float32), np.array(list("abcdef"))[y]


def fitted(labels=None, **options):
    X, y = items(0)
    source = Input("vectors", X, y if labels is None else labels, "x.npz")
    parameters = QUICK | options.pop("parameters", {})
    method = options.pop("method", "llc")
    if method != "llc":
        del parameters["codebook_training.max_epochs"]
    return fewbits.fit(source, learner=method, parameters=parameters, **options)


def calibration_error(confidences, right):
    """Return the expected calibration error, of 15 bins of equal width."""
    bins = np.ceil(confidences * 15)
    rows = [bins == number for number in np.unique(bins)]
    gaps = [abs(right[row].mean() - confidences[row].mean()) for row in rows]
    return np.average(gaps, weights=[row.sum() for row in rows])


@pytest.mark.parametrize("bias", [False, True])
def test_confidence_is_near_accuracy_on_new_items(bias):
    """Whatever the seed: how far off scores alone are depends on it."""
    collection = fitted(kernel_map="chi2", parameters={"network.bias": bias})
    X, y = items(1, 1000)
    scores = collection.encoder.project(X)
    p = class_probabilities(collection.codebook, scores, collection.calibration)
    right = collection.codebook.names[p.argmax(axis=1)] == y
    assert calibration_error(p.max(axis=1), right) < 0.08


def test_is_of_the_items_kept_aside():
    X, y = items(0)
    learner = LLC(
        codebook_training=CodebookConfig(max_epochs=5),
        training=TrainingConfig(max_epochs=10, learning_rate=0.01),
        random_state=0,
    ).fit(X, y)
    rows = learner.held_out_
    assert len(rows) == pytest.approx(60, abs=6)
    scores = learner.encoder_.project(X[rows])
    expected = calibrate(learner.codebook_of_classes(), scores, y[rows])
    found = fitted().calibration
    assert found.scale == expected.scale


@pytest.mark.filterwarnings("ignore:among the codes of training items")
def test_nothing_kept_aside_and_several_labels():
    assert fitted(parameters={"training.validation": 0.0}).calibration is None
    _, y = items(0)
    several = (np.array(list("abcdef")) == y[:, None]).astype(np.uint8)
    several[:, 0] = 1
    collection = fitted(labels=several)
    assert len(collection.codebook) == 6
    assert collection.calibration is collection.rejection is None
    assert collection.facts.several_labels
    assert 0 < collection.facts.label_threshold < 1
    collection = fitted(labels=several, parameters={"training.validation": 0.0})
    assert collection.facts.label_threshold is None
    assert collection.classify(items(1, 3)[0]).classes.tolist() == [None] * 3
    with pytest.raises(ArgumentError, match="is for items of one class each"):
        collection.classify(items(1, 3)[0], decoder="nearest")


@pytest.mark.parametrize("kernel_map", [None, "chi2"])
def test_codes_of_majorities(kernel_map):
    X, y = items(0)
    collection = fitted(method="hashnet", bits=16, kernel_map=kernel_map)
    codes, book = unpack(collection.encoder.encode(X), 16), collection.codebook
    for name, code in zip(book.names, unpack(book.codes, 16), strict=True):
        share = codes[y == name].mean(axis=0)
        sure = abs(share - 0.5) > 0.12  # whatever the tenth does that is held out
        assert (code == (share > 0.5))[sure].all()
    X, y = items(1, 500)
    assert (collection.classify(X).classes == y).mean() > 0.4  # chance: 0.17
    assert (collection.rejection.n_items, collection.rejection.n_classes) == (600, 6)


@pytest.mark.filterwarnings("ignore:among the codes of training items")
def test_codes_of_majorities_of_several_labels():
    _, y = items(0)
    several = (np.array(list("abcdefg")) == y[:, None]).astype(np.uint8)
    several[7, 6] = 1  # the only item of a label, held out or not
    collection = fitted(
        method="hashnet",
        bits=16,
        labels=several,
        parameters={"network.hidden": ()},
    )
    assert len(collection.codebook) == 7
    assert collection.facts.several_labels


def test_codes_of_centres():
    collection = fitted(method="csq", bits=16)
    # Of Hadamard's matrix: any two differ in half of the bits.
    assert smallest_distance(collection.codebook.codes) == 8
    X, y = items(1, 500)
    assert (collection.classify(X).classes == y).mean() > 0.4


def test_majorities_that_are_the_same_are_told():
    twins = np.repeat(items(0, 100)[0], 2, axis=0)  # each of both classes
    source = Input("vectors", twins, ["a", "b"] * 100, "x.npz")
    with pytest.warns(UserWarning, match="2 classes have 1 different codes"):
        fewbits.fit(source, learner="hashnet", bits=8, parameters=QUICK_DEEP)


@pytest.mark.parametrize(
    ("names", "classes", "found"),
    [
        ([3, 12], ["3", "12"], ["3", "12"]),
        (["3", "12"], [3, 12], [3, 12]),
        (["oak", "elm"], ["oak", "elm"], ["oak", "elm"]),
        (["1", "01"], [1, 2], None),
        ([1.0, 2.0], [1, 3], None),
        (["3", "oak"], [3, 12], None),
    ],
)
def test_codes_of_classes_are_found_by_numbers_and_by_their_text(names, classes, found):
    book = Codebook(np.array([[128], [0]], np.uint8), 1, names)
    items = Input("vectors", np.eye(len(classes)), np.array(classes), "x")
    if found is None:
        with pytest.raises(ArgumentError, match="no codes for"):
            class_codes_for(book, items)
        return
    alike = class_codes_for(book, items)
    assert alike.names.tolist() == found
    assert np.array_equal(alike.codes, book.codes)
