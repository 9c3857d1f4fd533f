"""Steps that are exact: nothing better is left of what each of them chooses from."""

from typing import ClassVar

import numpy as np
import pytest
from scipy.linalg import circulant, orthogonal_procrustes
from scipy.optimize import minimize

from fewbits.learners import (
    CBE,
    DBC,
    ITQ,
    PCAH,
    BilinearProjections,
    _bre,
    _dbc,
    _picodes,
)
from fewbits.learners._linalg import _orthogonal
from fewbits.learners._simple import smoothest_modes

seeds = pytest.mark.parametrize("seed", range(5))


class TestPolarFactors:
    """Closest matrices with orthonormal rows, by each of the three ways there are."""

    WAYS: ClassVar = {
        "svd": (_orthogonal.polar, 1e-9),
        "gram": (_orthogonal._polar_by_gram, 1e-5),
        "products": (lambda C: _orthogonal._polar_by_products(C, np.float64), 1e-5),
        "single": (lambda C: _orthogonal._polar_by_products(C, np.float32), 1e-4),
    }

    def matrix(self, k, b, condition):
        rng = np.random.default_rng(0)
        left, right = np.linalg.qr(rng.normal(size=(k, k)))[0], rng.normal(size=(b, k))
        values = np.geomspace(1, 1 / condition, k)
        return 1e3 * (left * values) @ np.linalg.qr(right)[0].T

    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("condition", [1, 1e3, 1e6])
    @pytest.mark.parametrize("shape", [(1, 7), (40, 40), (40, 90)])
    def test_rows_are_orthonormal_and_the_product_is_largest(
        self, shape, condition, way
    ):
        C, (polar, error) = self.matrix(*shape, condition), self.WAYS[way]
        R = polar(C)
        np.testing.assert_allclose(R @ R.T, np.eye(len(C)), atol=error)
        largest = np.linalg.svd(C, compute_uv=False).sum()
        assert np.vdot(R, C) == pytest.approx(largest, rel=error)

    def test_without_full_rank(self):
        rng = np.random.default_rng(0)
        for rank in (0, 1, 5):
            C = rng.normal(size=(8, rank)) @ rng.normal(size=(rank, 12))
            R = _orthogonal.polar(C)
            np.testing.assert_allclose(R @ R.T, np.eye(8), atol=1e-12)
            largest = np.linalg.svd(C, compute_uv=False).sum()
            assert np.vdot(R, C) == pytest.approx(largest)

    def test_faster_ways_give_up_in_time(self):
        assert _orthogonal._polar_by_gram(self.matrix(20, 30, 1e14)) is None
        for C in (np.zeros((3, 5)), np.ones((3, 5))):
            assert _orthogonal._polar_by_products(C, np.float32) is None


def test_itq_takes_the_procrustes_rotation():
    X = np.random.default_rng(0).normal(size=(300, 8)) * np.linspace(3, 1, 8)
    start, step = (ITQ(8, n_iter=n, random_state=0).fit(X).encoder_ for n in (0, 1))
    scores = start.project(X).astype(float)
    bits = np.where(scores >= 0, 1.0, -1.0)
    rotation, _ = orthogonal_procrustes(scores, bits)
    np.testing.assert_allclose(step.weights, start.weights @ rotation, atol=1e-5)


@pytest.mark.parametrize("shape", [(80, 12), (9, 30)])
def test_principal_axes_are_those_of_the_svd(shape):
    X = np.random.default_rng(0).normal(size=shape) + 5
    centred = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    weights = PCAH(6).fit(X).encoder_.weights
    weights = weights / np.linalg.norm(weights, axis=0)
    np.testing.assert_allclose(np.abs(axes[:6] @ weights), np.eye(6), atol=1e-5)
    largest = np.abs(weights).argmax(axis=0)
    assert (weights[largest, np.arange(6)] > 0).all()


@pytest.mark.parametrize("lengths", [[3, 1], [1, 1], [100, 1], [1, 0, 2], [1, 2.5, 9]])
@pytest.mark.parametrize("n_bits", [1, 3, 33])
def test_spectral_hashing_takes_the_smoothest_modes(lengths, n_bits):
    every = sorted(
        (m / length, axis, m)
        for axis, length in enumerate(lengths)
        for m in range(1, n_bits + 1)
        if length
    )
    axes, modes = smoothest_modes(np.array(lengths, float), n_bits)
    expected = [(axis, m) for _, axis, m in every[:n_bits]]
    assert list(zip(axes, modes, strict=True)) == expected


