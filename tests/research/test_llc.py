"""The study of LLC, and parts that it shares with others."""

import numpy as np
import pytest

from fewbits.codes import unpack
from research.common import class_codes
from research.common.choices import best_of, measured
from research.common.class_codes import possible
from research.common.problems import load_problem, word_labels
from research.common.supervised import PredictedClass
from research.core.record import Record, Store
from research.core.runner import run, task
from research.studies.llc import codebooks, networks, ood, retrieval, taxonomy
from research.studies.llc.grid import PREFIX, for_claims
from research.studies.llc.trees import SYNSETS


def test_codes_of_the_predicted_class():
    X = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    y = np.repeat(["x", "y", "z"], 5)
    numbered = PredictedClass(numbered=True).fit(X, y)
    assert numbered.n_bits == 2
    numbers = unpack(numbered.encode(X), 2) @ [1, 2]
    assert np.array_equal(numbers, np.unique(y, return_inverse=True)[1])
    one_hot = np.repeat(np.eye(3, dtype=np.uint8), 5, axis=0)
    for labels in (y, one_hot):
        found = PredictedClass().fit(X, labels).encode(X)
        np.testing.assert_array_equal(unpack(found, 3), one_hot)


def test_few_classes_have_few_directions_between_them():
    assert not possible("SVD, as it is", 10, 10)
    assert possible("SVD", 9, 10)
    assert possible("LLC", 64, 10)
    assert not possible("LLC from CCA", 64, 10)


def test_what_is_trained_on_is_never_asked():
    problem = load_problem("digits", 3)
    assert not set(problem.query) & {*problem.train, *problem.base}
    counts = np.unique(problem.labels[problem.train], return_counts=True)[1]
    assert (len(problem.classes), *set(counts)) == (10, 60)


def test_labels_are_common_long_words():
    found = word_labels(["Cholera, acute", "acute fever", "of a leg", "fever"])
    assert found.shape == (4, 3)  # acute, fever, cholera
    assert found.tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 0]]


def _asked(best, store, values, more):
    def quality(value):
        one = task("p", {"value": value}, lambda: {"m": -abs(value - best)})
        found = yield from measured(one, store)
        return found and found["m"]

    found.append((yield from best_of(values, quality, more)))


found = []


@pytest.mark.parametrize(
    ("best", "tried"), [(2, [1, 2, 3]), (5, [1, 2, 3, 4, 5, 6]), (0, [1, 2, 3, 0])]
)
def test_the_search_goes_on_while_the_last_is_best(best, tried, tmp_path):
    store = Store(tmp_path / "a.parquet")
    store.put([])
    found.clear()
    run(_asked(best, store, (1, 2, 3), (0, 4, 5, 6)), store, report=lambda _: None)
    assert found == [best]
    assert [r.settings["value"] for r in store.read()] == tried


def _rules(seed, *names):
    rule = {"predicted_rate": 0.05, "unknown_accepted": 0.2}
    mixed = [{"met": share, "F1 (unknown)": share} for share in (0.1, 0.5, 0.9)]
    rules = {name: {**rule, "mixtures": mixed} for name in names}
    tuned = [{"tuned_on": 0.1, "met": 0.9, "F1 (unknown)": 0.4}]
    settings = {"data": "icd10", "bits": 14, "method": "held-out classes"}
    scores = {"max logit": {"auroc": 0.8}}
    metrics = {"rules": rules, "tuned": tuned, "scores": scores}
    return Record("ood", settings, seed, metrics)


def test_rules_meet_other_shares_than_a_threshold_was_tuned_on():
    both = "radius 0", "radius 1"
    found = for_claims([_rules(0, *both), _rules(1, *both)])
    rules = [each for each in found if each.settings["method"] == "radius 0"]
    met = {(r.settings.get("tuned_on"), r.settings.get("met")) for r in rules}
    assert len(rules) == 2 * (1 + 6)
    assert (0.1, 0.1) not in met
    scores = [r.metrics for r in found if r.settings["method"] == "max logit"]
    assert scores == [{"auroc": 0.8}] * 2


def test_a_rule_that_is_refused_with_a_seed_is_left_out():
    records = [_rules(0, "radius 0", "predicted, 0.05"), _rules(1, "radius 0")]
    methods = {each.settings["method"] for each in for_claims(records)}
    assert methods == {"radius 0", "tuned", "max logit"}


