"""`compare`: parts that share no row, metrics of brute force, and what is chosen."""

import json
from dataclasses import asdict
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import average_precision_score

from fewbits import compare
from fewbits.errors import ArgumentError, FeatureError, InterruptedWarning
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.evaluation.statistics import mean_interval
from fewbits.index import FlatIndex
from fewbits.inputs import Input
from fewbits.learners import ITQ, LSH, AdditiveCodes

DIGITS, CLASSES = load_digits(return_X_y=True)
DIGITS = (DIGITS[:600] + np.arange(64) / 100).astype(np.float32)
LABELLED = Input("vectors", DIGITS, CLASSES[:600], "digits")


@pytest.fixture(scope="module")
def found():
    learners = {"a": "lsh", "b": ITQ(n_iter=5, random_state=0)}
    return compare(learners, [32, 64], LABELLED, shortlist=100)


def parts(n_fit=262, n_base=263):
    """Return the rows to learn from, the base, and the queries, as documented."""
    order = np.random.default_rng(0).permutation(600)
    rows = np.split(order, [n_fit, n_fit + n_base])
    return [DIGITS[np.sort(part)] for part in rows]


def test_no_row_is_in_two_parts(found):
    assert (found.n_fit, found.n_base, found.n_queries) == (262, 263, 75)
    again = compare("lsh", 16, LABELLED, bytes=2)
    assert (again.n_fit, again.n_base, again.n_queries) == (225, 225, 75)
    assert again.choice.recall.n == 75


def test_a_table_has_a_row_for_each_method_and_length(found):
    table = found.table()
    vectors = ["vectors", "float16 vectors", "int8 vectors"]
    assert table.column("method").to_pylist() == [*vectors, *"aaaaaaaabbbbbbbb"]
    plain = [row for row in found.scores if row.rerank is None]
    assert [row.n_bits for row in plain] == [None] * 3 + [32, 64, 32, 64]
    assert [row.rerank for row in found.scores[3:7]] == [
        *(None, "scores", "int8", "float16")
    ]
    assert table.to_pylist() == [asdict(row) for row in found.scores]


def test_metrics_are_those_of_brute_force(found):
    learnt, base, queries = parts()
    encoder = LSH(n_bits=64, random_state=0).fit(learnt).encoder_
    bits, asked = (encoder.project(X) > 0 for X in (base, queries))
    distances = (asked[:, None] != bits).sum(axis=2)
    floats = np.linalg.norm(queries[:, None] - base, axis=2)
    rows = [row for row in found.scores if (row.method, row.n_bits) == ("a", 64)]
    row = rows[0]
    own = np.linalg.norm(base[:, None] - base, axis=2)
    threshold = np.sort(own, axis=1)[:, 50].mean()  # the first is the row itself
    near = [
        average_precision_score(f < threshold, -d)
        for f, d in zip(floats, distances, strict=True)
        if (f < threshold).any()
    ]
    # scikit-learn takes tied items as one step; fewbits their expected order
    assert row.ann_map == pytest.approx(np.mean(near), abs=0.03)
    true = np.argsort(floats, axis=1)[:, :10]
    sums = encoder.project(queries) @ np.where(bits, 1, -1).T
    first = np.lexsort((np.arange(len(bits))[None].repeat(75, 0), distances))[:, :100]
    for rerank, far in (("scores", -sums), ("int8", floats), ("float16", floats)):
        order = np.argsort(np.take_along_axis(far, first, axis=1), axis=1)[:, :10]
        ids = np.take_along_axis(first, order, axis=1)
        shares = [len({*a} & {*b}) / 10 for a, b in zip(ids, true, strict=True)]
        row = next(row for row in rows if row.rerank == rerank)
        assert row.recall == pytest.approx(np.mean(shares), abs=0.005)
        interval = mean_interval(shares)
        assert row.recall_low == pytest.approx(interval.low, abs=0.005)
        assert row.recall_high == pytest.approx(interval.high, abs=0.005)
    assert [row.bytes_per_item for row in rows] == [8, 8, 8 + 64 + 16, 8 + 128]


