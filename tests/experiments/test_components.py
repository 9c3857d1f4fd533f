"""The choice of principal components: by classes that are neither known nor novel."""

import numpy as np
import pytest

from experiments import _components
from experiments._components import COMPONENTS, n_components_of
from fewbits.learners import PiCoDes


class Problem:
    """Ten classes; four are known, one of them is held out."""

    experiment, name, seed = "novel_classes", "icd10", 0

    def __init__(self):
        rng = np.random.default_rng(0)
        self.y = np.repeat(np.arange(10), 40)
        centres = rng.normal(size=(10, 20))
        self.X = (centres[self.y] + rng.normal(size=(400, 20))).astype(np.float32)
        self.held_out = np.arange(3, 10)
        self.learn = np.flatnonzero(self.y < 4)


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Replace the measurement, and return the problems it was asked for."""
    monkeypatch.setattr("experiments._cells.RESULTS", tmp_path)
    seen = []
    monkeypatch.setattr(
        _components,
        "_figures",
        lambda problem, n: seen.append(n) or {"accuracy": 0.5 + 0.1 * (n is None)},
    )
    return seen


def test_the_best_is_taken_and_measured_once(asked):
    assert n_components_of(Problem()) is None
    assert n_components_of(Problem()) is None
    assert asked == list(COMPONENTS)


def test_data_with_classes_set_apart_are_not_asked(asked):
    problem = Problem()
    problem.name = "caltech101-1280"
    assert n_components_of(problem) == 128
    assert not asked


@pytest.mark.filterwarnings("ignore:only .* bits are different")
def test_only_classes_kept_aside_score(monkeypatch):
    monkeypatch.setattr(_components, "CHOSEN_AT", 8)
    seen = {}

    class Learner(PiCoDes):
        def fit(self, X, y=None):
            seen["learnt"] = y
            return super().fit(X, y)

    monkeypatch.setattr(_components, "PiCoDes", Learner)

    def score(train, y, test, truth, **_):
        seen["train"], seen["test"] = y, truth
        return type("Found", (), {"per_class_mean": 0.25})

    monkeypatch.setattr(_components, "svm_accuracy", score)
    assert _components._figures(Problem(), None) == {"accuracy": 0.25}
    assert set(seen["learnt"]) == {0, 1, 2}
    assert set(seen["train"]) == set(seen["test"]) == {3, 4, 5, 6, 7, 8, 9}
    assert (len(seen["train"]), len(seen["test"])) == (70, 175)
