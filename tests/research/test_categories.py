"""A linear model for each category, learnt from bits of its own."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from fewbits.classify import learn_class
from fewbits.codes import pack
from fewbits.errors import FewbitsError
from fewbits.learners import ITQ
from research.common.select_bits import learn_selected, select_bits
from research.studies.dbc.categories import category_scores

N_BITS = 60


def problem(seed=0, n=12, n_classes=4):
    """Each category has three bits of its own, nearly always set; the rest is noise."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(n_classes), 2 * n))
    own = np.arange(N_BITS) // 3 == y[:, None]
    codes = pack(rng.random((len(y), N_BITS)) < np.where(own, 0.95, 0.4))
    order = np.argsort(y, kind="stable")
    train, test = rng.permutation(order[::2]), rng.permutation(order[1::2])
    return codes[train], y[train], codes[test], y[test]


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 99), selection=st.sampled_from([None, 2.0]))
def test_figures_are_those_of_models_learnt_one_by_one(seed, selection):
    codes, y, tests, truth = problem(seed)
    found = category_scores(
        codes, y, tests, truth, n_bits=N_BITS, selection=selection, at=7
    )
    scores = []
    for category in range(4):
        sides = codes[y == category], codes[y != category]
        model = learn_class(*sides, N_BITS)
        if selection is not None:
            bits = select_bits(*sides, N_BITS, C=selection)
            model = learn_selected(*sides, N_BITS, bits)
        assert found.n_selected[category] == np.count_nonzero(model.weights)
        scores.append(model.scores(tests))
    predicted = np.argmax(scores, axis=0)
    for category in range(4):
        own = truth == category
        assert found.accuracy[category] == np.mean(predicted[own] == category)
        rng, shares = np.random.default_rng(0), []
        for _ in range(400):  # ties in every order
            order = rng.permutation(len(truth))
            best = order[np.argsort(-scores[category][order], kind="stable")[:7]]
            shares.append(own[best].mean())
        assert found.precision[category] == pytest.approx(np.mean(shares), abs=0.05)


def test_selected_bits_do_better_where_most_are_noise():
    gains = []
    for seed in range(5):
        both = [
            category_scores(*problem(seed), n_bits=N_BITS, selection=C, k=k, at=12)
            for C, k in ((None, None), (3.0, 3))
        ]
        assert (both[1].n_selected <= 3).all()
        gains.append(
            [
                getattr(both[1], name).mean() - getattr(both[0], name).mean()
                for name in ("accuracy", "precision")
            ]
        )
    assert (np.mean(gains, axis=0) > 0.02).all()


def test_weights_are_chosen_on_the_training_part():
    codes, y, tests, truth = problem()
    weights = [1e-6, 1.0, 100.0]
    chosen = category_scores(codes, y, tests, truth, n_bits=N_BITS, selection=weights)
    other = category_scores(
        codes, y, tests, np.roll(truth, 1), n_bits=N_BITS, selection=weights
    )
    cost = next(C for C in weights if f"selected with C={C:g};" in chosen.definition)
    assert cost > 1e-6
    assert chosen.definition == other.definition
    fixed = category_scores(codes, y, tests, truth, n_bits=N_BITS, selection=cost)
    np.testing.assert_array_equal(chosen.accuracy, fixed.accuracy)
    assert str(chosen).startswith("accuracy ")


def test_names_and_order_of_categories_do_not_matter():
    codes, y, tests, truth = problem()
    names = np.array(["d", "a", "c", "b"])
    numbers = category_scores(codes, y, tests, truth, n_bits=N_BITS, selection=10.0)
    words = category_scores(
        codes, names[y], tests, names[truth], n_bits=N_BITS, selection=10.0
    )
    assert words.classes.tolist() == ["a", "b", "c", "d"]
    order = np.argsort(names)
    np.testing.assert_array_equal(words.accuracy, numbers.accuracy[order])
    np.testing.assert_array_equal(words.precision, numbers.precision[order])
    np.testing.assert_array_equal(words.n_selected, numbers.n_selected[order])


def test_a_category_of_one_example():
    codes, y, tests, truth = problem()
    rows = np.concatenate([np.flatnonzero(y != 3), np.flatnonzero(y == 3)[:1]])
    found = category_scores(codes[rows], y[rows], tests, truth, n_bits=N_BITS)
    assert np.isfinite(found.precision).all()
    with pytest.raises(FewbitsError, match="of each category, 3 has 1"):
        category_scores(
            codes[rows], y[rows], tests, truth, n_bits=N_BITS, C=[1.0, 10.0]
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 3}, "k=3 bits .* `selection`"),
        ({"selection": 1.0, "k": 0}, "k must be at least 1"),
        ({"C": [1, -1]}, "weights must be above 0"),
        ({"at": 0}, "at must be at least 1"),
        ({"train_labels": np.zeros(48, int)}, "at least 2 categories, got 1"),
        ({"test_labels": np.arange(48) % 5}, "4 is in the test labels"),
        ({"test_labels": np.arange(48) % 3}, "3 is in the train labels"),
    ],
)
def test_mistakes(change, message):
    names = "train_codes", "train_labels", "test_codes", "test_labels"
    arguments = {**dict(zip(names, problem(), strict=True)), "n_bits": N_BITS}
    with pytest.raises(FewbitsError, match=message) as caught:
        category_scores(**{**arguments, **change})
    assert "\n" not in str(caught.value)


def test_precision_does_not_depend_on_the_order_of_test_rows():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    codes = (rng.integers(0, 4, 60) << 6).astype(np.uint8)[:, None]  # many ties
    order = rng.permutation(60)
    first = category_scores(codes, y, codes, y, n_bits=2, at=7)
    second = category_scores(codes, y, codes[order], y[order], n_bits=2, at=7)
    np.testing.assert_allclose(first.precision, second.precision)
    flat = category_scores(codes, y, codes * 0, y, n_bits=2, at=20)
    np.testing.assert_allclose(flat.precision, 1 / 3)


class TestDefaultOfSelection:
    """What the documentation names works; what destroys is told."""

    @staticmethod
    def digits():
        X, y = load_digits(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
        codes = ITQ(32, random_state=0).fit(X[:900]).encode(X)
        return codes[:900], y[:900], codes[900:], y[900:]

    def test_keeps_what_all_bits_are_worth(self):
        every = category_scores(*self.digits(), n_bits=32)
        weight = inspect.signature(select_bits).parameters["C"].default
        some = category_scores(*self.digits(), n_bits=32, selection=weight)
        assert some.n_selected.mean() < 32
        assert some.accuracy.mean() > every.accuracy.mean() - 0.03
        assert some.precision.mean() > every.precision.mean() - 0.03

    def test_few_bits_are_told(self):
        with pytest.warns(UserWarning, match=r"selection=1 keeps \d\.\d of 32 bits"):
            category_scores(*self.digits(), n_bits=32, selection=1)