@pytest.mark.parametrize(("d", "n_bits"), [(6, 6), (7, 7), (6, 4), (5, 12)])
def test_cbe_takes_the_best_matrix_for_the_codes(d, n_bits):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(30, d))
    start = CBE(n_bits, learn=False, random_state=0).fit(X).encoder_
    cbe = CBE(n_bits, penalty=2.0, n_iter=1, random_state=0).fit(X)
    rows = X - X.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows *= 1.0 - 2.0 * np.unpackbits(start.tensors()["signs"], count=d)

    def objective(column, B):
        R = circulant(column)
        error = np.sum((B - rows @ R.T) ** 2)
        return error + 2.0 * np.sum((R @ R.T - np.eye(d)) ** 2)

    total = 0.0
    columns = [each.tensors()["columns"] for each in (start, cbe.encoder_)]
    for k, (before, after) in enumerate(zip(*columns, strict=True)):
        scores = rows @ circulant(before.astype(float)).T
        B = np.where(scores >= 0, 1.0, -1.0)
        B[:, max(0, n_bits - k * d) :] = 0
        value = objective(after.astype(float), B)
        for _ in range(3):
            other = minimize(objective, after + rng.normal(size=d), args=(B,))
            assert other.fun >= value - 1e-5
        total += value
    assert cbe.objective_[0] == pytest.approx(total / (30 * n_bits), rel=1e-5)


def test_bilinear_projections_fill_matrices_near_a_square():
    shapes = {1: (1, 1), 2: (1, 2), 3: (2, 2), 7: (2, 4), 13: (3, 5), 37: (5, 8)}
    for d, (rows, columns) in shapes.items():
        X = np.random.default_rng(0).normal(size=(50, d))
        encoder = BilinearProjections(4, learn=False, random_state=0).fit(X).encoder_
        assert (len(encoder.left), len(encoder.right)) == (rows, columns)


class TestBRE:
    """The best weight of one anchor, among those between all places of a flip."""

    @seeds
    @pytest.mark.parametrize("n_bits", [1, 4])
    def test_no_weight_is_better(self, seed, n_bits):
        rng = np.random.RandomState(seed)
        Z = rng.normal(size=(25, 4))
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        K, anchors = Z @ Z.T, rng.randint(25, size=(n_bits, 5))
        W = rng.normal(size=anchors.shape)
        pairs = _bre.random_pairs(K, 0.3, rng)

        def bits(W):
            return np.array([w @ K[a] > 0 for w, a in zip(W, anchors, strict=True)])

        def objective(W):
            """Eq. (2) by its definition, pair by pair."""
            codes, half = bits(W), (1 - K) / (1 - K).max()
            return np.mean(
                [
                    (half[i, j] - np.mean(codes[:, i] != codes[:, j])) ** 2
                    for i, others in enumerate(pairs.others)
                    for j in others
                ]
            )

        gaps = sum(map(pairs.differ, bits(W))) - n_bits * pairs.targets
        start = W, bits(W), gaps, np.array(0)
        (after, *_), value = next(_bre.descend(K, anchors, pairs, rng, start))
        assert value == pytest.approx(objective(after), rel=1e-12)
        for p, (old, new) in enumerate(zip(W, after, strict=True)):
            # Bits before have their new weights by then, those behind their old ones.
            way = np.concatenate([after[:p], W[p:]])
            least = objective(np.concatenate([after[: p + 1], W[p + 1 :]]))
            if (old == new).all():
                continue
            (q,) = np.flatnonzero(old != new)
            kernel = K[anchors[p]]
            flips = np.sort(old[q] - old @ kernel / kernel[q])
            tries = [flips[0] - 1, *(flips[1:] + flips[:-1]) / 2, flips[-1] + 1]
            for weight in tries:
                way[p, q] = weight
                assert objective(way) >= least - 1e-12

    def test_a_weight_that_changes_nothing_stays(self):
        pairs = _bre.Pairs(np.array([[1], [0]]), np.ones((2, 1)))
        none, costs = np.zeros(2), -np.ones((2, 1))
        assert _bre.best_weight(0.5, np.ones(2), none, costs, pairs) == 0.5

    def test_equal_flips_happen_together(self):
        """Only a third point can be told from two that are the same."""
        pairs = _bre.Pairs(np.array([[1], [0], [0]]), np.ones((3, 1)))
        scores, costs = np.array([1.0, 1.0, 3.0]), np.array([[-9.0], [-9.0], [-1.0]])
        assert -3 < _bre.best_weight(0.0, scores, np.ones(3), costs, pairs) < -1


