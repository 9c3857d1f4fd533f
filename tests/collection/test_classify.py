"""The class of items: by class codes, by votes, by linear models; what is unknown."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits import Collection
from fewbits.analysis.bounds import code_bound
from fewbits.classify import Calibration, Codebook
from fewbits.classify.decoders import Bounded, Orbgrand, Soft
from fewbits.codes import pack
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.ood import learn_rejection
from fewbits.training import DEEP_METHODS, METHODS

NAMES = ["ant", "bee", "cat"]
SIGNS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, -1, -1, -1, -1], [-1, -1, -1, -1, 1, 1]])
#: The code of an ant, of a bee with one bit wrong, and of nothing.
X = np.array([SIGNS[0], SIGNS[1], [1, -1, 1, -1, 1, -1]], np.float32)
X[1, 5] = 0.1
ENCODER = LinearEncoder(np.eye(6), np.zeros(6), zero_bit=1)
BOOK = Codebook(pack(SIGNS > 0), 6, NAMES)


def learnt(**parts):
    return Collection.from_parts(ENCODER, **{"codebook": BOOK, **parts})


def made(items=None, columns=None, form=None, ids=None, **parts):
    items = np.repeat(SIGNS, 4, axis=0) if items is None else items
    columns = columns or {"label": np.repeat(NAMES, 4).tolist()}
    return Collection.create(
        None,
        items,
        ids=ids,
        columns=columns,
        encoder=learnt(**parts),
        keep_vectors=form,
    )


# By class codes.


@pytest.mark.parametrize(
    ("decoder", "classes"),
    [
        (None, ["ant", "bee", "ant"]),
        ("exact", ["ant", None, None]),
        ("bounded", ["ant", "bee", None]),
        (Bounded(radius=0), ["ant", None, None]),
        ("nearest", ["ant", "bee", "ant"]),
        ("soft", ["ant", "bee", "ant"]),
        (Soft(), ["ant", "bee", "ant"]),
        (Orbgrand(max_queries=1), ["ant", None, None]),
        (Orbgrand(max_queries=2), ["ant", "bee", None]),
        (Orbgrand(order="costs"), ["ant", "bee", "ant"]),
    ],
)
def test_decoders(home, decoder, classes):
    answer = home(made()).classify(X, decoder=decoder)
    assert answer.classes.tolist() == classes
    assert len(answer) == 3
    records = answer.to_list()
    assert [record["class"] for record in records] == classes
    assert [record["distance"] for record in records] == answer.scores.tolist()
    assert [score == -1 for score in answer.scores] == [c is None for c in classes]
    assert answer.accepted is None
    assert json.loads(json.dumps(answer.to_dict())) == {"results": records}


def test_kinds_of_items(home):
    col = home(made(form="float32"))
    by_vector = col.classify(X).to_list()
    assert col.classify(vectors=X).to_list() == by_vector
    assert col.classify(X.tolist()).to_list() == by_vector
    by_code = col.classify(codes=ENCODER.encode(X)).to_list()
    assert by_code == col.classify(X, decoder="nearest").to_list()
    assert col.classify(ids=[0, 4]).classes.tolist() == ["ant", "bee"]
    plain = home(made())  # keeps no vectors: of its items only codes are known
    assert (
        plain.classify(ids=[0, 4]).to_list()
        == col.classify(ids=[0, 4], decoder="nearest").to_list()
    )
    for options in (
        {"codes": ENCODER.encode(X), "decoder": "soft"},
        {"codes": ENCODER.encode(X), "top": 3},
    ):
        with pytest.raises(ArgumentError, match="no scores or vectors"):
            col.classify(**options)
    with pytest.raises(ArgumentError, match="keeps none: give the items"):
        plain.classify(ids=[0], decoder="soft")


def test_most_probable_classes(home):
    best = home(made()).classify(X, top=5).to_list()
    assert [record["classes"][0]["class"] for record in best[:2]] == ["ant", "bee"]
    for record in best:
        shares = [entry["probability"] for entry in record["classes"]]
        assert len(shares) == 3
        assert sum(shares) == pytest.approx(1)
        assert shares == sorted(shares, reverse=True)


def test_calibrated_probabilities_come_unasked(home):
    col = home(made())
    known = home(made(calibration=Calibration(0.25, np.linspace(-0.1, 0.1, 6))))
    assert "classes" not in col.classify(X).to_list()[0]
    sure = [record["classes"] for record in col.classify(X, top=3).to_list()]
    answers = known.classify(X).to_list()
    assert [len(record["classes"]) for record in answers] == [3, 3, 3]
    for before, after in list(zip(sure, answers, strict=True))[:2]:
        assert after["classes"][0]["class"] == before[0]["class"]
        assert after["classes"][0]["probability"] < before[0]["probability"]
    assert "classes" not in known.classify(X, top=0).to_list()[0]
    assert known.summary()["calibrated"]
    reckoning = made(calibration=Calibration(0.25, np.zeros(6), 0.9))
    unknown = reckoning.classify(X[2:], top=9).to_list()[0]["classes"]
    assert len(unknown) == 4
    assert unknown[0]["class"] is None


@pytest.mark.parametrize("calibrate", [False, True])
@given(st.integers(0, 99))
def test_the_class_is_the_most_probable_one(calibrate, seed):
    rng = np.random.default_rng(seed)
    calibration = Calibration(0.5, rng.normal(size=6)) if calibrate else None
    scores = rng.normal(size=(40, 6)).astype(np.float32)
    answers = learnt(calibration=calibration).classify(scores, top=1).to_list()
    for record in answers:
        assert record["class"] == record["classes"][0]["class"]


def test_first_bits_classify_without_calibration():
    short = made(calibration=Calibration(0.25, np.zeros(6))).prefix(4)
    assert (short.calibration, short.codebook.n_bits) == (None, 4)
    answer = short.classify(X, decoder="nearest")
    assert answer.classes.tolist()[:2] == ["ant", "bee"]


def test_parts_of_other_lengths_are_refused():
    with pytest.raises(ArgumentError, match="of 3 bits, the encoder has 6"):
        learnt(calibration=Calibration(1.0, np.zeros(3)))
    with pytest.raises(ArgumentError, match="without a codebook"):
        learnt(codebook=None, calibration=Calibration(1.0, np.zeros(6)))
    book = Codebook(np.array([[0], [128]], np.uint8), 3)
    with pytest.raises(ArgumentError, match="the codebook has 3 bits, the encoder 6"):
        learnt(codebook=book)
    encoder = LinearEncoder(np.eye(5, 6), np.zeros(6))
    with pytest.raises(ArgumentError, match="rejection is of 6 features, the encoder"):
        Collection.from_parts(encoder, codebook=BOOK, rejection=rejection())


# Unknown classes.


def rejection(n_each=20):
    """Return a rejection that was learnt from items of the classes."""
    noise = np.random.default_rng(0).normal(0, 0.1, (3 * n_each, 6))
    items = np.repeat(SIGNS, n_each, axis=0) + noise
    return learn_rejection(items, np.repeat(NAMES, n_each))


def test_unknown_items_are_rejected_by_any_decoder(home):
    col = home(made(rejection=rejection()))
    limit = col.rejection.threshold(max_false_reject_rate=0.1)
    for one in (col, home(col), col.prefix(5)):
        below = one.rejection.score(X) < limit.threshold
        assert below.tolist() == [False, True, True]  # the bee is not like any
        for decoder in ("soft", "nearest"):
            every = one.classify(X, decoder=decoder).classes
            answer = one.classify(X, decoder=decoder, max_false_reject_rate=0.1)
            assert answer.classes.tolist() == np.where(below, None, every).tolist()
            assert answer.accepted.tolist() == (~below).tolist()
            assert answer.expected == limit._asdict()
            told = answer.to_dict()
            assert told["expected"] == answer.expected
            assert [x["accepted"] for x in told["results"]] == (~below).tolist()
    assert col.summary()["rejects"]
    assert not made().summary()["rejects"]


def test_what_cannot_be_promised_is_refused():
    with pytest.raises(ArgumentError, match="cannot reject items of unknown classes"):
        made().classify(X, max_false_reject_rate=0.1)
    col = made(rejection=rejection())
    with pytest.raises(ArgumentError, match="at least 52 known classes, but 3 were"):
        col.classify(X, max_false_accept_rate=0.05)
    with pytest.raises(ArgumentError, match="at least 99 known items, but 60 were"):
        col.classify(X, max_false_reject_rate=0.01)


def test_what_rejection_needs_is_said():
    """Of a method without class codes, that it needs another; else what items."""
    with pytest.raises(ArgumentError, match="items of at least two classes, one each"):
        made().classify(X, max_false_reject_rate=0.1)
    plain = Collection.create(None, X, encoder=ENCODER, columns={"label": NAMES})
    with pytest.raises(ArgumentError, match="needs class codes") as refused:
        plain.classify(X, max_false_reject_rate=0.1)
    known = {*METHODS, *DEEP_METHODS}
    named = {*re.findall("[a-z-]+", str(refused.value))} & known
    assert named == {*DEEP_METHODS}


# By items of the collection.


def test_votes(home):
    answer = home(made()).classify(X[:2], label="label", k=4)
    assert answer.to_list() == [
        {"class": "ant", "share": 1.0},
        {"class": "bee", "share": 1.0},
    ]
    assert answer.scores.tolist() == [1.0, 1.0]


def test_votes_of_equally_near_items_are_shared(home):
    items = np.repeat([[1.0, 2.0], [9.0, -9.0]], [9, 1], axis=0)
    labels = ["first"] * 3 + ["many"] * 6 + ["other"]
    several = [[label == name for name in ("first", "many")] for label in labels]
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    columns = {"label": labels, "labels": several}
    col = home(Collection.create(None, items, encoder=encoder, columns=columns))
    (record,) = col.classify(items[:1], label="label", k=3).to_list()
    assert record == {"class": "many", "share": pytest.approx(2 / 3)}
    (record,) = col.classify(items[:1], label="labels", k=3).to_list()
    assert record["labels"] == [1]
    scores = [entry["score"] for entry in record["ranked"]]
    assert scores == pytest.approx([2 / 3, 1 / 3])


def test_kept_vectors_rank_the_voters(home):
    labels = np.repeat(["far", "near"], 4).tolist()
    items = np.repeat([[1.0, 2.0], [9.0, 9.0]], 4, axis=0)  # all of one code
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    near = np.array([[8.0, 9.0]])
    for form, expected in ((None, "far"), ("float16", "near"), ("int8", "near")):
        col = home(
            Collection.create(
                None,
                items,
                ids=np.arange(70, 62, -1),
                encoder=encoder,
                columns={"label": labels},
                keep_vectors=form,
            )
        )
        (record,) = col.classify(near, label="label", k=4).to_list()
        assert record["class"] == expected
        assert record["share"] == (0.5 if form is None else 1.0)
        assert col.classify(near, label="label", k=100).scores.tolist() == [0.5]


RNG = np.random.default_rng(0)
ITEMS = RNG.normal(size=(50, 16)).astype(np.float32)
COLOURS = ["red", "green"] * 25


@pytest.mark.parametrize("form", [None, "float32"])
@pytest.mark.parametrize("k", [1, 5, 13, 49])
def test_items_have_no_vote_on_themselves(home, form, k):
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    col = home(
        Collection.create(
            None, ITEMS, encoder=encoder, columns={"kind": COLOURS}, keep_vectors=form
        )
    )
    rows = [3, 8, 40, 3]
    if form is None:
        apart = ((ITEMS[rows, None] > 0) != (ITEMS > 0)).sum(axis=2).astype(float)
    else:
        apart = np.linalg.norm(ITEMS[rows, None] - ITEMS, axis=2)
    apart[np.arange(4), rows] = np.inf
    voted = col.classify(ids=rows, label="kind", k=k).to_list()
    for distances, record in zip(apart, voted, strict=True):
        limit = np.sort(distances)[k - 1]
        votes = {}
        inner, tied = distances < limit, distances == limit
        for colour in ("red", "green"):
            mine = np.array(COLOURS) == colour
            left = (k - inner.sum()) / tied.sum()
            votes[colour] = (inner & mine).sum() + left * (tied & mine).sum()
        assert record["share"] == pytest.approx(max(votes.values()) / k)
        assert votes[record["class"]] == pytest.approx(max(votes.values()))


def test_linear_models_on_bits(home):
    answer = home(made()).classify(X[:2], label="label", linear=True)
    assert answer.classes.tolist() == ["ant", "bee"]
    assert answer.scores[0] > 0
    assert answer.to_list()[0].keys() == {"class", "score"}
    both = [[1, i % 2] if i < 8 else [0, i % 2] for i in range(12)]
    signs = np.repeat(SIGNS, 4, axis=0)
    signs[:, 0] = np.where(np.arange(12) % 2, 1, -1)  # tells the second label
    several = home(made(signs, {"labels": both}))
    items = np.array([[1, 1, 1, 1, 1, 1], [-1, -1, -1, -1, 1, 1]])
    answer = several.classify(items, label="labels", linear=True)
    assert [sorted(labels) for labels in answer.classes] == [[0, 1], []]
    assert answer.to_list()[0]["ranked"][0].keys() == {"label", "score"}


def test_items_with_several_labels_by_class_codes(home):
    facts = tools.with_facts(learnt(), several_labels=True)
    signs = np.repeat(SIGNS, 4, axis=0)
    col = home(Collection.create(None, signs, encoder=facts))
    (record,) = col.classify(X[:1], top=2).to_list()
    assert record.keys() == {"ranked"}
    assert record["ranked"][0]["label"] == "ant"
    for options in ({"decoder": "soft"}, {"max_false_reject_rate": 0.1}):
        with pytest.raises(ArgumentError, match="is for items of one class each"):
            col.classify(X, **options)
    known = tools.with_facts(learnt(), several_labels=True, label_threshold=0.5)
    answer = home(Collection.create(None, signs, encoder=known)).classify(X[:2])
    assert [record["labels"] for record in answer.to_list()] == answer.classes.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3}, "votes by label="),
        ({"linear": True}, "votes by label="),
        ({"label": "label", "decoder": "soft"}, "class codes"),
        ({"label": "label", "top": 3}, "class codes"),
        ({"label": "label", "max_false_reject_rate": 0.1}, "class codes"),
        ({"label": "label", "linear": True, "k": 3}, "k"),
        ({"label": "other"}, "no column 'other'"),
        ({"label": "label", "k": 0}, "k must be at least 1"),
        ({"label": "label", "k": 1.5}, "whole number"),
        ({"decoder": "best"}, "no decoder 'best'; known: exact"),
        ({"max_false_accept_rate": 7}, "."),
        ({"max_false_reject_rate": 0.1}, "cannot reject"),
        ({"top": -1}, "top must be at least 0"),
        ({"items": None}, "exactly one"),
        ({"items": "ant"}, "not one string"),
        ({"items": X[:, :3]}, "features"),
        ({"ids": [0]}, "exactly one"),
    ],
)
def test_mistakes_are_told_in_one_line(options, message):
    with pytest.raises(FewbitsError, match=message) as caught:
        made().classify(**{"items": X, **options})
    assert "\n" not in str(caught.value)


def test_lists_that_are_no_labels():
    columns = {"tags": [["a"], ["a", "b"]] * 6, "words": [["a", "b"]] * 12}
    col = made(columns=columns)
    for ask in (
        lambda name: col.classify(X, label=name),
        lambda name: col.classify(X, label=name, linear=True),
        col.labels,
    ):
        with pytest.raises(ArgumentError, match="some rows have several labels"):
            ask("tags")
        with pytest.raises(ArgumentError, match="must hold 0 and 1 only, got 'a'"):
            ask("words")
        with pytest.raises(ArgumentError, match="no column 'kind'"):
            ask("kind")


def test_collections_without_classes_or_rows():
    plain = Collection.from_parts(ENCODER)
    with pytest.raises(ArgumentError, match="--learner llc"):
        plain.classify(X)
    with pytest.raises(ArgumentError, match="holds no rows"):
        plain.classify(X, label="label")
    assert learnt().classify(X).classes.tolist() == ["ant", "bee", "ant"]


def test_labels_as_figures_are_made_of_them(home):
    labels = np.repeat([[1, 1, 0], [1, 0, 0], [0, 0, 1]], 4, axis=0)
    col = home(made(columns={"y": labels.tolist()}))
    np.testing.assert_array_equal(col.labels("y"), labels)
    assert len(code_bound(col.codes, 6, col.labels("y")).classes) == 3


# Codes of another modality.


def in_three_numbers(codebook=BOOK):
    """Return the same class codes, with an encoder of fewer features."""
    weights = np.zeros((3, 6))
    weights[[0, 1, 2], [0, 2, 4]] = 1
    weights[[0, 1, 2], [1, 3, 5]] = 1
    encoder = LinearEncoder(weights, np.zeros(6), zero_bit=1)
    return Collection.from_parts(encoder, codebook=codebook)


def test_another_modality_finds_the_items_of_this_one(home):
    col, other = home(made()), in_three_numbers()
    tools.check_same_codes(col, other)
    codes = other.encode(np.array([[1, -1, -1], [-1, -1, 1]]))
    hits = col.search(codes=codes, k=4)
    assert [{hit["label"] for hit in some} for some in hits] == [{"bee"}, {"cat"}]
    tools.check_same_codes(col, made(columns={"x": [1] * 12}))  # by its own encoder


@pytest.mark.parametrize(
    ("codebook", "message"),
    [
        (None, "where both have learnt those of the same classes"),
        (Codebook(pack(SIGNS > 0), 6, ["elk", "fox", "gnu"]), "of other classes"),
        (
            Codebook(pack(SIGNS < 0), 6, ["elk", "fox", "cat"]),
            "class 'cat' has another",
        ),
    ],
)
def test_codes_of_another_meaning_are_refused(codebook, message):
    with pytest.raises(ArgumentError, match=message):
        tools.check_same_codes(made(), in_three_numbers(codebook))
    with pytest.raises(ArgumentError, match="codes of 6 bits, the other of 4"):
        tools.check_same_codes(in_three_numbers(), made().prefix(4))


# Labels that are missing.


@pytest.mark.parametrize("form", [None, "float32"])
def test_items_without_a_label_have_no_vote(home, form):
    """Votes are those of a collection of the items that have one."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 6)).astype(np.float32)
    labels = rng.choice(["a", "b", "c", None], 40).astype(object)
    has_one = np.array([label is not None for label in labels])
    several = [None if x is None else [x == "a", x == "b"] for x in labels]
    several = [None if x is None else [int(y) for y in x] for x in several]
    all_of = {"label": labels.tolist(), "several": several}
    some_of = {
        name: [x for x in column if x is not None] for name, column in all_of.items()
    }
    col = home(made(items, all_of, form))
    few = home(made(items[has_one], some_of, form, ids=np.flatnonzero(has_one)))
    new = rng.normal(size=(9, 6)).astype(np.float32)
    for options in ({"k": 3}, {"k": 100}, {"linear": True}):
        for label in all_of:
            query = {"label": label, **options}
            expected = few.classify(new, **query).to_list()
            assert col.classify(new, **query).to_list() == expected
            ids = np.flatnonzero(has_one)
            expected = few.classify(ids=ids, **query).to_list()
            assert col.classify(ids=ids, **query).to_list() == expected
            # One without a label is like any other query.
            unlabelled = np.flatnonzero(~has_one)
            expected = few.classify(items[unlabelled], **query).to_list()
            both = np.concatenate([unlabelled, ids])
            answer = col.classify(ids=both, **query).to_list()
            assert answer[: len(unlabelled)] == expected
    col.update(None, ids=col.ids, columns={"label": [None] * 40})
    with pytest.raises(ArgumentError, match="no item has a label"):
        col.classify(new, label="label")


def test_a_blank_label_is_none(home):
    labels = ["a", "", "b", None, " ", "a"]
    items = np.random.default_rng(0).normal(size=(6, 6)).astype(np.float32)
    col = home(made(items, {"label": labels}))
    few = home(made(items[[0, 2, 5]], {"label": ["a", "b", "a"]}))
    answers = [c.classify(items, label="label", k=2).to_list() for c in (col, few)]
    assert answers[0] == answers[1]
