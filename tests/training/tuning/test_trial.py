"""Figures of one encoder."""

import numpy as np
import pytest

from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.index import FlatIndex
from fewbits.learners import LSH, AdditiveCodes
from fewbits.training.tuning import Configuration, _timing
from fewbits.training.tuning._parts import split
from fewbits.training.tuning._timing import seconds_alone
from fewbits.training.tuning._trial import Trial

X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)


class Clock:
    """Time that passes only while something is encoded."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


class Timed:
    """An encoder that takes as long as `seconds` say, call by call."""

    def __init__(self, clock, seconds, encoder=None):
        self.clock, self.seconds, self.encoder = clock, seconds, encoder
        self.sizes = []

    def encode(self, rows):
        if len(rows) == 1:
            self.clock.now += self.seconds[len(self.sizes) % len(self.seconds)]
            self.sizes.append(self.clock.now)
        return None if self.encoder is None else self.encoder.encode(rows)

    def query_scores(self, rows):
        return self.encoder.query_scores(rows)

    def offsets(self, codes):
        return self.encoder.offsets(codes)

    def corrections(self, rows, codes):
        return self.encoder.corrections(rows, codes)

    @property
    def n_bits(self):
        return self.encoder.n_bits


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(_timing, "time", made)
    return made


def test_encode_time_is_that_of_a_vector_alone(clock):
    trial = Trial(X[100:], None, X[:100], None, "recall", 5)
    encoder = Timed(clock, [1e-3], LSH(16, random_state=0).fit(X).encoder_)
    (found,) = trial.measure(encoder, [Configuration("lsh", 16)], 0.0)
    assert found.encode_us == pytest.approx(1000)


def test_neither_slow_calls_nor_slow_rounds_nor_a_lucky_one_count(clock):
    # Rounds of four calls: usual with delays, lucky, slow, usual, slow.
    seconds = [4, 9, 3, 9, 1, 3, 3, 3, 7, 7, 7, 7, 3, 4, 5, 4, 8, 8, 8, 8]
    assert seconds_alone([Timed(clock, seconds)], X[:4]) == [3]


def test_encoders_take_turns(clock):
    encoders = [Timed(clock, [seconds]) for seconds in (1.0, 2.0)]
    assert seconds_alone(encoders, X[:3]) == [1.0, 2.0]
    first, second = (each.sizes for each in encoders)
    assert max(first[:3]) < min(second[:3]) < max(second[:3]) < min(first[3:6])


def test_a_single_query_tells_nothing():
    X = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    encoder = LSH(8, random_state=0).fit(X).encoder_
    asked = np.array([0, 100, 101])
    trial = Trial(X, np.arange(20), X[:3], asked, "map", 1)
    with pytest.raises(ArgumentError, match="1 of 3 queries have a label that any of"):
        trial.measure(encoder, [Configuration("lsh", 8)], 0.0)


@pytest.mark.parametrize("how", [{}, {"rerank": "scores", "shortlist": 40}])
def test_equally_near_items_share_votes(how):
    """The class of most, not that of the rows that come first."""
    items = np.repeat([[1.0, 1.0], [-1.0, 1.0]], 20, axis=0).astype(np.float32)
    y = np.repeat(["first", "most", "first", "most"], [6, 14, 7, 13])
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    queries, truth = items[::20] * 2, np.array(["most", "most"])
    trial = Trial(items, y, queries, truth, "accuracy", 3)
    (found,) = trial.measure(encoder, [Configuration("lsh", 2, **how)], 0.0)
    assert found.quality == 1


def test_learning_base_and_queries_share_no_row():
    parts = split(X, None, 30, 0)
    rows = [parts.learn, parts.base, parts.choose, parts.report]
    assert sorted(np.concatenate(rows).tolist()) == list(range(300))
    trial = parts.trial(50, "recall", 5)
    learnt = {row.tobytes() for row in trial.learnt_from.X}
    assert not learnt & {row.tobytes() for row in trial.X}
    assert len(learnt) == len(trial.X) == 50


@pytest.mark.parametrize("quality", ["recall", "accuracy", "map"])
def test_vectors_of_each_precision_stand_beside_codes(quality):
    y = (X[:, 0] > 0).astype(int)
    trial = Trial(X[100:], y[100:], X[:100], y[:100], quality, 5)
    full, half, int8 = trial.floats()
    assert [each.name for each in (full, half, int8)] == ["float32", "float16", "int8"]
    assert [each.bytes_per_item for each in (full, half, int8)] == [32, 16, 16]
    distances = np.linalg.norm(X[:100, None] - X[None, 100:], axis=2)
    nearest = np.argsort(distances, axis=1)[:, :5]
    if quality == "recall":
        assert full.quality == 1
    if quality == "accuracy":
        votes = y[100:][nearest].mean(axis=1) > 0.5
        assert full.quality == np.mean(votes == y[:100])
    assert half.quality == pytest.approx(full.quality, abs=0.05)
    assert int8.quality == pytest.approx(full.quality, abs=0.1)
    assert full.query_us > 0


def test_corrections_are_applied_and_counted():
    """Recall is that of the search with `Encoder.corrections`, in two more bytes."""
    learner = AdditiveCodes(16, correction=True, random_state=0).fit(X)
    trial = Trial(X[100:], None, X[:100], None, "recall", 5)
    how = Configuration(
        "additive", 16, {"correction": True}, rerank="scores", shortlist=20
    )
    (found,) = trial.measure(learner.encoder_, [how], 0.0)
    encoder = learner.encoder_
    codes = encoder.encode(X[100:])
    ranked = FlatIndex(codes).search_reranked(
        encoder.encode(X[:100]),
        5,
        scores=encoder.query_scores(X[:100]),
        offsets=encoder.corrections(X[100:], codes),
        shortlist=20,
    )
    nearest = exact_neighbours(X[:100], X[100:], 5).ids
    assert found.quality == pytest.approx(search_recall(ranked.ids, nearest).value)
    assert found.memory_bytes == found.bytes_per_item == 4