class TestDBC:
    def problem(self, seed, balanced, even, sizes=(3, 4, 1)):
        rng = np.random.default_rng(seed)
        labels = rng.random((sum(sizes), 5)) < 0.5
        labels[0], labels[-1] = True, False
        categories = _dbc.Categories(np.array(sizes), even)
        lambda1 = rng.choice([0.1, 1, 5])
        objective = _dbc.Objective(categories, 0.7, lambda1, 1.5, balanced)
        return labels, 2 * rng.normal(size=labels.shape), objective

    def value(self, labels, scores, objective, norms=0.0):
        norms = norms * np.ones(labels.shape[1])
        return objective.value(objective.terms(labels, scores, norms))

    @pytest.mark.parametrize("balanced", [True, False])
    @pytest.mark.parametrize("even", [True, False])
    def test_objective_is_eq_1_in_other_units(self, balanced, even):
        L, F, objective = self.problem(0, balanced, even, sizes=(4, 7, 1, 9))
        sizes = np.array([4, 7, 1, 9])
        n, y = 21, np.repeat(np.arange(4), sizes)
        mass = n / (4 * sizes[y]) if even else np.ones(n)
        same, both = y[:, None] == y, np.outer(mass, mass)
        unit = (np.bincount(y, mass) ** 2).sum() / 4
        lambda2 = 1.5 * unit / (n**2 / 4)
        value = self.value(L, F, objective, norms=0.4)
        for s in range(5):
            differ = both * (L[:, s, None] != L[:, s])
            pairs = differ[same].sum() / 2 - lambda2 / 2 * differ[~same].sum()
            slack = np.maximum(0, 1 - np.where(L[:, s], 1, -1) * F[:, s]) ** 2
            alike = (L[:, s, None] == L[:, s]).sum(axis=1)
            weights = 1 / (2 * alike) if balanced else 1 / n
            rest = 0.7 * 0.4 + objective.lambda1 * (weights * slack).sum()
            assert value[s] == pytest.approx(pairs / unit + 1.5 + rest)

    @seeds
    @pytest.mark.parametrize("balanced", [True, False])
    @pytest.mark.parametrize("even", [True, False])
    def test_no_labels_of_a_single_class_are_better(self, seed, balanced, even):
        L, F, objective = self.problem(seed, balanced, even)
        before = self.value(L, F, objective)
        by_category = _dbc.improve(L, F, objective, by_image=False)
        assert (self.value(by_category, F, objective) <= before + 1e-12).all()
        labels = _dbc.improve(L, F, objective, by_image=True)
        least = self.value(labels, F, objective)
        assert (least <= before + 1e-12).all()
        assert (labels.any(axis=0) & ~labels.all(axis=0)).all()
        for rows in objective.categories.slices:
            m = rows.stop - rows.start
            for number in range(2**m):
                other = labels.copy()
                other[rows] = (number >> np.arange(m)[:, None]) & 1
                varies = other.any(axis=0) & ~other.all(axis=0)
                value = self.value(other, F, objective)
                assert (value[varies] >= least[varies] - 1e-12).all()

    def test_no_hyperplane_near_by_is_better(self):
        y = np.repeat(np.arange(4), 30)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(4, 10))[y] + 0.7 * rng.normal(size=(120, 10))
        labels = X[:, :3] + rng.normal(size=(120, 3)) > 0
        categories = _dbc.Categories(np.bincount(y))
        objective = _dbc.Objective(categories, 0.2, 0.8, 1.0, True)
        planes = _dbc.train(X, labels, objective)

        def value(planes):
            norms = (planes**2).sum(axis=0)
            return self.value(labels, X @ planes[:-1] + planes[-1], objective, norms)

        for size in (1e-2, 1e-1):
            for _ in range(5):
                step = size * rng.normal(size=planes.shape)
                assert (value(planes + step) > value(planes)).all()

    def test_predicted_pairs_are_those_of_the_codes(self):
        y = np.arange(60) % 3
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3, 8))[y] + rng.normal(size=(60, 8))
        dbc = DBC(6, n_iter=2, random_state=0).fit(X, y)
        bits = dbc.transform(X)
        differ = (bits[:, None] != bits).mean(axis=2)
        same, terms = y[:, None] == y, dbc.objective_terms_
        intra, inter = differ[same].sum() / 2, differ[~same].sum() / 2
        assert terms["intra_predicted"][-1] == pytest.approx(intra / (3 * 20**2 / 4))
        assert terms["inter_predicted"][-1] == pytest.approx(inter / (60**2 / 4))


