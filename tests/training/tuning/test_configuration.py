"""The file that tuning writes, and what a bundle makes of it."""

import json

import numpy as np
import pytest

from fewbits.bundle import Bundle, vote_answers
from fewbits.errors import ArtefactError
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.evaluation.classification import knn_accuracy
from fewbits.inputs import Input
from fewbits.training import evaluate_bundle, fit_bundle
from fewbits.training._methods import make_learner
from fewbits.training.tuning import Configuration
from fewbits.training.tuning._journal import Journal
from fewbits.training.tuning._variants import VARIANTS

CHOSEN = Configuration("sp", 32, {"density": 0.5}, 3, None, "vectors", 40)
X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "tuned.json"
    CHOSEN.save(found, {"recall": 0.5})
    return found


def test_what_is_saved_is_loaded(path):
    assert Configuration.load(path) == CHOSEN
    assert json.loads(path.read_text())["measured"] == {"recall": 0.5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "fewbits-configuration-2"}, "written as 'fewbits-configuration-2'"),
        ({"density": 1}, "unknown key 'density'"),
        ({"method": 3}, "method = 3"),
        ({"method": None}, "method = null"),
        ({"n_bits": True}, "n_bits = true"),
        ({"parameters": []}, r"parameters = \[\]"),
        ({"rerank": "magic"}, "re-ranks by 'magic'"),
        ({"shortlist": 0}, "shortlist of 0"),
        ({"shortlist": None}, "re-ranks, but names no shortlist"),
    ],
)
def test_another_file_is_refused(path, change, message):
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ArtefactError, match=message) as caught:
        Configuration.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{}", '"x"', "\xff"])
def test_no_configuration_at_all(path, content):
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ArtefactError, match="is not a configuration of 'fewbits tune'"):
        Configuration.load(path)


@pytest.mark.parametrize("line", ["", '{"key": [1, "", "alone"], "found": []}\n'])
def test_measurements_are_told_from_a_configuration(path, line):
    path.unlink()
    Journal(path, {"k": 10})
    path.write_text(path.read_text() + line)
    told = "it holds measurements; the configuration is the .json file beside it$"
    with pytest.raises(ArtefactError, match=told):
        Configuration.load(path)


def test_a_method_is_needed(path):
    content = json.loads(path.read_text())
    del content["method"]
    path.write_text(json.dumps(content))
    with pytest.raises(ArtefactError, match="names no method"):
        Configuration.load(path)


def test_what_is_given_comes_first():
    changed = CHOSEN.changed(n_bits=16, parameters={"n_iter": 5})
    assert changed.n_bits == 16
    assert changed.parameters == {"density": 0.5, "n_iter": 5}
    other = CHOSEN.changed(method="itq", random_state=0)
    assert (other.parameters, other.random_state, other.n_bits) == ({}, 0, 32)


def test_a_bundle_remembers_how_it_is_searched(tmp_path):
    source = Input("vectors", X, None, "X")
    bundle = fit_bundle(source, method="lsh", remember=CHOSEN.search_info())
    bundle.with_items(X).save(tmp_path / "b")
    kept = Bundle.load(tmp_path / "b")
    assert kept.shortlist == 40
    assert kept.items.vector_form == "float16"
    assert np.array_equal(
        kept.search_reranked(X[:9], 5).ids,
        kept.search_reranked(X[:9], 5, shortlist=40).ids,
    )
    assert kept.search_reranked(X[:9], 60).ids.shape == (9, 60)
    assert kept.search_records(X[:9], 5) == kept.search_records(X[:9], 5, rerank=True)
    plain = kept.search_records(X[:9], 5, rerank=False)
    assert [hit["distance"] for hit in plain[0]] == sorted(
        kept.search(X[:1], 5).distances[0].tolist()
    )
    assert plain != kept.search_records(X[:9], 5)


@pytest.mark.parametrize("keep", [None, "float16", "float32"])
@pytest.mark.parametrize("remember", [{}, CHOSEN.search_info()])
def test_a_report_has_what_the_bundle_ranks_again(keep, remember):
    queries, items = (
        Input("vectors", rows, np.arange(len(rows)) % 3, "X")
        for rows in (X[:60], X[60:])
    )
    bundle = fit_bundle(items, method="lsh", n_bits=16, remember=remember)
    bundle = bundle.with_items(X[60:], keep_vectors=keep)
    report = evaluate_bundle(bundle, queries, items)
    if not (keep or remember):
        assert report.comparison[-1].name == "16 bits"
        return
    *_, plain, row = report.comparison
    assert plain.name == "16 bits"
    width = np.dtype(keep or "float16").itemsize
    assert row.bytes_per_item == 2 + 8 * width
    assert row.name == f"16 bits, {'40 ' if remember else ''}re-ranked by vectors"
    found = bundle.search_reranked(X[:60], 10).ids
    truth = exact_neighbours(X[:60], X[60:], 10).ids
    assert row.recall == search_recall(found, truth).value
    if remember:
        votes = vote_answers(
            bundle.with_items(X[60:], columns={"y": items.labels}), X[:60], "y", k=10
        )
        right = [each["class"] for each in votes] == queries.labels
        assert report.knn_accuracy == pytest.approx(right.mean())
    else:
        codes, kept = bundle.encoder.encode(X[:60]), bundle.encoder.encode(X[60:])
        votes = knn_accuracy(kept, items.labels, codes, queries.labels, k=10)
        assert report.knn_accuracy == votes.value


def test_variants_have_names():
    def described(method, parameters):
        return Configuration(method, 64, parameters).described()

    diagonals = {"n_rounds": 3, "block_size": 1}
    assert described("fast-neighbours", diagonals) == (
        "fast-neighbours, 64 bits, diagonals"
    )
    assert described("cbe", {"learn": False}) == "cbe, 64 bits, random"
    assert described("neighbours", {"n_iter": 5}) == "neighbours, 64 bits, n_iter=5"
    for method, named in VARIANTS.items():
        for parameters in named.values():
            make_learner(method, 64, 0, parameters)._check_parameters()