def test_the_classes_of_caltech_have_senses():
    assert len(SYNSETS) == 101  # with both kinds of faces
    assert SYNSETS["beaver"] == "beaver.n.07"


@pytest.fixture
def brief(monkeypatch):
    """Train for two epochs."""
    for module in (class_codes, codebooks, networks):
        for name in {"MAX_EPOCHS", "CODEBOOK_EPOCHS"} & set(vars(module)):
            monkeypatch.setattr(module, name, 2)
    quick = {"max_epochs": 2, "codebook_epochs": 2}
    monkeypatch.setattr(class_codes, "QUICK", quick)


def _at(method, bits=8, **more):
    return {"data": "digits", "bits": bits, "method": method, "seed": 0, **more}


@pytest.mark.parametrize("method", ["LLC from SVD", codebooks.CHEAP])
def test_codes_of_classes_are_got_in_other_ways(brief, method):
    found = codebooks.measure(_at(method))
    assert all(0 < found[by] <= 1 for by in ("nearest, expected", "soft"))


def test_nested_codes_are_decoded_at_each_of_their_lengths(brief):
    found = codebooks.measure(_at(codebooks.NESTED, 24))
    assert {name for name in found if name.startswith("at ")} == {
        f"at {n_bits}" for n_bits in (10, 14, 20, 24)
    }


@pytest.mark.parametrize("head", ["", codebooks.LINEAR_HEAD])
def test_a_prefix_of_nested_codes_stands_beside_codes_of_the_same_head(head):
    settings = {"data": "icd10", "bits": 24, "method": codebooks.NESTED + head}
    found = for_claims([Record("accuracy", settings, 0, {"at 14": {"exact": 0.5}})])
    assert {**settings, "bits": 14, "method": f"{PREFIX}{head}"} in [
        each.settings for each in found
    ]


@pytest.mark.parametrize("method", ["LLC", "GreedyHash"])
def test_codes_rank_behind_a_hidden_layer(method):
    learner = retrieval.make(method + class_codes.HIDDEN_LAYER, 8, 0, 0.01, 2)
    assert learner.get_params()["network"].hidden == (512,)
    assert learner.get_params()["training"].max_epochs == 2


def test_classes_are_grouped_by_codes_of_a_hidden_layer(brief):
    problem, name = load_problem("digits", 0), "learnt"
    found = [
        taxonomy.codebook(problem, 8, method, 0).codes
        for method in (name, name + class_codes.HIDDEN_LAYER)
    ]
    assert found[0].shape == found[1].shape == (10, 1)
    assert (found[0] != found[1]).any()


def test_a_network_is_trained_in_every_way(brief):
    found = networks.measure(_at("LLC"))
    assert {"phases", "classifier", *networks.TRAINED} < set(found)
    assert set(found["phases"]) == {"1", "2"}


def test_known_and_unknown_items_are_told_apart(brief):
    found = ood.measure(_at(ood.HELD_OUT, ood.N_BITS))
    held = found["rules"]["random features, max_false_reject_rate 0.05"]
    assert held["rejects_at_most"] <= 0.05
    assert "random features, max_false_accept_rate 0.05" not in found["rules"]
    assert {"radius 0", "radius 1"} < set(found["rules"])
    assert found["scores"]["random features"]["auroc"] > 0.6
    assert {"max logit", "soft cost", "nearness to class codes"} < set(found["scores"])
    assert len(found["tuned"]) == 9


@pytest.mark.parametrize("base", [(), ("digits",)])
@pytest.mark.parametrize(
    "method",
    [
        *("LLC", class_codes.REAL, "CCA-ITQ"),
        *(name + class_codes.HIDDEN_LAYER for name in ("LLC", "HashNet")),
    ],
)
def test_held_out_items_choose(brief, monkeypatch, method, base):
    monkeypatch.setattr(retrieval, "NEW_BASE", base)
    settings = {**_at(method), "rate": 0.01, "epochs": 2}
    if method != class_codes.REAL:
        assert 0 < retrieval.choose(settings)["map"] <= 1
    if method != "CCA-ITQ":
        assert 0 < retrieval.unseen(settings)["unseen"] <= 1
    assert 0 < retrieval.measure(_at(method), (0.01, 2))["map"] <= 1
