"""PiCoDes by gradients: the objective, its gradients, and the epoch that is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_digits

from fewbits.errors import ArgumentError
from fewbits.learners import RelaxedPiCoDes
from fewbits.learners import _picodes as steps
from fewbits.learners._linalg._adam import Adam
from fewbits.learners._relaxed_picodes import gradients
from fewbits.learners.fitting import on_progress
from tests.learners._made import made


def problem(seed, *, n=40, d=5, n_classes=4, lam=50.0, balanced=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n_classes, d))[y] + rng.normal(size=(n, d))
    return steps.Problem(X, y, n_classes, lam, cost=10.0, seed=seed, balanced=balanced)


def relaxed_objective(given_, parameters, temperature):
    """Eq. (4) with ``1 / (1 + exp(-2 a_c'x / T))`` for ``1[a_c'x > 0]``."""
    A, a0, W, b = parameters
    soft = expit(2 / temperature * (given_.X @ A + a0))
    loss = steps.hinge_sums(given_, soft @ W.T + b).sum()
    return 0.5 * np.sum(W**2) + given_.C * loss


def parameters(given_, seed, n_bits=6):
    rng = np.random.default_rng(seed)
    shapes = (given_.X.shape[1], n_bits), n_bits, (given_.n_classes, n_bits), 4
    return [rng.normal(size=shape) for shape in shapes]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), temperature=st.floats(0.5, 5), balanced=st.booleans())
def test_gradients_are_those_of_the_relaxed_objective(seed, temperature, balanced):
    given_ = problem(seed, balanced=balanced)
    here = parameters(given_, seed)
    found = gradients(given_, here, np.arange(40), temperature)
    step = 1e-6
    for place in range(4):
        direction = np.random.default_rng(seed).normal(size=here[place].shape)
        values = []
        for sign in (1, -1):
            there = [*here]
            there[place] = here[place] + sign * step * direction
            values.append(relaxed_objective(given_, there, temperature))
        slope = (values[0] - values[1]) / (2 * step)
        # A hinge that lies between the two points has another slope on each side.
        assert np.vdot(found[place], direction) == pytest.approx(
            slope, rel=1e-3, abs=1e-2 * np.linalg.norm(found[place])
        )


def test_batches_average_to_the_whole():
    given_ = problem(0)
    here = parameters(given_, 0)
    whole = gradients(given_, here, np.arange(40), 1.0)
    parts = [gradients(given_, here, np.arange(40)[i::4], 1.0) for i in range(4)]
    for place in range(4):
        mean = np.mean([part[place] for part in parts], axis=0)
        np.testing.assert_allclose(mean, whole[place])


def test_adam_finds_the_least_square():
    target = np.array([3.0, -1.0, 0.5])
    found = [np.zeros(3)]
    adam = Adam(found)
    for _ in range(2000):
        adam.step([found[0] - target], 0.01)
    np.testing.assert_allclose(found[0], target, atol=1e-3)


def test_the_first_step_of_adam_is_as_long_as_its_rate():
    found = [np.zeros(3)]
    Adam(found).step([np.array([1e3, -1e-3, 0.0])], 0.25)
    np.testing.assert_allclose(found[0], [-0.25, 0.25, 0], rtol=1e-3)


def digits(n=300):
    X, y = load_digits(return_X_y=True)
    return X[:n], y[:n]


def bits_objective(learner, X, y):
    """Eq. (4) of the bits, the classifiers trained as PiCoDes does."""
    H = learner.transform(X).astype(float)
    given_ = steps.Problem(X, y, 10, learner.lam, learner.C, seed=0)
    W, b = np.zeros((10, H.shape[1])), np.full(10, -1.0)
    state = steps.State(np.empty(0), np.empty(0), H, W, b)
    return steps.objective(given_, steps.learn_classifiers(given_, state))


def test_the_epoch_with_the_least_objective_is_kept():
    """Steps far too long make later epochs worse."""
    X, y = digits()
    options = {"learning_rate": 3.0, "random_state": 0}
    relaxed = made(RelaxedPiCoDes, 16, n_iter=8, **options).fit(X, y)
    best = int(relaxed.objective_.argmin())
    assert best < 7
    assert relaxed.objective_[-1] > relaxed.objective_[best]
    found = bits_objective(relaxed, X, y)
    assert found == pytest.approx(relaxed.objective_[best], rel=0.05)


def test_the_objective_falls_by_far():
    X, y = digits()
    falling = {"final_temperature": 0.1, "n_iter": 12, "random_state": 0}
    relaxed = made(RelaxedPiCoDes, 16, **falling).fit(X, y)
    assert relaxed.objective_.min() < 0.7 * relaxed.objective_[0]


@pytest.mark.parametrize("init", ["itq", "pca", "random", "classes"])
@pytest.mark.parametrize("n_bits", [3, 100])
def test_every_start_and_length(init, n_bits):
    X, y = digits(200)
    relaxed = RelaxedPiCoDes(
        n_bits, init=init, n_components=30, n_iter=1, random_state=0
    )
    assert relaxed.fit(X, y).encoder_.n_bits == n_bits


def test_an_interrupt_keeps_the_best_epoch():
    def interrupt(done, total, objective):
        if done == 2:
            raise KeyboardInterrupt

    X, y = digits(100)
    interrupted = RelaxedPiCoDes(8, n_iter=5, random_state=0)
    with on_progress(interrupt), pytest.warns(UserWarning, match="after 2 of 5"):
        interrupted.fit(X, y)
    assert interrupted.n_iter_ == len(interrupted.objective_) == 2


def test_tolerance_stops_at_the_first_epoch_that_gains_nothing():
    X, y = digits(100)
    options = {"learning_rate": 3.0, "n_iter": 8, "random_state": 0}
    hasty = made(RelaxedPiCoDes, 8, tol=1e-3, **options).fit(X, y)
    assert hasty.n_iter_ < 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_bits": 0}, "n_bits must be"),
        ({"lam": 0}, "lam must be a number above 0"),
        ({"temperature": 0}, "temperature must be a number above 0"),
        ({"final_temperature": -1}, "final_temperature must be a number above 0"),
        ({"learning_rate": np.inf}, "learning_rate must be finite"),
        ({"C": "a"}, "C must be"),
        ({"batch_size": 0}, "batch_size must be an integer, 1 or more"),
        ({"init": "best"}, "init must be one of"),
        ({"n_components": 0}, "n_components must be"),
        ({"n_iter": 0}, "n_iter must be"),
        ({"tol": -1}, "tol must be"),
    ],
)
def test_mistakes(change, message):
    with pytest.raises(ArgumentError, match=message):
        made(RelaxedPiCoDes, **change).fit(*digits(20))


def test_an_objective_beyond_numbers_is_refused():
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 4
    with pytest.raises(ArgumentError, match="not finite"):
        RelaxedPiCoDes(4, lam=1e300, n_iter=2).fit(X, y)


def test_a_falling_temperature_is_another_objective():
    X, y = digits(100)
    options = {"n_iter": 4, "random_state": 0, "temperature": 2.0}
    steady = made(RelaxedPiCoDes, 8, final_temperature=2.0, **options).fit(X, y)
    falling = made(RelaxedPiCoDes, 8, final_temperature=0.25, **options).fit(X, y)
    assert steady.objective_[0] == falling.objective_[0]
    assert (steady.objective_[1:] != falling.objective_[1:]).all()
