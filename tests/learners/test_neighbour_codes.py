import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from fewbits.errors import (
    ArgumentError,
    DivergedError,
    FeatureError,
)
from fewbits.evaluation import exact_neighbours, neighbour_recall
from fewbits.learners import (
    ITQ,
    LSH,
    FastNeighbourCodes,
    Hadamard,
    NeighbourCodes,
    _neighbour_training,
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


def brute_nearest(X, row, k):
    distances = ((X - X[row]) ** 2).sum(axis=1)
    distances[row] = np.inf
    return np.argsort(distances)[:k]


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
        FastNeighbourCodes,
    ],
    ids=["plane", "rounds"],
)


def recall(learner, data, n_bits=None):
    """Return the recall of a learner, which is fitted to the data if it is not."""
    database, queries, nearest = data
    if not hasattr(learner, "encoder_"):
        learner.fit(database)
    encoder = learner.encoder_
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
SOON = {"n_iter": 2, "random_state": 0, "validation": 0}
#: Half of what is gained on `waves`, or less, whichever the seed.
GAIN = 0.03


class TestLearner:
    @pytest.mark.parametrize("make", [NeighbourCodes, FastNeighbourCodes])
    def test_prefixes_keep_neighbours_when_asked(self, waves, make):
        learner = made(make, 32, **SOON, nested_bits=[8, 16])
        alone = clone(learner).set_params(nested_bits=())
        assert recall(learner, waves, 8) > recall(alone, waves, 8) + GAIN
        itq = recall(ITQ(16, random_state=0), waves)
        assert recall(learner, waves, 16) > itq + GAIN
        codes = learner.encoder_.encode(waves[0])
        prefix = learner.encoder_.prefix(8).encode(waves[0])
        np.testing.assert_array_equal(prefix, codes[:, :1])

    @pytest.mark.usefixtures("few_steps")
    def test_an_interrupt_before_training_is_passed_on(
        self, waves, tmp_path, monkeypatch
    ):
        path = tmp_path / "fit.npz"
        options = {"n_iter": 2, "random_state": 0}

        def interrupt(name, done, *_, **__):
            if (name, done) == ("InnerITQ", 2):
                raise KeyboardInterrupt

        with monkeypatch.context() as start:
            start.setattr("fewbits.learners._core._iterative.report", interrupt)
            with pytest.raises(KeyboardInterrupt):
                made(NeighbourCodes, 16, **options, checkpoint=path).fit(waves[0])
        resumed = made(NeighbourCodes, 16, **options, checkpoint=path).fit(waves[0])
        whole = made(NeighbourCodes, 16, **options).fit(waves[0])
        assert resumed.encoder_.fingerprint == whole.encoder_.fingerprint

    def test_a_tight_plane_has_singular_values_that_are_alike(self, waves):
        for n_bits in (16, 40):
            encoder = made(NeighbourCodes, n_bits, **SOON).fit(waves[0]).encoder_
            values = np.linalg.svd(encoder.weights, compute_uv=False)
            values = values[values > 1e-3 * values[0]]
            assert values[0] < 5 * values[-1]

    @every_map
    @pytest.mark.usefixtures("few_steps")
    def test_rows_that_differ_may_all_be_kept_aside(self, make):
        X = np.zeros((120, 5))
        X[7] = 1
        for seed in range(12):
            make(n_bits=4, n_iter=1, random_state=seed).fit(X)

    @pytest.mark.parametrize(("level", "seed"), [(0, 0), (1, 0), (1, 7)])
    def test_constant_bits_are_those_of_the_encoder(self, level, seed):
        X = np.full((60, 7), level, np.float32)
        X[59] = np.arange(7)  # scores of all other rows are almost 0
        options = {"n_rounds": 3, "n_iter": 1}
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

    @every_map
    @pytest.mark.parametrize(("factor", "size"), [(1e-40, "small"), (1e38, "large")])
    def test_features_beyond_float32_are_told(self, make, factor, size):
        X = rows().astype(np.float64)
        X = (X / np.abs(X).max() * 3 * factor).astype(np.float32)
        with pytest.raises(FeatureError, match=f"too {size} for float32"):
            make(n_bits=4, n_iter=1, random_state=0).fit(X)

    @pytest.mark.parametrize(
        ("n", "n_held"), [(99, 0), (100, 25), (300, 75), (900, 100), (1500, 150)]
    )
    def test_rows_held_out_are_not_learnt_from(self, n, n_held):
        X, numbers = rows(n), np.random.default_rng(1).permutation(n)
        split = NeighbourCodes(8)._split(X, numbers)[1]
        assert (len(split.rows), len(split.held_out)) == (n - n_held, n_held)
        assert len(np.unique([*split.rows, *split.held_out], axis=0)) == n

    @pytest.mark.parametrize(("shape", "few"), [((900, 12), True), ((1500, 12), False)])
    def test_rows_held_out_of_few_take_no_part_in_their_axes(self, shape, few):
        X, numbers = rows(*shape), np.arange(shape[0])
        frames = []
        for factor in (1, 3):
            Z = X.copy()
            Z[:90] *= factor
            frames.append(NeighbourCodes(8)._split(Z, numbers)[0])
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

    def test_gains_over_itq_are_kept_where_rows_are_kept_aside_to_judge_them(
        self, waves
    ):
        itq = recall(ITQ(16, random_state=0), waves)
        for validation in (0, 0.1):
            learner = made(NeighbourCodes, 16, **SOON | {"validation": validation})
            assert recall(learner, waves) > itq + GAIN
            assert len(learner.recalls_) == (3 if validation else 0)

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

    def test_many_rows_are_drawn_from(self, waves):
        learner = made(NeighbourCodes, 16, **SOON, n_rows=300)
        assert recall(learner, waves) > recall(LSH(16, random_state=0), waves) + GAIN

    @pytest.mark.usefixtures("few_steps")
    def test_scale_of_the_features_has_no_effect(self, waves):
        X = waves[0].astype(np.float32)
        for make in (NeighbourCodes, FastNeighbourCodes):
            codes = [
                made(make, 16, n_iter=2, random_state=0).fit(Z).encode(Z)
                for Z in (X, 1024 * X)
            ]
            np.testing.assert_array_equal(*codes)

    @pytest.mark.usefixtures("few_steps")
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
    def test_learns_from_random_rotations(self, waves):
        ours = made(FastNeighbourCodes, 32, **SOON)
        theirs = Hadamard(32, random_state=0)
        assert recall(ours, waves) > recall(theirs, waves) + GAIN

    def test_codes_longer_than_the_features(self, waves):
        learner = made(FastNeighbourCodes, 70, **SOON)
        assert recall(learner, waves) > recall(learner, waves, 32) + GAIN
        assert learner.encoder_.weights.shape == (3, 2, 32, 16)

    def test_refuses_parameters_out_of_range(self, digits):
        with pytest.raises(ArgumentError, match="n_rounds"):
            FastNeighbourCodes(16, n_rounds=0).fit(digits[0])

    def test_as_many_bits_as_features_are_rotations(self, waves):
        blocks = []
        for n_bits in (16, 32):
            learner = made(FastNeighbourCodes, n_bits, **SOON | {"n_iter": 3})
            weights = learner.fit(waves[0]).encoder_.weights
            blocks.append(weights.reshape(-1, 16, 16).astype(float))
        loose, tight = (np.linalg.svd(each, compute_uv=False) for each in blocks)
        spread = [np.mean(each[:, 0] / each[:, -1]) for each in (loose, tight)]
        assert spread[1] < 0.7 * spread[0]


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
        with pytest.raises(ArgumentError, match=r"training\.learning_rate must be"):
            make(8).set_params(training__learning_rate=rate).fit(rows())
