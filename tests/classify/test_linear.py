"""A class learnt from a few codes, and rows ranked by their scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from fewbits.classify import LinearModel, best_scores, learn_class
from fewbits.codes import pack, unpack
from fewbits.errors import ArgumentError, FewbitsError


@pytest.fixture
def sides():
    """Members have nearly all of the first 10 of 50 bits set."""
    rng = np.random.default_rng(0)
    members = rng.random((40, 50)) < np.where(np.arange(50) < 10, 0.95, 0.5)
    return pack(members), pack(rng.random((300, 50)) < 0.5)


def test_scores_are_weights_of_set_bits():
    rng = np.random.default_rng(0)
    weights, bits = rng.normal(size=70).astype(np.float32), rng.random((9, 70)) < 0.5
    scores = LinearModel(weights, 0.25).scores(pack(bits))
    np.testing.assert_allclose(scores, bits @ weights + 0.25, rtol=1e-5)
    assert scores.dtype == np.float32


def test_a_few_examples_define_a_class(sides):
    members, others = sides
    model = learn_class(members[:10], others[:100], 50)
    wanted, unwanted = model.scores(members[10:]), model.scores(others[100:])
    assert np.mean(wanted[:, None] > unwanted) > 0.8  # by chance .5
    assert model.weights[:10].mean() > 2 * np.abs(model.weights[10:]).mean()


def test_numbers_of_examples_do_not_matter(sides):
    members, others = sides
    once = learn_class(members[:10], others[:30], 50)
    often = learn_class(np.tile(members[:10], (5, 1)), others[:30], 50)
    np.testing.assert_allclose(often.weights, once.weights, atol=0.02)


def test_the_same_question_has_the_same_answer(sides):
    first, again = (learn_class(*sides, 50, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert first.bias == again.bias


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positives": np.empty((0, 7), np.uint8)}, "no positive one"),
        ({"negatives": np.empty((0, 7), np.uint8)}, "no negative one"),
        ({"negatives": np.zeros((3, 6), np.uint8)}, "50 bits"),
        ({"C": 1e300}, r"C must lie between 1e-30 and 1e\+30, got 1e\+300"),
        ({"C": 1e-300}, "C must lie between"),
        ({"C": 0.0}, r"C must lie between 1e-30 and 1e\+30"),
        ({"C": float("nan")}, r"C must lie between 1e-30 and 1e\+30"),
    ],
)
def test_mistakes(sides, change, message):
    arguments = {"positives": sides[0], "negatives": sides[1], "n_bits": 50, **change}
    with pytest.raises(FewbitsError, match=message):
        learn_class(**arguments)


@given(
    values=st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    k=st.integers(1, 40),
    data=st.data(),
)
def test_best_scores_are_those_of_a_stable_sort(values, k, data):
    scores = np.array(values, np.float32)
    n = len(values)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    rows = [row for row in range(len(values)) if allowed[row]]
    expected = sorted(rows, key=lambda row: (-scores[row], row))[:k]
    assert best_scores(scores, k, allowed).tolist() == expected
    everything = sorted(range(len(values)), key=lambda row: (-scores[row], row))[:k]
    assert best_scores(scores, k).tolist() == everything


class TestBalance:
    def sides(self, n_members=4, n_others=200):
        rng = np.random.default_rng(0)
        bits = rng.random((n_members + n_others, 24)) < 0.5
        bits[:n_members, :3] = True
        codes = pack(bits)
        return codes[:n_members], codes[n_members:]

    def test_weights_are_those_of_an_svm_with_weighted_sides(self):
        members, others = self.sides()
        signs = 2.0 * unpack(np.concatenate([members, others]), 24) - 1
        y = np.repeat([1, -1], [4, 200])
        weights = {1: (204 / 8) ** 0.5, -1: (204 / 400) ** 0.5}
        svm = LinearSVC(
            C=30 / signs.size, class_weight=weights, dual=False, intercept_scaling=10
        ).fit(signs, y)
        found = learn_class(members, others, 24, C=30, balance=0.5)
        np.testing.assert_allclose(found.weights, 2 * svm.coef_[0], atol=1e-3)

    def test_constant_is_that_of_balanced_sides(self):
        members, others = self.sides()
        found = learn_class(members, others, 24, balance=0.3)

        def loss(shift):
            missed = np.maximum(0, 1 - found.scores(members) - shift) ** 2
            return missed.mean() + np.mean(
                np.maximum(0, 1 + found.scores(others) + shift) ** 2
            )

        shifts = np.linspace(-1, 1, 2001)
        best = shifts[np.argmin([loss(shift) for shift in shifts])]
        assert abs(best) < 0.002

    @pytest.mark.parametrize("balance", [-0.1, 1.1, "half", None, True])
    def test_mistakes(self, balance):
        with pytest.raises(ArgumentError, match="balance must lie between 0 and 1"):
            learn_class(*self.sides(), 24, balance=balance)
