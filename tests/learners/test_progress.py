"""Stopping, progress and interrupts of the learners that iterate."""

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.learners import CCAITQ, ITQ, SparseProjections
from fewbits.learners.fitting import on_progress

X = np.random.default_rng(0).normal(size=(100, 8))
Y = np.arange(100) % 3

iterative = pytest.mark.parametrize(
    "learner",
    [
        ITQ(6, n_iter=9, random_state=0),
        CCAITQ(6, n_iter=9, random_state=0),
        SparseProjections(6, density=0.5, n_iter=9, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)


@iterative
def test_listener_sees_every_iteration(learner):
    seen = []
    with on_progress(lambda *event: seen.append(event)):
        fitted = clone(learner).fit(X, Y)
    clone(learner).fit(X, Y)
    assert [event[:2] for event in seen] == [(done, 9) for done in range(1, 10)]
    np.testing.assert_array_equal([event[2] for event in seen], fitted.objective_)


@iterative
def test_verbose_writes_one_line_to_standard_error(learner, capsys):
    clone(learner).set_params(verbose=True).fit(X, Y)
    captured = capsys.readouterr()
    name = type(learner).__name__
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.split("\r")[-1].startswith(f"{name}: 9/9, objective ")


@iterative
def test_quiet_by_default(learner, capsys):
    clone(learner).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def interrupt_after(n):
    def listener(done, total, objective):
        if done == n:
            raise KeyboardInterrupt

    return listener


@iterative
def test_interrupt_keeps_what_was_reached(learner):
    interrupted, shorter = clone(learner), clone(learner).set_params(n_iter=4)
    message = f"interrupted after 4 of 9 iterations; the {type(learner).__name__}"
    with on_progress(interrupt_after(4)), pytest.warns(UserWarning, match=message):
        interrupted.fit(X, Y)
    shorter.fit(X, Y)
    assert interrupted.n_iter_ == 4
    assert interrupted.encoder_.fingerprint == shorter.encoder_.fingerprint
    np.testing.assert_array_equal(interrupted.objective_, shorter.objective_)


@iterative
def test_interrupt_before_the_first_iteration_is_passed_on(learner, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    for module in ("_itq", "_sparse_projections"):
        monkeypatch.setattr(f"fewbits.learners.{module}.sign_products", interrupt)
    with pytest.raises(KeyboardInterrupt):
        clone(learner).fit(X, Y)


@iterative
def test_tolerance_stops_early(learner):
    patient = clone(learner).set_params(n_iter=50).fit(X, Y)
    hasty = clone(learner).set_params(n_iter=50, tol=1e-2).fit(X, Y)
    assert patient.n_iter_ == 50
    assert 1 < hasty.n_iter_ < 50
    n = hasty.n_iter_
    np.testing.assert_array_equal(hasty.objective_, patient.objective_[:n])
    gains = -np.diff(hasty.objective_) / hasty.objective_[:-1]
    assert gains[-1] <= 1e-2
    assert (gains[:-1] > 1e-2).all()