@pytest.mark.parametrize("balanced", [False, True])
class TestPiCoDes:
    def problem(self, seed, balanced, line_search=True):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(60) % 4 % 3)  # one class of twice the size
        X = rng.normal(size=(3, 5))[y] + rng.normal(size=(60, 5))
        projection = np.eye(5), np.zeros(5)
        problem = _picodes.Problem(
            *(X, y, *projection, 3, 50.0, 10.0),
            seed=seed,
            line_search=line_search,
            balanced=balanced,
        )
        A = rng.normal(size=(5, 6))
        return problem, _picodes.first_state(problem, A, np.zeros(6))

    def equation_4(self, problem, state):
        own = problem.y[:, None] == np.arange(3)
        share, M = own.mean(axis=0), state.H @ state.W.T + state.b
        weights = np.where(own, 0.5 / share, 0.5 / (1 - share))
        hinges = np.maximum(0, 1 - np.where(own, M, -M))
        hinges *= weights if problem.balanced else 1.0
        return 0.5 * np.sum(state.W**2) + problem.lam * hinges.sum() / 60

    @seeds
    @pytest.mark.parametrize("line_search", [True, False])
    def test_neither_step_raises_the_objective(self, seed, line_search, balanced):
        problem, state = self.problem(seed, balanced, line_search)
        value = self.equation_4(problem, state)
        for step in 2 * [_picodes.learn_classifiers, _picodes.learn_projectors]:
            state, before = step(problem, state), value
            value = self.equation_4(problem, state)
            assert value <= before + 1e-9
            assert _picodes.objective(problem, state) == pytest.approx(value)
        bits = problem.X @ state.A + state.a0 > 0
        np.testing.assert_array_equal(bits, state.H > 0)

    def test_deltas_of_a_bit_are_differences_of_the_objective(self, balanced):
        problem, state = self.problem(0, balanced)
        state = _picodes.learn_classifiers(problem, state)
        w = state.W[:, 2]
        M = state.H @ state.W.T + state.b - np.outer(state.H[:, 2], w)
        deltas = _picodes.hinge_sums(problem, M + w) - _picodes.hinge_sums(problem, M)
        for i in (0, 17, 42):
            values = []
            for bit in (0.0, 1.0):
                H = state.H.copy()
                H[i, 2] = bit
                values.append(self.equation_4(problem, state._replace(H=H)))
            difference = problem.lam / 60 * deltas[i]
            assert values[1] - values[0] == pytest.approx(difference)

    @seeds
    @pytest.mark.parametrize("copies", [1, 2])
    def test_no_hyperplane_on_the_way_is_better(self, seed, copies, balanced):
        rng = np.random.default_rng([seed, balanced])
        X = np.repeat(rng.normal(size=(24 // copies, 3)), copies, axis=0)
        deltas = rng.normal(size=24)
        old, new = ((rng.normal(size=3), rng.normal()) for _ in range(2))
        w, b = _picodes.best_between(X, old, new, deltas)
        ends = [np.append(*side) / np.linalg.norm(side[0]) for side in (old, new)]
        least = deltas @ (X @ old[0] + old[1] > 0)
        for t in np.linspace(0, 1, 501):
            way = (1 - t) * ends[0] + t * ends[1]
            bits = X @ way[:-1] + way[-1] > 0
            if 0 < bits.sum() < len(X):
                least = min(least, deltas @ bits)
        assert deltas @ (X @ w + b > 0) <= least + 1e-9
