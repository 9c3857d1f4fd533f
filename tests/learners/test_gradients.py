"""Gradients that are written by hand, against differences of what they belong to.

Nothing that `fit` returns shows a wrong one: codes would merely be a little worse.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, log_softmax, softmax
from sklearn.linear_model import Ridge

from fewbits.encoders import LinearEncoder
from fewbits.learners import _picodes
from fewbits.learners._fast_neighbour_codes import BlockHadamardMap
from fewbits.learners._linalg._adam import Adam
from fewbits.learners._linalg._query_weights import (
    Added,
    Estimates,
    QueryWeights,
    Shortlists,
)
from fewbits.learners._neighbour_training import (
    Batch,
    Frame,
    LinearMap,
    divergence,
    neighbour_probabilities,
    precisions,
    smallest,
)
from fewbits.learners.deep import centres


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def slope(value, parameter, direction, step):
    """Return the derivative of `value`, which reads `parameter`, by differences."""
    kept = parameter.copy()
    parameter[...] = kept + step * direction
    above = value()
    parameter[...] = kept - step * direction
    below = value()
    parameter[...] = kept
    return (above - below) / (2 * step)


def test_adam():
    """A first step of the length of the rate; the bottom of a bowl in the end."""
    place = np.zeros(3)
    Adam([place]).step([np.array([1e3, -1e-3, 0.0])], 0.25)
    np.testing.assert_allclose(place, [-0.25, 0.25, 0], rtol=1e-3)
    target, place = np.array([3.0, -1.0, 0.5]), np.zeros(3)
    adam = Adam([place])
    for _ in range(1000):
        adam.step([place - target], 0.02)
    np.testing.assert_allclose(place, target, atol=1e-3)


def neighbour_map(kind):
    W, c = normal(5, 4), normal(4)
    if kind == "plane":
        return LinearMap(W, c)
    rng = np.random.RandomState(0)
    if kind == "rounds":
        return BlockHadamardMap(5, 4, 2, rng)
    return BlockHadamardMap(5, 36, 3, rng)


@pytest.mark.parametrize("kind", ["plane", "rounds", "more rounds"])
class TestNeighbourMaps:
    def test_gradients_are_those_of_the_scores(self, kind):
        map_, V = neighbour_map(kind), normal(9, 5, seed=2)
        by_scores = normal(*map_.scores(V).shape, seed=3)

        def value():
            return np.vdot(map_.scores(V).astype(float), by_scores)

        gradients = map_.gradients(V, by_scores)
        for parameter, gradient in zip(map_.parameters, gradients, strict=True):
            for i in (0, parameter.size // 2, parameter.size - 1):
                direction = np.zeros_like(parameter)
                direction.ravel()[i] = 1
                difference = slope(value, parameter, direction, 1e-3)
                assert gradient.ravel()[i] == pytest.approx(difference, abs=2e-2)

    def test_the_encoder_computes_the_same_scores(self, kind):
        map_, X, axes = neighbour_map(kind), normal(50, 7).astype(float), None
        if kind != "plane":  # these take the features themselves
            X = X[:, :5]
        else:
            axes = normal(7, 5, seed=4).astype(float)
        frame = Frame(normal(X.shape[1], seed=5).astype(float), 2.0, axes)
        scores = map_.scores(frame.rows(X, np.arange(len(X))))
        np.testing.assert_allclose(map_.encoder(frame).project(X), scores, atol=2e-3)


class TestDivergence:
    ANCHORS = np.array([0, 3, 5])

    def targets(self):
        batch = Batch(np.arange(7), self.ANCHORS, np.ones(3, np.float32))
        return neighbour_probabilities(normal(7, 3), batch)

    def test_targets_are_a_softmax_of_squared_distances(self):
        X = normal(7, 3).astype(float)
        logits = -((X[self.ANCHORS, None] - X) ** 2).sum(axis=2)
        logits[np.arange(3), self.ANCHORS] = -np.inf
        expected = softmax(logits, axis=1)
        np.testing.assert_allclose(self.targets(), expected, atol=1e-6)

    def test_value_is_the_cross_entropy(self):
        bits, targets = np.sign(normal(7, 8)), self.targets()
        logits = 3.0 * (bits[self.ANCHORS] @ bits.T) / 8
        logits[np.arange(3), self.ANCHORS] = -np.inf
        logarithms = log_softmax(logits, axis=1)
        logarithms[np.arange(3), self.ANCHORS] = 0
        loss = divergence(bits, targets, self.ANCHORS, [8], np.log(np.float32([3])))
        expected = -(targets * logarithms).sum() / 3
        assert loss[0] == pytest.approx(expected, rel=1e-5)

    @pytest.mark.parametrize("lengths", [[8], [2, 5, 8]])
    def test_gradients_are_those_of_the_value(self, lengths):
        bits = normal(7, 8)  # any numbers: the loss does not know that they are signs
        targets = self.targets()
        log_scale = np.linspace(0.5, 1, len(lengths)).astype(np.float32)

        def loss():
            return divergence(bits, targets, self.ANCHORS, lengths, log_scale)

        gradients = loss()[1:]
        for parameter, gradient in zip((bits, log_scale), gradients, strict=True):
            for place in np.ndindex(parameter.shape):
                direction = np.zeros_like(parameter)
                direction[place] = 1
                difference = slope(lambda: loss()[0], parameter, direction, 1e-2)
                assert gradient[place] == pytest.approx(difference, abs=2e-4)

    @pytest.mark.parametrize("perplexity", [2.0, 20.0, 80.0])
    def test_precisions_have_the_perplexity(self, perplexity):
        squared = np.sort(normal(50, 100) ** 2, axis=1)
        precision = precisions(squared, perplexity)
        shares = softmax(-squared.astype(float) * precision[:, None], axis=1)
        entropy = -np.sum(shares * np.log(shares + 1e-30), axis=1)
        np.testing.assert_allclose(np.exp(entropy), perplexity, rtol=1e-3)

    @pytest.mark.parametrize(("n", "k"), [(7, 3), (40, 40), (1000, 100)])
    def test_smallest_numbers_with_ties(self, n, k):
        values = np.round(normal(5, n), 1)
        ids, least = smallest(values, k)
        np.testing.assert_array_equal(least, np.sort(values, axis=1)[:, :k])
        np.testing.assert_array_equal(least, np.take_along_axis(values, ids, axis=1))
        assert all(len(set(row)) == k for row in ids)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_relaxed_picodes(balanced, temperature):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = rng.normal(size=(4, 5))[y] + rng.normal(size=(40, 5))
    problem = _picodes.Problem(
        X, y, np.eye(5), np.zeros(5), 4, 50.0, 10.0, seed=0, balanced=balanced
    )
    parameters = [rng.normal(size=shape) for shape in ((5, 6), 6, (4, 6), 4)]
    A, a0, W, b = parameters

    def value():
        """Eq. (4) with ``1 / (1 + exp(-2 a_c'x / T))`` for ``1[a_c'x > 0]``."""
        M = expit(2 / temperature * (X @ A + a0)) @ W.T + b
        own = y[:, None] == np.arange(4)
        weights = np.where(own, 2.0, 2 / 3) if balanced else 1.0  # of classes of N / 4
        hinges = weights * np.maximum(0, 1 - np.where(own, M, -M))
        return 0.5 * np.sum(W**2) + 50.0 / 40 * hinges.sum()

    whole = _picodes.gradients(problem, parameters, np.arange(40), temperature)
    parts = [
        _picodes.gradients(problem, parameters, np.arange(40)[i::4], temperature)
        for i in range(4)
    ]
    for i, parameter in enumerate(parameters):
        direction = rng.normal(size=parameter.shape)
        difference = slope(value, parameter, direction, 1e-6)
        assert np.vdot(whole[i], direction) == pytest.approx(difference, rel=1e-5)
        np.testing.assert_allclose(np.mean([p[i] for p in parts], axis=0), whole[i])


@pytest.mark.parametrize("added", Added)
@pytest.mark.parametrize("n_bits", [8, 16])  # fewer than features, more
def test_query_weights(added, n_bits):
    rows = normal(300, 12)
    start = QueryWeights(np.float32(0.2) * normal(12, n_bits, seed=1), normal(n_bits))
    codes = LinearEncoder(*start).encode(rows)
    lists = Shortlists(rows, codes, n_bits, 5, np.random.RandomState(0))
    training, batch = Estimates(lists, start, added), np.arange(5)
    training.fit_factors()
    training.weights = training.weights.astype(np.float64)
    training.bias = training.bias.astype(np.float64)
    shortlists, heat = lists.rows[batch], lists.temperatures[batch].astype(float)
    signs = lists.signs(shortlists).astype(float)
    targets = softmax(-lists.distances[batch] / heat, axis=1)

    def value():
        """Return the cross-entropy of distances of vectors with estimates of them."""
        scores = rows[lists.asking[batch]] @ training.weights + training.bias
        estimates = -2 * training.factors[shortlists]
        estimates = estimates * np.einsum("qcb,qb->qc", signs, scores)
        if added is Added.OF_CODES:
            estimates += np.square(signs @ training.weights.T).sum(axis=2)
        elif added is Added.OF_ROWS:
            estimates += np.square(rows[shortlists]).sum(axis=2)
        return -(targets * log_softmax(-estimates / heat, axis=1)).sum()

    gradients = training.gradients(batch)
    parameters = training.weights, training.bias
    for parameter, gradient in zip(parameters, gradients, strict=True):
        direction = normal(*parameter.shape, seed=2).astype(float)
        difference = slope(value, parameter, direction, 1e-5)
        assert np.vdot(gradient, direction) == pytest.approx(difference, rel=1e-3)


class TestPredictableCentres:
    def problem(self, d=12):
        y = np.arange(60) % 5
        X = normal(60, d).astype(float) + 2 * normal(5, d, seed=1).astype(float)[y]
        return X, np.eye(5)[y]

    def foreseen(self, X, Y):
        rng = np.random.RandomState(0)
        return centres._foresee(X, sp.csr_array(Y), rng)

    @pytest.mark.parametrize("d", [12, 200])
    def test_predictions_are_those_of_a_fit_without_the_item(self, d):
        X, Y = self.problem(d)
        C, rows = np.sign(normal(5, 7)).astype(float), np.array([0, 17, 59])
        scores = self.foreseen(X, Y).scores(rows, C)
        centred = X - X.mean(axis=0)
        unit = np.square(centred).sum() / min(len(X) - 1, d)  # the mean eigenvalue

        def without(i, penalty):
            rest = np.arange(len(X)) != i
            ridge = Ridge(alpha=penalty * unit).fit(X[rest], (Y @ C)[rest])
            return ridge.predict(X[[i]])[0] - Y.mean(axis=0) @ C

        errors = sorted(
            np.abs(scores - [without(i, penalty) for i in rows]).max()
            for penalty in 10.0 ** np.arange(-3, 2.25, 0.25)  # one of these is chosen
        )
        assert errors[0] < 1e-3 < 5e-3 < errors[1]

    def test_the_way_back_is_the_transpose(self):
        foreseen, rows = self.foreseen(*self.problem()), np.arange(5, 40)
        C, G = normal(5, 3), normal(35, 3, seed=1)
        forth = np.vdot(foreseen.scores(rows, C), G)
        assert forth == pytest.approx(np.vdot(C, foreseen.back(rows, G)), rel=1e-4)

    def test_gradient_of_the_cross_entropy(self):
        """Of several labels each counts the same; an item without one does not."""
        logits = normal(4, 3).astype(float)
        Y = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1.0]])
        shares = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
        errors = centres._errors(logits.copy(), sp.csr_array(Y))
        for place in np.ndindex(4, 3):
            direction = np.zeros_like(logits)
            direction[place] = 1
            difference = slope(
                lambda: -np.sum(log_softmax(logits, axis=1) * shares) / 4,
                logits,
                direction,
                1e-6,
            )
            assert errors[place] == pytest.approx(difference, abs=1e-7)