def by_scores(found):
    return [row for row in found.scores if row.rerank == "scores"]


def test_additive_codes_are_ranked_by_what_they_stand_for():
    found = compare(["additive"], [64], LABELLED, shortlist=1000)
    learnt, base, queries = parts()
    encoder = AdditiveCodes(64, random_state=0).fit(learnt).encoder_
    sums = encoder.decode(encoder.encode(base)) + learnt.mean(axis=0)
    by_sums, by_floats = (
        np.linalg.norm(queries[:, None] - each, axis=2).argsort(axis=1)[:, :10]
        for each in (sums, base)
    )
    shared = [len({*a} & {*b}) for a, b in zip(by_sums, by_floats, strict=True)]
    recall = by_scores(found)[0].recall
    assert recall == pytest.approx(np.mean(shared) / 10, abs=0.005)


def test_a_parameter_of_one_method():
    found = compare(
        ["lsh", "additive"], 64, DIGITS, parameters={"additive.correction": True}
    )
    assert [row.bytes_per_item for row in by_scores(found)] == [8, 10]
    plain = compare([AdditiveCodes(64, correction=True, random_state=0)], 64, DIGITS)
    assert by_scores(plain)[0].recall == by_scores(found)[1].recall


def test_without_labels_there_are_no_metrics_by_labels():
    found = compare("lsh", 16, DIGITS)
    assert {(row.label_map, row.svm) for row in found.scores} == {(None, None)}
    with pytest.raises(ArgumentError, match="labels"):
        found.plot("label_map")
    with pytest.raises(ArgumentError, match="metric must be"):
        found.plot("speed")


LEARNT_FROM = np.random.default_rng(0).permutation(100)[0]  # as documented
RARE = np.eye(100, dtype=int)[LEARNT_FROM]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(100, int), "the labels of x are all the same: metrics by labels"),
        (RARE, "the labels of the base drawn from x are all the same: metrics by"),
        (np.arange(100), "the labels of x are all different: metrics by labels are"),
        (np.arange(100).astype(str), "the labels of x are all different"),
        (np.ones((100, 2), int), "the labels of x are all the same"),
        (np.eye(100, dtype=int), "no query drawn from x shares a label with the base"),
    ],
)
def test_labels_that_tell_nothing_leave_the_rest_measured(labels, message):
    source = Input("vectors", DIGITS[:100], labels, "x")
    with pytest.warns(UserWarning, match=message):
        found = compare("lsh", 16, source)
    assert {(row.label_map, row.svm) for row in found.scores} == {(None, None)}
    assert found.scores[0].recall == 1


def test_a_plot_names_every_method(found, tmp_path):
    found.plot("svm").save(tmp_path / "plot.svg")
    text = (tmp_path / "plot.svg").read_text()
    assert all(words in text for words in (">a<", ">b<", "64 bits: "))
    found.plot().save(tmp_path / "all.svg")
    text = (tmp_path / "all.svg").read_text()
    named = ("ANN mAP", "label mAP", "recall", "SVM", "seconds to learn", "to encode")
    assert all(words in text for words in named)
    assert text.count("translate(") == text.count(">a<") == 8
    with pytest.raises(ArgumentError, match=r"written to a \.svg file, got .*all.png"):
        found.plot().save(tmp_path / "all.png")
    assert not (tmp_path / "all.png").exists()


def test_what_cannot_be_learnt_is_said_and_the_rest_measured():
    found = compare(["pcah", "lsh"], [16, 128], DIGITS)
    assert list(found.refused) == ["pcah, 128 bits"]
    methods = [(row.method, row.n_bits) for row in by_scores(found)]
    assert methods == [("pcah", 16), ("lsh", 16), ("lsh", 128)]


def test_an_interrupt_leaves_what_was_measured():
    def interrupt(text):
        if text == "itq":
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="after 1 of 2 codes"):
        found = compare(["lsh", "itq"], 16, DIGITS, notes=interrupt)
    assert [row.method for row in by_scores(found)] == ["lsh"]
    early = patch.object(LSH, "fit", side_effect=KeyboardInterrupt)
    with early, pytest.raises(KeyboardInterrupt):
        compare("lsh", 16, DIGITS)


