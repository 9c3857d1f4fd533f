import re
import weakref
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from fewbits.errors import (
    ArgumentError,
    DivergedError,
    FeatureError,
    InterruptedWarning,
)
from fewbits.evaluation import exact_neighbours, neighbour_recall
from fewbits.learners import (
    ITQ,
    LSH,
    FastNeighbourCodes,
    Hadamard,
    NeighbourCodes,
    SparseProjections,
    _neighbour_codes,
    _neighbour_training,
)
from fewbits.learners._fast_neighbour_codes import BlockHadamardMap
from fewbits.learners._linalg._adam import Adam
from fewbits.learners._neighbour_maps import (
    Frame,
    LinearMap,
    NetworkMap,
    SparseLinearMap,
    plain_frame,
    principal_frame,
    towards_tight,
)
from fewbits.learners._neighbour_training import (
    Batch,
    QueryRecall,
    Training,
    ValidationSplit,
    divergence,
    gained,
    neighbour_graph,
    neighbour_probabilities,
    precisions,
    smallest,
)
from fewbits.learners.fitting import on_progress
from tests.learners._made import made

# Whether a short training ends with such a bit is a matter of rounding.
pytestmark = pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")


def rows(n=300, d=12, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@contextmanager
def interrupted_after(n):
    """Interrupt an iteration."""

    def listener(done, total, objective):
        if done == n:
            raise KeyboardInterrupt

    with on_progress(listener):
        yield


def interrupted_step(n):
    """Return a step of Adam that is interrupted once, after it was made n times."""
    original, interrupted = Adam.step, []

    def step(self, gradients, rate):
        original(self, gradients, rate)
        if self.n_steps == n and not interrupted:
            interrupted.append(self)
            raise KeyboardInterrupt

    return step


def brute_nearest(X, row, k):
    distances = ((X - X[row]) ** 2).sum(axis=1)
    distances[row] = np.inf
    return np.argsort(distances)[:k]


class TestGraph:
    def test_finds_the_nearest_rows(self):
        X, anchors = rows(), np.array([3, 7, 299])
        graph = neighbour_graph(X, anchors, 5, perplexity=3)
        expected = [brute_nearest(X, row, 5) for row in anchors]
        np.testing.assert_array_equal(graph.ids, expected)

    @pytest.mark.parametrize(("n", "k"), [(7, 3), (40, 40), (500, 9), (1000, 100)])
    def test_smallest_numbers_of_rows(self, n, k):
        values = np.random.default_rng(0).normal(size=(5, n)).astype(np.float32)
        values[1] = np.round(values[1])  # ties
        ids, found = smallest(values, k)
        np.testing.assert_array_equal(found, np.sort(values, axis=1)[:, :k])
        np.testing.assert_array_equal(found, np.take_along_axis(values, ids, axis=1))
        assert all(len(set(row)) == k for row in ids)

    def test_has_no_more_neighbours_than_there_are_rows(self):
        graph = neighbour_graph(rows(4), np.arange(4), 300, perplexity=20)
        assert graph.ids.shape == (4, 3)
        assert np.isfinite(graph.precision).all()

    @pytest.mark.parametrize("perplexity", [2.0, 20.0, 80.0])
    def test_precision_gives_the_perplexity(self, perplexity):
        squared = np.sort(rows(50, 100) ** 2, axis=1)
        found = precisions(squared, perplexity)
        shares = np.exp(-(squared - squared[:, :1]) * found[:, None]).astype(float)
        shares /= shares.sum(axis=1, keepdims=True)
        entropy = -np.sum(shares * np.log(shares + 1e-30), axis=1)
        np.testing.assert_allclose(np.exp(entropy), perplexity, rtol=1e-3)

    def test_equal_distances_have_a_finite_precision(self):
        assert np.isfinite(precisions(np.zeros((2, 9), np.float32), 5.0)).all()

    def test_batches_hold_each_row_once_and_the_nearest_always(self):
        X = rows()
        graph = neighbour_graph(X, np.arange(300), 40, perplexity=5)
        batch = graph.draw(2, 20, 10, np.random.RandomState(0))
        assert len(np.unique(batch.rows)) == len(batch.rows)
        brought = [
            anchor
            for anchor in batch.rows[batch.anchors]
            if np.isin(graph.ids[anchor, :5], batch.rows).all()
        ]
        assert len(brought) >= 2
        assert len(batch.precision) == len(batch.anchors) <= len(batch.rows)


def nearest_by_signs(V, k, nearest):
    """Return the share of the nearest that signs find, ties by place."""
    bits, hits = V >= 0, 0
    for row, wanted in enumerate(nearest):
        apart = (bits != bits[row]).sum(axis=1)
        order = [j for j in np.argsort(apart, kind="stable")[: k + 1] if j != row]
        hits += len({*order[:k]} & {*wanted})
    return hits / (k * len(V))


def n_constant(learner, X):
    return np.sum(np.ptp(learner.transform(X), axis=0) == 0)


def batch_of(m, anchors):
    return Batch(np.arange(m), np.array(anchors), np.ones(len(anchors), np.float32))


class TestLoss:
    def test_shares_sum_to_one_without_the_row_itself(self):
        shares = neighbour_probabilities(rows(9), batch_of(9, [0, 4, 8]))
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
        np.testing.assert_array_equal(shares[[0, 1, 2], [0, 4, 8]], 0)

    def test_nearer_rows_have_larger_shares(self):
        X = rows(9)
        shares = neighbour_probabilities(X, batch_of(9, [4]))[0]
        np.testing.assert_array_equal(np.argsort(-shares)[:8], brute_nearest(X, 4, 8))

    def test_value_is_the_cross_entropy(self):
        H = np.sign(rows(6, 8))
        shares = neighbour_probabilities(rows(6, 3), batch_of(6, [1, 2]))
        value = divergence(H, shares, np.array([1, 2]), [8], np.log(np.float32([3])))
        terms = []
        for row, share in zip([1, 2], shares, strict=True):
            logits = 3 * (H @ H[row]) / 8
            logits[row] = -np.inf
            q = np.exp(logits) / np.exp(logits).sum()
            terms.append(-sum(share[j] * np.log(q[j]) for j in range(6) if j != row))
        assert value.value == pytest.approx(np.mean(terms), rel=1e-5)

    @pytest.mark.parametrize("lengths", [[8], [2, 5, 8]])
    def test_gradients_are_those_of_the_value(self, lengths):
        anchors = np.array([0, 3, 5])
        H = rows(7, 8)  # any numbers: the loss does not know that they are signs
        shares = neighbour_probabilities(rows(7, 3), batch_of(7, anchors))
        log_scale = np.linspace(0.5, 1, len(lengths)).astype(np.float32)

        def value(H, log_scale):
            return divergence(H, shares, anchors, lengths, log_scale).value

        found, step = divergence(H, shares, anchors, lengths, log_scale), 1e-2
        for place in np.ndindex(H.shape):
            change = np.zeros_like(H)
            change[place] = step
            slope = value(H + change, log_scale) - value(H - change, log_scale)
            assert found.grad_bits[place] == pytest.approx(slope / (2 * step), abs=2e-4)
        for i in range(len(lengths)):
            change = np.zeros_like(log_scale)
            change[i] = step
            slope = value(H, log_scale + change) - value(H, log_scale - change)
            assert found.grad_log_scale[i] == pytest.approx(
                slope / (2 * step), abs=2e-4
            )


def maps():
    W, c = rows(5, 4), rows(1, 4)[0]
    spread = np.float32([0.5, 2])
    network = NetworkMap(W[:2], c.copy(), spread, (5, 7), np.random.RandomState(0))
    network.outer += rows(7, 4, seed=1)
    return {
        "plane": LinearMap(W.copy(), c.copy()),
        "network": network,
        "rounds of blocks": BlockHadamardMap(5, 4, 2, 16, np.random.RandomState(0)),
        "rounds of signs": BlockHadamardMap(5, 36, 3, 1, np.random.RandomState(0)),
    }


@pytest.mark.parametrize("kind", maps())
class TestMaps:
    def test_gradients_are_those_of_the_scores(self, kind):
        found, V = maps()[kind], rows(9, 5, seed=2)
        slopes = rows(*found.scores(V).shape, seed=3)
        gradients, step = found.gradients(V, slopes), 1e-3
        for parameter, gradient in zip(found.parameters, gradients, strict=True):
            place = np.unravel_index(parameter.size // 2, parameter.shape)
            values = []
            for sign in (1, -1):
                parameter[place] += sign * step
                values.append(np.vdot(found.scores(V).astype(float), slopes))
                parameter[place] -= sign * step
            slope = (values[0] - values[1]) / (2 * step)
            assert gradient[place] == pytest.approx(slope, abs=2e-2)

    def test_encoder_is_the_same_map(self, kind):
        found, X = maps()[kind], rows(50, 7).astype(float)
        axes = rows(7, 5, seed=4).astype(float)
        if kind.startswith("rounds"):  # these take the features themselves
            X, axes = X[:, :5], None
        frame = Frame(rows(1, X.shape[1], seed=5)[0].astype(float), 2.0, axes)
        np.testing.assert_allclose(
            found.encoder(frame).project(X),
            found.scores(frame.rows(X, np.arange(len(X)))),
            atol=2e-3,
        )

    def test_what_is_done_before_batches_keeps_rotations(self, kind):
        found, V = maps()[kind], rows(9, 5)
        before = found.scores(V)
        found.prepare(0.0)
        np.testing.assert_allclose(found.scores(V), before, atol=1e-5)

    def test_goes_back_to_what_was_kept(self, kind):
        found, V = maps()[kind], rows(9, 5)
        before, kept = found.scores(V), found.kept()
        for parameter in found.parameters:
            parameter += 1
        found.restore(kept)
        np.testing.assert_array_equal(found.scores(V), before)


class TestNetwork:
    def test_starts_as_a_plane_of_the_first_inputs(self):
        W, c, V = rows(3, 4), rows(1, 4)[0], rows(50, 8, seed=1)
        network = NetworkMap(
            W, c, V[:, :3].std(axis=0), (8, 9), np.random.RandomState(0)
        )
        np.testing.assert_allclose(network.scores(V), V[:, :3] @ W + c, atol=1e-5)

    def test_a_step_moves_scores_by_less_than_they_vary(self):
        V = rows(400, 8) / np.sqrt(8)
        W, c, spread = rows(3, 4), rows(1, 4)[0], V[:, :3].std(axis=0)
        network = NetworkMap(W, c, spread, (8, 4096), np.random.RandomState(0))
        before = network.scores(V)
        Adam(network.parameters).step(network.gradients(V, np.ones_like(before)), 0.02)
        assert np.abs(network.scores(V) - before).max() < 1.5

    def test_is_deployed_as_wide_as_was_asked(self):
        found = maps()["network"]
        encoder = found.encoder(Frame(np.zeros(5), 1.0))
        assert [layer.shape for layer in encoder.weights] == [(5, 7), (7, 4)]


class TestSparsePlane:
    def test_drops_the_smallest_weights_in_time(self):
        W = rows(20, 10)
        plane = SparseLinearMap(W.copy(), np.zeros(10, np.float32), density=0.1)
        counts = []
        for progress in (0.05, 0.2, 0.4, 0.5, 1.0):
            plane.prepare(progress)
            counts.append(np.count_nonzero(plane.weights))
            assert plane.ready == (progress >= 0.5)
        assert counts[0] == 200
        assert counts[1] > counts[2] > counts[3] == counts[4] == 20
        largest = np.abs(W) >= np.sort(np.abs(W).ravel())[-20]
        np.testing.assert_array_equal(plane.weights, W * largest)

    def test_dropped_weights_stay_dropped(self):
        plane = SparseLinearMap(rows(20, 10), np.zeros(10, np.float32), density=0.1)
        plane.prepare(1.0)
        plane.weights += 1
        plane.settle()
        assert np.count_nonzero(plane.weights) == 20


def test_adam_finds_the_bottom_of_a_bowl():
    place = np.array([5, -3], np.float32)
    adam = Adam([place])
    for i in range(300):
        rate = 0.3 * (1 - i / 300)
        adam.step([2 * place * np.array([1, 100], np.float32)], rate)
    np.testing.assert_allclose(place, 0, atol=1e-2)


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data
    order = np.random.default_rng(0).permutation(len(X))
    return with_neighbours(X[order[200:]], X[order[:200]])


@pytest.fixture(scope="module")
def waves():
    """Make a surface that is folded so often that its neighbours are learnt soon.

    What a few iterations gain here is many times what the last bit of a product, or a
    seed, changes: no kernel of BLAS decides whether a test passes.
    """
    rng = np.random.default_rng(0)
    places, folds = rng.uniform(0, 1, (700, 2)), 4 * rng.normal(size=(2, 32))
    X = np.sin(places @ folds + rng.uniform(0, 6, 32)) / np.sqrt(np.arange(1, 33))
    return with_neighbours(X[100:], X[:100])


def with_neighbours(database, queries):
    return database, queries, exact_neighbours(queries, database, 10).ids


@pytest.fixture
def few_steps(monkeypatch):
    """Make iterations of five steps, where it does not matter what they lead to."""
    monkeypatch.setattr(_neighbour_training, "_BATCHES", 5)


every_map = pytest.mark.parametrize(
    "make",
    [
        NeighbourCodes,
        partial(NeighbourCodes, n_hidden=8),
        FastNeighbourCodes,
    ],
    ids=["plane", "network", "rounds"],
)


dense_maps = pytest.mark.parametrize(
    "make",
    [NeighbourCodes, partial(NeighbourCodes, n_hidden=8)],
    ids=["plane", "network"],
)


def recall(learner, data, n_bits=None):
    database, queries, nearest = data
    encoder = learner.fit(database).encoder_
    if n_bits is not None:
        encoder = encoder.prefix(n_bits)
    codes = encoder.encode(queries), encoder.encode(database)
    return neighbour_recall(*codes, nearest, 10).value


def was_trained(make, X, **settings):
    """Return whether the rate of training makes a difference."""
    settings = {"n_iter": 2, "random_state": 0, **settings}
    slow, fast = (
        made(make, 8, **settings, learning_rate=rate).fit(X).encoder_.fingerprint
        for rate in (0.01, 0.04)
    )
    return bool(slow != fast)


#: What training leads to, whatever the held-out ones of few rows say of it.
SOON = {"n_iter": 5, "random_state": 0, "validation": 0}
#: A third of what is gained on `waves`, or less, whichever the seed.
GAIN = 0.03


@contextmanager
def saturated_bits(n):
    """Training starts with n bits that are constant, and can never move again."""

    def patched(start):
        def saturated(self, split, rng):
            found = start(self, split, rng)
            found.bias[:n] = [1e4, -1e4] * (n // 2)
            if isinstance(found, SparseLinearMap):
                found.weights[:, :n] = 1e3  # the last ones to be dropped
            return found

        return saturated

    with pytest.MonkeyPatch.context() as patch:
        for each in (NeighbourCodes, FastNeighbourCodes):
            patch.setattr(each, "_start", patched(each._start))
        yield


class TestLearner:
    @pytest.mark.parametrize("n_bits", [16, 32])
    def test_keeps_more_neighbours_than_itq(self, waves, n_bits):
        itq = recall(ITQ(n_bits, random_state=0), waves)
        assert recall(made(NeighbourCodes, n_bits, **SOON), waves) > itq + GAIN

    @pytest.mark.parametrize(
        "learner",
        [
            made(NeighbourCodes, 32, **SOON, nested_bits=[8, 16]),
            made(NeighbourCodes, 32, **SOON, nested_bits=[8, 16], density=0.3),
            made(NeighbourCodes, 32, **SOON, nested_bits=[8, 16], n_hidden=64),
            made(FastNeighbourCodes, 32, **SOON, nested_bits=[8, 16]),
        ],
        ids=["dense", "sparse", "hidden", "fast"],
    )
    def test_prefixes_keep_neighbours_when_asked(self, waves, learner):
        alone = clone(learner).set_params(nested_bits=())
        assert recall(learner, waves, 8) > recall(alone, waves, 8) + GAIN
        codes = learner.encoder_.encode(waves[0])
        prefix = learner.encoder_.prefix(8).encode(waves[0])
        np.testing.assert_array_equal(prefix, codes[:, :1])

    def test_prefixes_keep_more_neighbours_than_itq_of_their_length(self, waves):
        ours = recall(made(NeighbourCodes, 32, **SOON, nested_bits=[8, 16]), waves, 16)
        assert ours > recall(ITQ(16, random_state=0), waves) + GAIN

    def test_starts_at_itq(self):
        V, rng = rows(200), np.random.RandomState(0)
        start = made(NeighbourCodes, 8)._start(ValidationSplit(V, V), rng)
        drawn = np.random.RandomState(0).randint(2**31 - 1)
        bits = ITQ(8, n_iter=25, random_state=drawn).fit_transform(V)
        assert ((start.scores(V) >= 0) == bits).mean() > 0.99

    def test_sparse_maps_keep_more_neighbours_than_sparse_projections(self, waves):
        ours = made(NeighbourCodes, 32, **SOON, density=0.2)
        theirs = SparseProjections(32, density=0.2, random_state=0)
        assert recall(ours, waves) > recall(theirs, waves) + GAIN
        assert ours.encoder_.density == pytest.approx(0.2, abs=1e-3)

    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("validation", [0, 0.05])
    def test_a_sparse_map_is_sparse_whenever_training_ends(self, waves, validation):
        options = {"density": 0.1, "validation": validation, "random_state": 0}
        stopped = made(NeighbourCodes, 16, **options, n_iter=24, tol=0.9).fit(waves[0])
        assert stopped.n_iter_ == 22  # it is sparse after half of the way
        ended = made(NeighbourCodes, 16, **options, n_iter=8)
        with interrupted_after(1), pytest.warns(InterruptedWarning):
            ended.fit(waves[0])
        for learner in (stopped, ended):
            assert learner.encoder_.density == pytest.approx(0.1, abs=0.01)

    @pytest.mark.usefixtures("few_steps")
    def test_an_interrupt_before_training_is_passed_on(
        self, waves, tmp_path, monkeypatch
    ):
        path = tmp_path / "fit.npz"
        options = {"n_iter": 2, "random_state": 0}

        def interrupt(name, done, *_, **__):
            if (name, done) == ("_Start", 2):
                raise KeyboardInterrupt

        with monkeypatch.context() as start:
            start.setattr("fewbits.learners._core._iterative.report", interrupt)
            with pytest.raises(KeyboardInterrupt):
                made(NeighbourCodes, 16, **options, checkpoint=path).fit(waves[0])
        resumed = made(NeighbourCodes, 16, **options, checkpoint=path).fit(waves[0])
        whole = made(NeighbourCodes, 16, **options).fit(waves[0])
        assert resumed.encoder_.fingerprint == whole.encoder_.fingerprint

    def test_bits_without_weights_are_told(self, digits):
        options = {"density": 0.005, "n_iter": 2, "learning_rate": 0.001}
        learner = made(NeighbourCodes, 64, **options, random_state=0).fit(digits[0])
        empty = 64 - len(np.unique(learner.encoder_.indptr)) + 1
        assert empty >= 64 - 0.005 * 64 * 64  # one weight for each of the others
        assert learner.n_dead_bits_ == n_constant(learner, digits[0]) >= empty

    def test_a_hidden_layer(self, waves):
        learner = made(NeighbourCodes, 16, **SOON, n_hidden=64)
        assert recall(learner, waves) > recall(ITQ(16, random_state=0), waves) + GAIN
        shapes = [layer.shape for layer in learner.encoder_.weights]
        assert shapes == [(32, 64), (64, 16)]

    @pytest.mark.parametrize("n_hidden", [32, 512])
    def test_a_wide_hidden_layer_starts_at_itq(self, waves, n_hidden):
        options = {"n_iter": 1, "validation": 0.3, "random_state": 0}
        learner = made(NeighbourCodes, 16, n_hidden=n_hidden, **options).fit(waves[0])
        start, first = learner.recalls_
        plane = made(NeighbourCodes, 16, **options).fit(waves[0]).recalls_[0]
        assert start == pytest.approx(plane, abs=0.1)
        assert first > start + GAIN

    def test_a_narrow_hidden_layer_starts_at_few_axes(self, waves):
        learner = made(NeighbourCodes, 32, **SOON, n_hidden=8)
        assert recall(learner, waves) > recall(LSH(8, random_state=0), waves) + GAIN

    @pytest.mark.parametrize("n_hidden", [1, 65_537])
    def test_refuses_hidden_layers_out_of_range(self, digits, n_hidden):
        with pytest.raises(ArgumentError, match="n_hidden must be"):
            made(NeighbourCodes, 16, n_hidden=n_hidden).fit(digits[0])

    def test_a_tight_plane_has_singular_values_that_are_alike(self, waves):
        def spread(tightness, n_bits):
            learner = made(NeighbourCodes, n_bits, tightness=tightness, **SOON)
            encoder = learner.fit(waves[0]).encoder_
            values = np.linalg.svd(encoder.weights, compute_uv=False)
            values = values[values > 1e-3 * values[0]]
            return values[0] / values[-1]

        for n_bits in (16, 64):
            assert spread(0.3, n_bits) < 0.7 * spread(0, n_bits)

    @pytest.mark.parametrize("shape", [(30, 8), (8, 30), (8, 8)])
    def test_towards_tight_leads_to_the_polar_factor(self, shape):
        start = rows(*shape)
        U, values, Vt = np.linalg.svd(start, full_matrices=False)
        W = (U * (1 + 0.1 * values / values[0])) @ Vt
        for _ in range(30):
            W = W + 0.5 * towards_tight(W)
        size = np.linalg.norm(W) / np.sqrt(min(shape))
        np.testing.assert_allclose(W / size, U @ Vt, atol=1e-5)

    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("options", [{"density": 0.5}, {"n_hidden": 8}])
    def test_only_a_dense_plane_is_pulled(self, waves, options):
        def learnt(tightness):
            options_of_both = {"n_iter": 2, "random_state": 0, "tightness": tightness}
            learner = made(NeighbourCodes, 16, **options_of_both, **options)
            return learner.fit(waves[0]).encoder_.fingerprint

        assert learnt(0.5) == learnt(0)

    def test_a_hidden_layer_is_not_sparse(self, digits):
        with pytest.raises(ArgumentError, match="n_hidden"):
            made(NeighbourCodes, 16, n_hidden=8, density=0.5).fit(digits[0])

    @every_map
    @pytest.mark.usefixtures("few_steps")
    def test_rows_that_differ_may_all_be_kept_aside(self, make):
        X = np.zeros((120, 5))
        X[7] = 1
        for seed in range(12):
            make(n_bits=4, n_iter=1, random_state=seed).fit(X)

    @every_map
    def test_constant_bits_are_told(self, make):
        learner, X = make(n_bits=33, n_iter=2, random_state=0), rows(90)
        told = r"(\d+) of 33 bits are constant on the training rows; a shorter code"
        with saturated_bits(4), pytest.warns(UserWarning, match=told) as caught:
            learner.fit(X)
        n_told = int(re.match(told, str(caught[0].message))[1])
        assert n_told == learner.n_dead_bits_ == n_constant(learner, X) >= 4

    @pytest.mark.parametrize(("level", "seed"), [(0, 0), (1, 0), (1, 7)])
    def test_constant_bits_are_those_of_the_encoder(self, level, seed):
        X = np.full((60, 7), level, np.float32)
        X[59] = np.arange(7)  # scores of all other rows are almost 0
        options = {"block_size": 1, "n_rounds": 3, "n_iter": 1}
        fast = made(FastNeighbourCodes, 16, **options, random_state=seed).fit(X)
        assert fast.n_dead_bits_ == n_constant(fast, X)

    @every_map
    def test_noise_does_not_end_training(self, make):
        learner = make(n_bits=16, tol=1e-3)
        noisy = [9, 8, 8.5, 7, 7.5, 6, 6.5, 5, 5.5, 5.4, 5.3, 5.6]  # three rise
        assert not any(learner._may_stop(noisy[:n]) for n in range(1, 13))
        assert learner._may_stop([*noisy, *[5.4, 5.3, 5.5, 5.2, 5.6] * 2])

    @every_map
    @pytest.mark.usefixtures("few_steps")
    def test_training_ends_where_nothing_is_gained(self, waves, make):
        learner = make(n_bits=16, n_iter=12, random_state=0, tol=0.9)
        assert learner.fit(waves[0]).n_iter_ == 10

    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("density", [1.0, 0.1])
    def test_an_interrupt_amid_an_iteration_is_resumed_as_if_it_had_not_been(
        self, digits, tmp_path, monkeypatch, density
    ):
        path = tmp_path / "fit.npz"
        options = {"density": density, "n_iter": 3, "random_state": 0}
        with monkeypatch.context() as amid:
            amid.setattr(Adam, "step", interrupted_step(12))
            with pytest.warns(InterruptedWarning):
                ended = made(NeighbourCodes, 16, **options, checkpoint=path).fit(
                    digits[0]
                )
        resumed = made(NeighbourCodes, 16, **options, checkpoint=path).fit(digits[0])
        whole = made(NeighbourCodes, 16, **options).fit(digits[0])
        assert ended.n_iter_ == 1
        assert resumed.encoder_.fingerprint == whole.encoder_.fingerprint

    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("density", [1.0, 0.1])
    def test_an_interrupt_amid_an_iteration_keeps_a_finished_map(
        self, digits, monkeypatch, density
    ):
        options = {"density": density, "n_iter": 3, "random_state": 0}
        with monkeypatch.context() as amid:
            amid.setattr(Adam, "step", interrupted_step(12))
            with pytest.warns(InterruptedWarning):
                ended = made(NeighbourCodes, 16, **options).fit(digits[0])
        assert ended.n_iter_ == 1
        if density < 1:
            assert ended.encoder_.density == pytest.approx(0.1, abs=0.01)
        else:
            with interrupted_after(1), pytest.warns(InterruptedWarning):
                earlier = made(NeighbourCodes, 16, **options).fit(digits[0])
            assert ended.encoder_.fingerprint == earlier.encoder_.fingerprint

    def test_drawn_rows_are_not_held_beside_those_of_the_frame(
        self, digits, monkeypatch
    ):
        seen, original = [], NeighbourCodes._frame

        def frame(self, X):
            seen.append(weakref.ref(X))
            return original(self, X)

        monkeypatch.setattr(NeighbourCodes, "_frame", frame)
        with on_progress(lambda *_: seen.append(seen[0]())):
            made(NeighbourCodes, 16, n_rows=500, n_iter=2).fit(digits[0])
        assert seen[1:3] == [None, None]

    def test_empty_bits_are_told_among_others_that_are_constant(self):
        learner = made(NeighbourCodes, 100, density=0.1, n_iter=2, random_state=0)
        told = r"of 100 bits are constant .*; (\d+) of them without a weight: raise"
        with saturated_bits(4), pytest.warns(UserWarning, match=told) as caught:
            learner.fit(rows(100, 7))
        # Of 70 weights, those of the saturated bits are 28.
        n_empty = int(re.search(told, str(caught[0].message))[1])
        assert 100 - 4 - 42 <= n_empty <= learner.n_dead_bits_ - 4

    @every_map
    @pytest.mark.parametrize(("factor", "size"), [(1e-40, "small"), (1e38, "large")])
    def test_features_beyond_float32_are_told(self, make, factor, size):
        X = rows().astype(np.float64)
        X = (X / np.abs(X).max() * 3 * factor).astype(np.float32)
        with pytest.raises(FeatureError, match=f"too {size} for float32"):
            make(n_bits=4, n_iter=1, random_state=0).fit(X)

    @dense_maps
    @pytest.mark.parametrize(
        ("n", "n_held"), [(99, 0), (100, 25), (300, 75), (900, 100), (1500, 150)]
    )
    def test_rows_held_out_are_not_learnt_from(self, make, n, n_held):
        X, numbers = rows(n), np.random.default_rng(1).permutation(n)
        split = make(n_bits=8)._split(X, numbers)[1]
        assert (len(split.rows), len(split.held_out)) == (n - n_held, n_held)
        assert len(np.unique([*split.rows, *split.held_out], axis=0)) == n

    @dense_maps
    @pytest.mark.parametrize(("shape", "few"), [((900, 12), True), ((1500, 12), False)])
    def test_rows_held_out_of_few_take_no_part_in_their_axes(self, make, shape, few):
        X, numbers = rows(*shape), np.arange(shape[0])
        frames = []
        for factor in (1, 3):
            Z = X.copy()
            Z[:90] *= factor
            frames.append(make(n_bits=8)._split(Z, numbers)[0])
        assert (frames[0].scale == frames[1].scale) == few

    @every_map
    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize(("n", "validation"), [(90, 0.1), (90, 0), (300, 0)])
    def test_too_few_rows_to_hold_any_out_give_the_start(self, make, n, validation):
        assert was_trained(make, rows(n), validation=validation) == (not validation)

    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("validation", [0.1, 0])
    def test_fast_maps_of_few_rows_stay_at_their_start(self, validation):
        trained = was_trained(FastNeighbourCodes, rows(990), validation=validation)
        assert trained == (not validation)

    def test_fast_maps_of_more_rows_hold_some_out(self):
        split = FastNeighbourCodes(8)._split(rows(1000), np.arange(1000))[1]
        assert len(split.held_out) == 100

    @dense_maps
    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("pays", [True, False])
    def test_training_on_few_rows_is_kept_on_a_gain(self, make, monkeypatch, pays):
        monkeypatch.setattr(_neighbour_training, "gained", lambda *_: pays)
        monkeypatch.setattr(ValidationSplit, "recall", lambda *_: 0.5)
        assert was_trained(make, rows(300)) == pays

    @pytest.mark.usefixtures("few_steps")
    @pytest.mark.parametrize("n", [90, 300])
    def test_the_start_of_few_rows_is_that_of_all(self, monkeypatch, n):
        monkeypatch.setattr(_neighbour_training, "gained", lambda *_: False)
        seen, original = [], _neighbour_codes.scaled_itq

        def scaled_itq(V, *others):
            seen.append(len(V))
            return original(V, *others)

        monkeypatch.setattr(_neighbour_codes, "scaled_itq", scaled_itq)
        NeighbourCodes(8, n_iter=1, random_state=0).fit(rows(n))
        assert seen[-1] == n

    def test_clear_gains_on_few_rows_are_kept(self, waves):
        learner = made(NeighbourCodes, 16, **{**SOON, "validation": 0.1})
        assert recall(learner, waves) > recall(ITQ(16, random_state=0), waves) + GAIN

    def test_few_rows_lose_nothing_on_those_that_come_later(self):
        """Training takes weak features, which all differ in, for what sets rows apart.

        It would lose half of what the start finds.
        """
        rng = np.random.default_rng(0)
        axes = np.linalg.qr(rng.normal(size=(300, 16)))[0]
        X = rng.normal(size=(2400, 16)) @ axes.T + 0.2 * rng.normal(size=(2400, 300))
        queries, base = X[400:500], X[500:]
        nearest = exact_neighbours(queries, base, 10).ids

        def found(learner):
            encoder = learner.fit(X[:400]).encoder_
            codes = encoder.encode(queries), encoder.encode(base)
            return neighbour_recall(*codes, nearest, 10).value

        itq = found(ITQ(16, random_state=0))
        trained = found(made(NeighbourCodes, 16, **SOON))
        chosen = found(made(NeighbourCodes, 16, **{**SOON, "validation": 0.1}))
        assert trained < itq - GAIN < chosen

    def test_nothing_kept_aside(self, waves):
        learner = made(NeighbourCodes, 16, **SOON)
        assert recall(learner, waves) > recall(LSH(16, random_state=0), waves) + GAIN
        assert learner.recalls_.shape == (0,)

    def test_many_rows_are_drawn_from(self, waves):
        learner = made(NeighbourCodes, 16, **SOON, n_rows=300)
        assert recall(learner, waves) > recall(LSH(16, random_state=0), waves) + GAIN

    def test_scale_of_the_features_has_no_effect(self, waves):
        X = waves[0].astype(np.float32)
        codes = [
            made(NeighbourCodes, 16, n_iter=2, random_state=0).fit(Z).encode(Z)
            for Z in (X, 1024 * X)
        ]
        np.testing.assert_array_equal(*codes)

    def test_doubled_rows(self, digits):
        X = np.repeat(digits[0][:50], 20, axis=0)
        codes = made(NeighbourCodes, 16, n_iter=2, random_state=0).fit(X).encode(X)
        assert len(np.unique(codes, axis=0)) > 10

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("nested_bits", [0]),
            ("nested_bits", 8),
            ("nested_bits", "8"),
            ("nested_bits", None),
            ("nested_bits", [65]),
            ("perplexity", 1),
            ("n_neighbours", 0),
            ("n_anchors", 0),
            ("n_rows", 1),
            ("n_iter", 0),
            ("learning_rate", 0),
            ("validation", 0.6),
        ],
    )
    def test_refuses_parameters_out_of_range(self, digits, name, value):
        with pytest.raises(ArgumentError, match=name):
            made(NeighbourCodes, 64, **{name: value}).fit(digits[0])


class TestFastLearner:
    @pytest.mark.parametrize("block_size", [16, 1])
    def test_learns_from_random_rotations(self, waves, block_size):
        ours = made(FastNeighbourCodes, 32, **SOON, block_size=block_size)
        theirs = Hadamard(32, random_state=0)
        assert recall(ours, waves) > recall(theirs, waves) + GAIN

    def test_reaches_itq(self, waves):
        ours = recall(made(FastNeighbourCodes, 16, **SOON), waves)
        assert ours > recall(ITQ(16, random_state=0), waves) + GAIN

    def test_codes_longer_than_the_features(self, waves):
        learner = made(FastNeighbourCodes, 100, **SOON)
        start = made(FastNeighbourCodes, 100, **SOON, learning_rate=1e-9)
        assert recall(learner, waves) > recall(start, waves) + GAIN
        assert learner.encoder_.weights.shape == (4, 2, 32, 16)
        assert recall(learner, waves, 100) > recall(learner, waves, 32) + GAIN

    def test_scale_of_the_features_has_no_effect(self, waves):
        X = waves[0].astype(np.float32)
        codes = [
            made(FastNeighbourCodes, 16, n_iter=2, random_state=0).fit(Z).encode(Z)
            for Z in (X, 1024 * X)
        ]
        np.testing.assert_array_equal(*codes)

    @pytest.mark.parametrize(("name", "value"), [("block_size", 8), ("n_rounds", 0)])
    def test_refuses_parameters_out_of_range(self, digits, name, value):
        with pytest.raises(ArgumentError, match=name):
            made(FastNeighbourCodes, 16, **{name: value}).fit(digits[0])

    def test_as_many_bits_as_features_are_rotations(self, waves):
        blocks = []
        for n_bits in (16, 32):
            learner = made(FastNeighbourCodes, n_bits, **SOON)
            weights = learner.fit(waves[0]).encoder_.weights
            blocks.append(weights.reshape(-1, 16, 16).astype(float))
        loose, tight = (np.linalg.svd(each, compute_uv=False) for each in blocks)
        spread = [np.mean(each[:, 0] / each[:, -1]) for each in (loose, tight)]
        assert spread[1] < 0.7 * spread[0]


class TestTraining:
    @pytest.mark.parametrize(
        ("comparisons", "k"), [(120, 1), (121, 2), (120 * 5, 5), (4000, 6)]
    )
    def test_rows_kept_aside_are_searched_among_themselves(
        self, monkeypatch, comparisons, k
    ):
        monkeypatch.setattr(_neighbour_training, "_COMPARISONS", comparisons)
        held_out = rows(120, seed=1)
        split = ValidationSplit(rows(30), held_out)
        nearest = [brute_nearest(held_out, row, k) for row in range(120)]
        np.testing.assert_array_equal(split.nearest, nearest)
        plane = LinearMap(np.eye(12, dtype=np.float32), np.zeros(12, np.float32))
        found = [nearest_by_signs(held_out[:, :n], k, nearest) for n in (6, 12)]
        assert split.recall(plane, [6, 12]) == pytest.approx(np.mean(found))
        assert split.recall(plane, [12]) == pytest.approx(found[1])

    def test_only_the_first_of_many_rows_kept_aside_are_queries(self, monkeypatch):
        monkeypatch.setattr(_neighbour_training, "_MOST_QUERIES", 7)
        split = ValidationSplit(rows(80), rows(200, seed=1))
        assert split.nearest.shape == (7, 10)

    def test_equal_rows_need_not_find_themselves(self):
        ids = np.array([[0, 3, 4], [3, 1, 4], [3, 4, 5]])
        np.testing.assert_array_equal(
            _neighbour_training.without_itself(ids), [[3, 4], [3, 4], [3, 4]]
        )

    @pytest.mark.parametrize(
        ("found", "best"), [([5, 6, 3], 0), ([1, 5, 3], 2), ([5, 4, 4.8], 2)]
    )
    def test_the_last_iteration_is_kept_or_the_start(self, monkeypatch, found, best):
        """The start where it finds more than the end of training, beyond its error."""
        monkeypatch.setattr(ValidationSplit, "few", False)
        recalls = iter(found)
        monkeypatch.setattr(ValidationSplit, "recall", lambda *_: next(recalls) / 10)
        X, plane = rows(60, 5), LinearMap(rows(5, 4), rows(1, 4)[0])
        training = Training(plane, ValidationSplit(X, X), [4], n_iter=2, rate=0.1)
        seen = [plane.kept()]
        graph = neighbour_graph(X, np.arange(60), 10, perplexity=5)
        for seed in range(2):
            training.iterate(graph, np.random.RandomState(seed))
            seen.append(plane.kept())
        assert training.recalls == [each / 10 for each in found]
        for own, kept in zip(training.best().arrays, seen[best], strict=True):
            np.testing.assert_array_equal(own, kept)
        assert not any((seen[best][0] == each[0]).all() for each in seen[:best])

    @pytest.mark.parametrize(
        ("by_codes", "by_scores", "expected"),
        [
            ([1, 0, 0, 0] * 25, [0, 0, 0, 0] * 25, True),
            ([1, 0, 0, 0] * 25, [0, 0, 0, -1] * 25, False),
            ([1, -1, 0, 0] * 25, [1, 1, 1, 1] * 25, False),
            ([1, 1, -1, -1] * 25 + [1], [0] * 101, False),  # within the error
            ([-1, 0, 0, 0] * 25, [1, 0, 0, 0] * 25, False),
            ([0] * 100, [1] * 100, False),
        ],
    )
    def test_gains_are_by_codes_and_no_loss_by_scores(
        self, by_codes, by_scores, expected
    ):
        before = QueryRecall(np.full(len(by_codes), 0.5), np.full(len(by_codes), 0.5))
        after = QueryRecall(0.5 + np.array(by_codes) / 2, 0.5 + np.array(by_scores) / 2)
        assert gained(before, after) == expected

    def test_few_rows_find_their_nearest_by_codes_and_by_scores(self):
        V = rows(200, seed=1)
        V = V[np.unique(V >= 0, axis=0, return_index=True)[1]]  # no ties by scores
        nearest = [brute_nearest(V, row, 2) for row in range(len(V))]
        split = ValidationSplit(rows(30), V)
        plane = LinearMap(np.eye(12, dtype=np.float32), np.zeros(12, np.float32))
        found = split.recall_of_few(plane, [12])
        assert found.by_codes.mean() == pytest.approx(nearest_by_signs(V, 2, nearest))
        differ = (V >= 0)[:, None] != (V >= 0)
        apart = (np.abs(V)[:, None] * differ).sum(axis=2)
        np.fill_diagonal(apart, np.inf)
        first = np.argsort(apart, axis=1)[:, :2]
        hits = [np.isin(*both).mean() for both in zip(first, nearest, strict=True)]
        np.testing.assert_allclose(found.by_scores, hits)

    def test_few_rows_count_alike_at_every_length(self):
        split = ValidationSplit(rows(30), rows(120, seed=1))
        plane = LinearMap(np.eye(12, dtype=np.float32), np.zeros(12, np.float32))
        both, *each = (split.recall_of_few(plane, n) for n in ([6, 12], [6], [12]))
        np.testing.assert_allclose(both.by_codes, (each[0][0] + each[1][0]) / 2)

    def test_states_are_copies_only_where_they_are_needed(self):
        plane = LinearMap(rows(5, 4), rows(1, 4)[0])
        split = ValidationSplit(rows(30, 5), rows(3, 5))
        training = Training(plane, split, [4], n_iter=2, rate=0.1)
        own, copied = training.state(copies=False)[0], training.state()[0]
        assert own is plane.weights
        assert not np.shares_memory(copied, plane.weights)


class TestFrame:
    def test_rows_have_a_mean_square_of_one(self):
        X = 100 + 7 * rows(200, 6)
        for make in (plain_frame, principal_frame):
            V = make(X).rows(X, np.arange(len(X)))
            np.testing.assert_allclose(V.mean(axis=0), 0, atol=1e-4)
            assert np.mean(np.sum(V**2, axis=1)) == pytest.approx(1, rel=1e-4)

    def test_equal_rows_are_refused(self):
        for make in (plain_frame, principal_frame):
            with pytest.raises(FeatureError, match="the same"):
                make(np.ones((5, 3)))


@pytest.mark.parametrize("make", [NeighbourCodes, FastNeighbourCodes])
def test_a_loss_that_is_not_finite_is_one_line(make, monkeypatch):
    monkeypatch.setattr(_neighbour_training, "_SCALE", np.inf)
    with pytest.raises(
        DivergedError, match=r"iteration 1: lower training\.learning_rate"
    ):
        make(8, n_iter=2, random_state=0).fit(rows())


@pytest.mark.parametrize("make", [NeighbourCodes, FastNeighbourCodes])
def test_a_rate_that_explodes_is_refused(make):
    for rate in (1e38, 101, 0):
        with pytest.raises(
            ArgumentError, match=r"training\.learning_rate must be a number above"
        ):
            make(8).set_params(training__learning_rate=rate).fit(rows())


@pytest.mark.parametrize("make", [NeighbourCodes, FastNeighbourCodes])
def test_codes_of_many_bits_gain_from_the_start(make):
    """Their agreements are large numbers: a scale for each bit would ask too much."""
    X = load_digits().data[:1100].astype(np.float32)
    learner = make(512, n_iter=2, random_state=0).fit(X)
    start, first, second = learner.recalls_
    assert min(first, second) > start - 0.01
    assert max(first, second) > start
    n_compared = (
        _neighbour_training._ANCHORS * (_neighbour_training._NEAR + 1)
        + _neighbour_training._FAR
    )
    assert learner.objective_[0] < np.log(n_compared)  # that of a blind guess
