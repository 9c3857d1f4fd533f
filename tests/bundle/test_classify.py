"""A bundle that knows class codes."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from fewbits.analysis.bits import bit_report
from fewbits.analysis.bounds import code_bound
from fewbits.bundle import (
    Bundle,
    Metadata,
    bound_of,
    class_answers,
    linear_answers,
    report_of,
    vote_answers,
    write_taxonomy,
)
from fewbits.classify import Calibration, Codebook
from fewbits.classify.decoders import Bounded, Orbgrand, Soft
from fewbits.codes import pack
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.ood import learn_rejection
from fewbits.training._methods import DEEP_METHODS, SUPERVISED

NAMES = ["ant", "bee", "cat"]
SIGNS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, -1, -1, -1, -1], [-1, -1, -1, -1, 1, 1]])
#: The code of an ant, of a bee with one bit wrong, and of nothing.
X = np.array([SIGNS[0], SIGNS[1], [1, -1, 1, -1, 1, -1]], np.float32)
X[1, 5] = 0.1


@pytest.fixture
def bundle():
    encoder = LinearEncoder(np.eye(6), np.zeros(6), zero_bit=1)
    book = Codebook(pack(SIGNS > 0), 6, NAMES)
    labels = np.repeat(NAMES, 4).tolist()
    bundle = Bundle(encoder, codebook=book, metadata=Metadata(method="llc"))
    return bundle.with_items(np.repeat(SIGNS, 4, axis=0), columns={"label": labels})


@pytest.mark.parametrize(
    ("options", "classes"),
    [
        ({}, ["ant", "bee", "ant"]),
        ({"decoder": "exact"}, ["ant", None, None]),
        ({"decoder": "bounded"}, ["ant", "bee", None]),
        ({"decoder": Bounded(radius=0)}, ["ant", None, None]),
        ({"decoder": "soft"}, ["ant", "bee", "ant"]),
        ({"decoder": Soft()}, ["ant", "bee", "ant"]),
        ({"decoder": Orbgrand(max_queries=1)}, ["ant", None, None]),
        ({"decoder": Orbgrand(max_queries=2)}, ["ant", "bee", None]),
        ({"decoder": Orbgrand(order="costs")}, ["ant", "bee", "ant"]),
    ],
)
def test_decoders(bundle, options, classes):
    assert [each["class"] for each in class_answers(bundle, X, **options)] == classes
    rows = bundle.classify(X, **options).rows
    named = bundle.classes.labels(rows, none="none").tolist()
    assert named == [name or "none" for name in classes]


def test_most_probable_classes(bundle):
    answers = class_answers(bundle, X, top=5)
    best = [each["classes"][0]["class"] for each in answers]
    assert best[:2] == ["ant", "bee"]
    for each in answers:
        shares = [found["probability"] for found in each["classes"]]
        assert len(shares) == 3
        assert sum(shares) == pytest.approx(1)
        assert shares == sorted(shares, reverse=True)


def test_votes(bundle):
    found = vote_answers(bundle, X[:2], "label", k=4)
    assert found == [{"class": "ant", "share": 1.0}, {"class": "bee", "share": 1.0}]


def test_votes_of_equally_near_items_are_shared():
    X = np.repeat([[1.0, 2.0], [9.0, -9.0]], [9, 1], axis=0)
    labels = ["first"] * 3 + ["many"] * 6 + ["other"]
    several = [[each == name for name in ("first", "many")] for each in labels]
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    columns = {"label": labels, "labels": several}
    plain = Bundle(encoder).with_items(X, columns=columns)
    for bundle in plain, replace(plain, metadata=Metadata(shortlist=10)):
        (found,) = vote_answers(bundle, X[:1], "label", k=3)
        assert found == {"class": "many", "share": pytest.approx(2 / 3)}
        (found,) = vote_answers(bundle, X[:1], "labels", k=3)
        assert found["labels"] == [1]
        scores = [each["score"] for each in found["ranked"]]
        assert scores == pytest.approx([2 / 3, 1 / 3])


def test_linear_models_on_bits(bundle):
    found = linear_answers(bundle, X[:2], "label")
    assert [each["class"] for each in found] == ["ant", "bee"]
    assert found[0]["score"] > 0
    both = [[1, i % 2] if i < 8 else [0, i % 2] for i in range(12)]
    signs = np.repeat(SIGNS, 4, axis=0)
    signs[:, 0] = np.where(np.arange(12) % 2, 1, -1)  # tells the second label
    several = bundle.with_items(signs, columns={"labels": both})
    asked = np.array([[1, 1, 1, 1, 1, 1], [-1, -1, -1, -1, 1, 1]])
    answers = linear_answers(several, asked, "labels")
    assert [sorted(each["labels"]) for each in answers] == [[0, 1], []]
    assert answers[0]["ranked"][0].keys() == {"label", "score"}


def test_votes_of_what_is_ranked_again_where_that_was_tuned(bundle):
    labels = np.repeat(["far", "near"], 4)
    X = np.repeat([[1.0, 2.0], [9.0, 9.0]], 4, axis=0)  # all of one code
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    plain = Bundle(encoder).with_items(
        X, ids=np.arange(70, 62, -1), columns={"label": labels}, keep_vectors="float16"
    )
    tuned = replace(plain, metadata=Metadata(shortlist=8))
    near = np.array([[8.0, 9.0]])
    alike = vote_answers(plain, near, "label", k=4)[0]  # all are equally near
    assert alike == {"class": "far", "share": 0.5}
    assert vote_answers(tuned, near, "label", k=4)[0]["class"] == "near"
    assert vote_answers(tuned, near, "label", k=100)[0]["share"] == 0.5


def test_codebook_survives_the_disk(bundle, tmp_path):
    bundle.save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    assert loaded.codebook.fingerprint == bundle.codebook.fingerprint
    assert class_answers(loaded, X) == class_answers(bundle, X)
    assert loaded.summary()["n_classes"] == 3
    assert loaded.with_items(X).codebook is loaded.codebook


def test_damaged_codebook_is_refused(bundle, tmp_path):
    bundle.save(tmp_path / "b")
    path = next((tmp_path / "b").glob("**/codebook*"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtefactError):
        Bundle.load(tmp_path / "b")


@pytest.fixture
def calibrated(bundle):
    return replace(bundle, calibration=Calibration(0.25, np.linspace(-0.1, 0.1, 6)))


def test_calibrated_probabilities_come_unasked(bundle, calibrated):
    assert "classes" not in class_answers(bundle, X)[0]
    sure = [each["classes"] for each in class_answers(bundle, X, top=3)]
    answers = class_answers(calibrated, X)
    assert [len(each["classes"]) for each in answers] == [3, 3, 3]
    for before, after in list(zip(sure, answers, strict=True))[:2]:
        assert after["classes"][0]["class"] == before[0]["class"]
        assert after["classes"][0]["probability"] < before[0]["probability"]
    assert "classes" not in class_answers(calibrated, X, top=0)[0]
    reckoning = replace(calibrated, calibration=Calibration(0.25, np.zeros(6), 0.9))
    unknown = class_answers(reckoning, X[2:], top=9)[0]["classes"]
    assert len(unknown) == 4
    assert unknown[0]["class"] is None


@pytest.mark.parametrize("calibrate", [False, True])
def test_the_class_is_the_most_probable_one(bundle, calibrate):
    rng = np.random.default_rng(0)
    shifts = rng.normal(size=6)
    known = replace(bundle, calibration=Calibration(0.5, shifts) if calibrate else None)
    scores = rng.normal(size=(200, 6)).astype(np.float32)
    answers = class_answers(known, scores, top=1)
    for each in answers:
        assert each["class"] == each["classes"][0]["class"]
    nearest = class_answers(known, scores, decoder="nearest")
    assert [each["class"] for each in nearest] != [each["class"] for each in answers]


def test_first_bits_classify_without_calibration(calibrated):
    short = calibrated.prefix(4)
    assert short.calibration is None
    assert short.classes.n_bits == 4
    answers = class_answers(short, X, decoder="nearest")
    assert [each["class"] for each in answers[:2]] == ["ant", "bee"]


def test_calibration_survives_the_disk(calibrated, tmp_path):
    calibrated.save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    assert class_answers(loaded, X) == class_answers(calibrated, X)
    assert loaded.summary()["calibrated"]
    replace(loaded, calibration=None).save(tmp_path / "b")  # as before there were any
    assert not Bundle.load(tmp_path / "b").summary()["calibrated"]
    assert not list((tmp_path / "b").glob("calibration*"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "is missing from the bundle"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "is damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"), "is damaged"),
    ],
)
def test_damaged_calibration_is_refused(calibrated, tmp_path, change, message):
    calibrated.save(tmp_path / "b")
    (path,) = (tmp_path / "b").glob("calibration*")
    change(path)
    with pytest.raises(ArtefactError, match=message) as raised:
        Bundle.load(tmp_path / "b")
    assert str(raised.value).count("\n") == 0


def test_calibration_of_another_length_is_refused(bundle):
    with pytest.raises(ArgumentError, match="of 3 bits, the encoder has 6"):
        replace(bundle, calibration=Calibration(1.0, np.zeros(3)))
    with pytest.raises(ArgumentError, match="without a codebook"):
        replace(bundle, codebook=None, calibration=Calibration(1.0, np.zeros(6)))


def test_codebook_of_another_length_is_refused(bundle):
    book = Codebook(np.array([[0], [128]], np.uint8), 3)
    with pytest.raises(ArgumentError, match="the codebook has 3 bits, the encoder 6"):
        Bundle(bundle.encoder, codebook=book)


def test_bound_and_taxonomy(bundle, tmp_path):
    figures = bound_of(bundle, "label").summary()
    assert (figures["min_inter"], figures["max_intra"]) == (4, 0)
    json.dumps(figures)
    write_taxonomy(bundle, tmp_path / "tree.html")
    page = (tmp_path / "tree.html").read_text("utf-8")
    assert all(name in page for name in NAMES)
    for part in ("The tree", "All pairs of classes", "The codebook", "Bit by bit"):
        assert f"<h2>{part}</h2>" in page
    assert page.count("<svg") >= 3
    assert "Agreement" not in page  # there is nothing to agree with


def test_figures_of_several_labels(bundle):
    Y = np.repeat([[1, 1, 0], [1, 0, 0], [0, 0, 1]], 4, axis=0)
    known = bundle.with_items(np.repeat(SIGNS, 4, axis=0), columns={"y": Y.tolist()})
    codes = known.collection.codes
    assert bound_of(known, "y").summary() == code_bound(codes, 6, Y).summary()
    assert bound_of(known, "y").sizes.tolist() == [8, 4, 4]
    report = report_of(known, "y")
    assert (report.within.n_pairs, report.between.n_pairs) == (34, 32)
    assert report.summary() == bit_report(codes, 6, Y).summary()


def test_lists_that_are_no_labels(bundle):
    columns = {"tags": [["a"], ["a", "b"]] * 6, "words": [["a", "b"]] * 12}
    known = bundle.with_items(np.repeat(SIGNS, 4, axis=0), columns=columns)
    for ask in (bound_of, report_of):
        with pytest.raises(ArgumentError, match="some rows have several labels"):
            ask(known, "tags")
        with pytest.raises(ArgumentError, match="must hold 0 and 1 only, got 'a'"):
            ask(known, "words")
        with pytest.raises(ArgumentError, match="no column 'kind'"):
            ask(known, "kind")


def test_bundle_without_classes(bundle, tmp_path):
    plain = Bundle(bundle.encoder)
    for ask in (
        lambda: plain.classify(X),
        lambda: class_answers(plain, X),
        lambda: write_taxonomy(plain, tmp_path / "tree.html"),
    ):
        with pytest.raises(ArgumentError, match="--method llc"):
            ask()
    with pytest.raises(ArgumentError, match="holds no items"):
        vote_answers(plain, X, "label")
    with pytest.raises(ArgumentError, match="no decoder 'best'; known are exact"):
        bundle.classify(X, decoder="best")


def rejecting(bundle, n_each=20):
    """Return the bundle with a rejection that was learnt from items of the classes."""
    rng = np.random.default_rng(0)
    items = np.repeat(SIGNS, n_each, axis=0) + rng.normal(0, 0.1, (3 * n_each, 6))
    return replace(bundle, rejection=learn_rejection(items, np.repeat(NAMES, n_each)))


def test_unknown_items_are_rejected_by_any_decoder(bundle, tmp_path):
    known = rejecting(bundle)
    known.save(tmp_path / "b")
    held = known.rejection.threshold(max_false_reject_rate=0.1)
    for one in (known, Bundle.load(tmp_path / "b"), known.prefix(5)):
        below = one.rejection.score(X) < held.threshold
        assert below.tolist() == [False, True, True]  # the bee is not like any
        for decoder in ("soft", "nearest"):
            all_ = one.classify(X, decoder=decoder).rows
            found = one.classify(X, decoder=decoder, max_false_reject_rate=0.1).rows
            assert found.tolist() == np.where(below, -1, all_).tolist()
    assert known.summary()["rejects"]
    assert not bundle.summary()["rejects"]


def test_what_cannot_be_promised_is_refused(bundle):
    with pytest.raises(ArgumentError, match="cannot reject items of unknown classes"):
        bundle.classify(X, max_false_reject_rate=0.1)
    known = rejecting(bundle)
    with pytest.raises(ArgumentError, match="at least 52 known classes, but 3 were"):
        known.classify(X, max_false_accept_rate=0.05)
    with pytest.raises(ArgumentError, match="at least 99 known items, but 60 were"):
        known.classify(X, max_false_reject_rate=0.01)
    encoder = LinearEncoder(np.eye(5, 6), np.zeros(6))
    with pytest.raises(ArgumentError, match="rejection is of 6 features, the encoder"):
        replace(known, encoder=encoder)


def test_what_rejection_needs_is_said(bundle):
    """Of a method without class codes, that it needs another; else what items."""
    with pytest.raises(ArgumentError, match="items of at least two classes, one each"):
        _ = bundle.rejecting
    with pytest.raises(ArgumentError, match="needs class codes") as refused:
        _ = replace(bundle, codebook=None, calibration=None).rejecting
    named = set(re.findall("[a-z-]+", str(refused.value))) & set(SUPERVISED)
    assert named == set(DEEP_METHODS)


def in_three_numbers(bundle):
    """Return the same class codes, with an encoder of fewer features."""
    weights = np.zeros((3, 6))
    weights[[0, 1, 2], [0, 2, 4]] = 1
    weights[[0, 1, 2], [1, 3, 5]] = 1
    encoder = LinearEncoder(weights, np.zeros(6), zero_bit=1)
    return Bundle(encoder, codebook=bundle.classes)


def test_another_modality_finds_the_items_of_this_one(bundle):
    asking = in_three_numbers(bundle).with_collection_of(bundle)
    found = asking.search_records(np.array([[1, -1, -1], [-1, -1, 1]]), 4)
    assert [{hit["columns"]["label"] for hit in hits} for hits in found] == [
        {"bee"},
        {"cat"},
    ]
    kept = bundle.with_items(X, keep_vectors="float32")
    assert asking.with_collection_of(kept).collection.vectors is None
    assert bundle.with_collection_of(kept).items is not None  # by its own encoder


@pytest.mark.parametrize(
    ("codebook", "told"),
    [
        (None, "where both have learnt those of the same classes"),
        (Codebook(pack(SIGNS > 0), 6, ["elk", "fox", "gnu"]), "of other classes"),
        (
            Codebook(pack(SIGNS < 0), 6, ["elk", "fox", "cat"]),
            "class 'cat' has another",
        ),
    ],
)
def test_codes_of_another_meaning_are_not_searched(bundle, codebook, told):
    asking = replace(in_three_numbers(bundle), codebook=codebook)
    with pytest.raises(ArgumentError, match=told):
        asking.with_collection_of(bundle)
    short = bundle.prefix(4)
    with pytest.raises(ArgumentError, match="codes of 6 bits, the other of 4"):
        in_three_numbers(bundle).with_collection_of(short)