@pytest.mark.parametrize(
    ("methods", "bits", "options", "message"),
    [
        (["itq", ITQ()], 16, {}, "two methods are called itq"),
        ("dbc", 16, {}, "learns from labels"),
        ("lsh", [], {}, "at least one"),
        ("lsh", 16, {"n_fit": 1000}, "no base"),
        ("lsh", 16, {"k": 1000}, "too few for k=1000"),
        ("magic", 16, {}, "no method"),
        (ITQ, 16, {}, r"got the class ITQ: give a learner, such as ITQ\(\)"),
        ([ITQ], 16, {}, "got the class ITQ"),
        ({"a": ITQ}, 16, {}, "got the class ITQ"),
        (["lsh", PCA()], 16, {}, "a name or a learner of fewbits, got PCA"),
        ([None], 16, {}, "a name or a learner of fewbits, got None"),
        ("lsh", 16, {"recall": 1.1}, "above 0 and at most 1, got 1.1"),
        ("lsh", 16, {"bytes": 0}, "bytes must be at least 1"),
        ("lsh", 16, {"latency": 0}, "more than 0 milliseconds"),
        ("pcah", 128, {"bytes": 16}, "nothing compared suits the items: PCAH makes"),
        ("lsh", 16.0, {}, "a number of bits must be a whole number, got 16.0"),
        ("lsh", [16, 32.5], {}, "a number of bits must be a whole number, got 32.5"),
        ("lsh", "16", {}, "a number of bits must be a whole number, got '16'"),
    ],
)
def test_mistakes_are_one_line(methods, bits, options, message):
    with pytest.raises(ArgumentError, match=message):
        compare(methods, bits, DIGITS, **options)


@pytest.mark.parametrize("row", [0, 333])
def test_a_number_that_is_too_large_is_named_by_its_row(row):
    X = DIGITS.astype(np.float64)
    X[row, 2] = 1e100
    with pytest.raises(FeatureError, match=rf"got 1e\+100 in row {row}, column 2"):
        compare("lsh", 16, X)


def test_corrections_of_rows_count_and_are_taken():
    learners = {"plain": AdditiveCodes(32), "both": AdditiveCodes(32, correction=True)}
    # In all directions alike, where corrections bring most: .35 becomes .6.
    rows = np.random.default_rng(0).normal(size=(1000, 16)).astype(np.float32)
    plain, corrected = by_scores(compare(learners, [32], rows, shortlist=1000))
    assert (plain.bytes_per_item, corrected.bytes_per_item) == (4, 6)
    assert corrected.recall > plain.recall + 0.05


CLOUD = np.random.default_rng(1).normal(size=(1600, 24)).astype(np.float32)
CLOUD *= 0.9 ** np.arange(24, dtype=np.float32)
LENGTHS = [16, 64, 128]
PAIR = {"lsh": "lsh", "itq": ITQ(n_iter=3, random_state=0)}


@pytest.fixture(scope="module")
def rows():
    return compare(PAIR, LENGTHS, CLOUD, bytes=1000).scores


