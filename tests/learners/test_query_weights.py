"""Weights of queries that are trained to rank shortlists."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from fewbits.codes import prefix
from fewbits.encoders import LinearEncoder
from fewbits.errors import InterruptedWarning
from fewbits.evaluation import exact_neighbours
from fewbits.index import FlatIndex
from fewbits.learners import AdditiveCodes, NeighbourCodes
from fewbits.learners._linalg import _query_weights
from fewbits.learners._linalg._query_weights import (
    Added,
    Estimates,
    QueryWeights,
    Shortlists,
    trained_query_weights,
)

SEED = 0
D, N_BITS = 24, 32


def drawn(n):
    """Return rows whose variance falls from axis to axis, and neighbours' does not."""
    rng = np.random.default_rng(SEED)
    spread = np.linspace(3, 0.2, D)
    middles = rng.normal(size=(n // 20, D)) * spread
    rows = np.repeat(middles, 20, axis=0) + 0.5 * rng.normal(size=(n // 20 * 20, D))
    return (rows - rows.mean(axis=0)).astype(np.float32)


V = drawn(4000)


@pytest.fixture(scope="module")
def start():
    rng = np.random.default_rng(1)
    return QueryWeights(
        rng.normal(size=(D, N_BITS)).astype(np.float32), np.zeros(N_BITS, np.float32)
    )


def codes_of(rows, start):
    return LinearEncoder(*start).encode(rows)


def encoding(start):
    return lambda rows: codes_of(rows, start)


def found_by(queries, start, index, weights):
    scores = queries @ weights.weights + weights.bias
    codes = codes_of(queries, start)
    return index.search_reranked(codes, 10, scores=scores, shortlist=100).ids


def test_more_neighbours_are_found_among_other_rows(start):
    # The last axes, along which rows differ least, count most.
    start = start._replace(weights=start.weights * np.geomspace(0.1, 2, D)[:, None])
    learnt, base, queries = V[::4], V[1::2], V[2::8]
    index = FlatIndex(codes_of(base, start))
    truth = exact_neighbours(queries, base, 10).ids
    rng = np.random.RandomState(0)
    trained = trained_query_weights(learnt, encoding(start), start, Added.NOTHING, rng)
    before, after = (
        (found_by(queries, start, index, each)[:, :, None] == truth[:, None]).sum()
        for each in (start, trained)
    )
    assert after > 1.1 * before, (before, after)


@pytest.mark.parametrize("added", Added)
@pytest.mark.parametrize("n_bits", [16, 32])  # fewer than features, more
def test_gradients_are_those_of_the_cross_entropy(start, added, n_bits):
    rows = V[:300] / np.float32(V.std())
    codes = prefix(codes_of(rows, start), n_bits)
    of = Shortlists(rows, codes, n_bits, 5, np.random.RandomState(0))
    first = QueryWeights(
        np.float32(0.2) * start.weights[:, :n_bits], start.bias[:n_bits]
    )
    training = Estimates(of, first, added)
    training.fit_factors()
    batch = np.arange(5)

    def loss():
        signs, asking = of.signs(of.rows[batch]).astype(float), of.asking[batch]
        scores = rows[asking].astype(float) @ training.weights + training.bias
        found = (
            -2
            * training.factors[of.rows[batch]]
            * np.einsum("qcb,qb->qc", signs, scores)
        )
        if added is Added.OF_CODES:
            found += np.square(signs @ training.weights.T).sum(axis=2)
        elif added is Added.OF_ROWS:
            found += of.squares[of.rows[batch]]
        heat = of.temperatures[batch]
        wanted = softmax(-of.distances[batch] / heat, axis=1)
        return -(wanted * log_softmax(-found / heat, axis=1)).sum()

    training.weights = training.weights.astype(np.float64)
    training.bias = training.bias.astype(np.float64)
    gradients = training.gradients(batch)
    for parameter, gradient in zip(
        (training.weights, training.bias), gradients, strict=True
    ):
        for place in [(0,) * parameter.ndim, (3,) * parameter.ndim]:
            kept, step = parameter[place], 1e-4
            parameter[place] = kept + step
            above = loss()
            parameter[place] = kept - step
            slope = (above - loss()) / (2 * step)
            parameter[place] = kept
            assert gradient[place] == pytest.approx(slope, rel=1e-2, abs=1e-3)


@pytest.fixture
def decided(monkeypatch):
    """Let held-out rows say that it pays, or that it does not."""

    def decide(pays):
        found = iter([np.full(50, 5 + pays), np.full(50, 5)])
        monkeypatch.setattr(_query_weights, "found_by", lambda *_: next(found))

    return decide


@pytest.mark.parametrize("pays", [0, -1])
def test_where_nothing_is_gained_there_are_none(start, decided, pays):
    decided(pays)
    rng = np.random.RandomState(0)
    found = trained_query_weights(V, encoding(start), start, Added.NOTHING, rng)
    assert found is None


def test_few_rows_leave_the_start(start):
    few = V[:999]
    found = trained_query_weights(
        few, encoding(start), start, Added.NOTHING, np.random.RandomState(0)
    )
    assert found is None


@pytest.mark.parametrize("size", [1e12])
def test_the_size_of_rows_does_not_matter(start, size, decided):
    rows = V[:1000]
    codes = codes_of(rows, start)[np.random.RandomState(0).permutation(len(rows))]

    def trained(factor):
        decided(1)
        own = QueryWeights(start.weights * np.float32(factor), start.bias)
        scaled, rng = rows * np.float32(factor), np.random.RandomState(0)
        return trained_query_weights(scaled, lambda _: codes, own, Added.OF_CODES, rng)

    usual, scaled = trained(1), trained(size)
    np.testing.assert_allclose(
        scaled.weights / size, usual.weights, rtol=0.05, atol=1e-3
    )


@pytest.mark.parametrize("added", Added)
def test_rows_that_are_there_many_times_do_no_harm(start, added):
    rows = np.repeat(V[:8], 200, axis=0)
    found = trained_query_weights(
        rows, encoding(start), start, added, np.random.RandomState(0)
    )
    assert found is None or all(np.isfinite(each).all() for each in found)


@pytest.mark.parametrize(
    "learner",
    [
        AdditiveCodes(16, random_state=0),
        AdditiveCodes(16, correction=True, random_state=0),
        NeighbourCodes(16, n_iter=2, random_state=0),
    ],
    ids=["additive", "corrections", "neighbours"],
)
def test_learners_train_them(learner, decided):
    decided(1)
    encoder = learner.fit(V).encoder_
    other = encoder.query_scores(V[:5]) - encoder.project(V[:5])
    assert "query_weights" in encoder.tensors()
    assert np.abs(other).max() > 0


@pytest.mark.parametrize("correction", [False, True])
def test_learners_do_without_them_where_nothing_is_gained(decided, correction):
    decided(0)
    learner = AdditiveCodes(16, correction=correction, random_state=0).fit(V)
    assert "query_weights" not in learner.encoder_.tensors()
    assert (learner.encoder_.correction_table is not None) == correction


def test_an_interrupt_keeps_the_map_without_them(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    usual = NeighbourCodes(16, n_iter=2, random_state=0).fit(V).encoder_
    name = "fewbits.learners._neighbour_codes.trained_query_weights"
    monkeypatch.setattr(name, interrupted)
    with pytest.warns(InterruptedWarning, match="before scores of queries"):
        encoder = NeighbourCodes(16, n_iter=2, random_state=0).fit(V).encoder_
    np.testing.assert_array_equal(encoder.weights, usual.weights)
    assert "query_weights" not in encoder.tensors()
