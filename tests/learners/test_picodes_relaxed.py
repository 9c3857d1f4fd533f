"""PiCoDes by gradients: the objective, its gradients, and the epoch that is kept."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.errors import ArgumentError
from fewbits.learners import RelaxedPiCoDes
from fewbits.learners.fitting import on_progress
from tests.learners._made import made


def digits(n=300):
    X, y = load_digits(return_X_y=True)
    return X[:n], y[:n]


def test_the_epoch_with_the_least_objective_is_kept():
    """Steps far too long make later epochs worse."""
    X, y = digits()
    options = {"learning_rate": 3.0, "random_state": 0}
    relaxed = made(RelaxedPiCoDes, 16, n_iter=8, **options).fit(X, y)
    best = int(relaxed.objective_.argmin())
    assert best < 7
    assert relaxed.objective_[-1] > relaxed.objective_[best]
    shorter = made(RelaxedPiCoDes, 16, n_iter=best + 1, **options).fit(X, y)
    assert shorter.encoder_.fingerprint == relaxed.encoder_.fingerprint


def test_the_objective_falls_by_far():
    X, y = digits()
    falling = {"final_temperature": 0.1, "n_iter": 12, "random_state": 0}
    relaxed = made(RelaxedPiCoDes, 16, **falling).fit(X, y)
    assert relaxed.objective_.min() < 0.7 * relaxed.objective_[0]


# Fewer bits than features, and more.
@pytest.mark.parametrize(
    ("init", "n_bits"), [("itq", 3), ("pca", 100), ("random", 3), ("classes", 100)]
)
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
        ({"lam": 0}, "lam must be"),
        ({"temperature": 0}, "temperature must be"),
        ({"final_temperature": -1}, "final_temperature must be"),
        ({"learning_rate": np.inf}, "learning_rate must be"),
        ({"C": "a"}, "C must be"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"init": "best"}, "init must be"),
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