class TestChoice:
    """The cheapest row that meets a target, by queries that it was not chosen by."""

    def test_fewest_bytes_that_reach_a_recall(self, rows):
        for least in (0.3, 0.9):
            found = compare(PAIR, LENGTHS, CLOUD, recall=least)
            choice = found.choice
            sure = [row for row in rows if row.n_bits and row.recall_low >= least]
            fewest = min(row.bytes_per_item for row in sure)
            assert choice.reached
            assert choice.scores.bytes_per_item == fewest
            assert choice.scores.recall_low >= least
            assert choice.confirmed == (choice.recall.low >= least)
            assert choice.sentences[0] == str(choice).split("\n")[0]

    def test_highest_recall_within_bytes(self, rows):
        for most in (2, 40):
            choice = compare(PAIR, LENGTHS, CLOUD, bytes=most).choice
            fitting = [row for row in rows if row.n_bits and row.bytes_per_item <= most]
            best = max(row.recall for row in fitting)
            assert choice.scores.bytes_per_item <= most
            assert choice.scores.recall == pytest.approx(best, abs=6e-4)

    def test_the_promise_holds_for_new_rows(self):
        """The recall of new queries among new rows lies in nearly all intervals."""
        within = []
        for seed in range(8):
            new = np.random.default_rng(100 + seed).normal(size=(1600, 24))
            new = (new * 0.9 ** np.arange(24)).astype(np.float32)
            found = compare(
                "lsh", [32, 64, 128], CLOUD, recall=0.4, bytes=16, random_state=seed
            )
            choice, order = found.choice, np.random.default_rng(seed).permutation(1600)
            learnt = CLOUD[np.sort(order[: found.n_fit])]
            encoder = choice.learner.fit(learnt).encoder_
            base, queries = np.split(new, [found.n_base])
            again = {"shortlist": found.shortlist}
            if choice.scores.rerank == "scores":
                again["scores"] = encoder.query_scores(queries)
                again["offsets"] = encoder.offsets
            index = FlatIndex(encoder.encode(base))
            codes = encoder.encode(queries)
            if choice.scores.rerank is None:
                ids = index.search(codes, 10).ids
            else:
                ids = index.search_reranked(codes, 10, **again).ids
            true = exact_neighbours(queries, base, 10).ids
            recall = search_recall(ids, true).value
            within.append(choice.recall.low <= recall <= choice.recall.high)
            assert recall > 0.38
        assert sum(within) >= 6

    def test_out_of_reach_the_nearest_is_named(self):
        choice = compare("lsh", [16, 64], CLOUD, recall=0.9, bytes=8).choice
        assert not choice.reached
        assert not choice.confirmed
        assert choice.scores.described() == "lsh, 64 bits, re-ranked by scores"
        said = "nothing reaches a recall@10 of 0.9 with 8 bytes: the nearest is lsh, 64"
        assert choice.sentences[0].startswith(said)
        slow = compare("lsh", 64, CLOUD, latency=1e-6).choice
        assert not slow.reached
        assert "1e-06 ms a query: the nearest is lsh" in str(slow)

    def test_few_queries_are_told(self):
        found = compare("lsh", 256, CLOUD, recall=1.0, n_queries=10, shortlist=2000)
        assert not found.choice.reached
        assert "10 queries are too few to be sure of it" in str(found.choice)
        assert "vectors meet the target without any code" in str(found.choice)

    def test_vectors_that_are_as_small_are_to_be_kept(self):
        few = np.random.default_rng(0).normal(size=(800, 2)).astype(np.float32)
        choice = compare("lsh", [64, 128], few, recall=0.5).choice
        assert "float16 vectors meet the target without any code" in str(choice)

    def test_codes_save_memory_not_time_where_a_scan_is_as_fast(self):
        few = np.random.default_rng(0).normal(size=(120, 8)).astype(np.float32)
        choice = compare("lsh", 64, few, k=3, recall=0.1).choice
        assert "codes save memory here, not time" in str(choice)

    def test_longer_codes_than_the_choice_are_not_learnt(self):
        found = compare("lsh", None, CLOUD, recall=0.2)
        longest = max(row.n_bits for row in found.scores if row.n_bits)
        assert longest < 1024
        sizes = [r.bytes_per_item for r in found.scores if r.n_bits and not r.rerank]
        assert found.choice.scores.bytes_per_item == max(sizes)
        lengths = {row.n_bits for row in compare("lsh", None, CLOUD, bytes=12).scores}
        assert lengths == {None, 16, 32, 64, 96}

    def test_plain_values(self):
        learner = AdditiveCodes(64, correction=True, random_state=0)
        found = compare({"a": learner, "b": "lsh"}, 64, DIGITS, bytes=10)
        told = json.loads(json.dumps(found.as_dict()))["choice"]
        assert told["learner"] == {
            "method": "additive",
            "parameters": {"correction": True, "random_state": 0},
        }
        assert told["recall"]["low"] < told["recall"]["mean"]
        assert found.choice.learner.get_params() == learner.get_params()
        assert compare("lsh", 16, DIGITS).choice is None
