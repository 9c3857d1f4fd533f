"""The search for settings and forms of codes that keep neighbours."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from experiments import _choices_page, neighbour_choices
from experiments._features import FeatureSet
from experiments._trial_maps import Butterfly, Kronecker, MixedRounds, TrialCodes
from experiments.neighbour_choices import ROTATED, SETTINGS, figures, lineup, rotated
from fewbits.learners import shared_steps
from tests.learners._made import made

FORMS = [Kronecker, Butterfly, partial(MixedRounds, widths=(16, 1, 1))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(16, 16), (19, 11)])
def test_gradients_are_those_of_the_scores(form, shape):
    rng = np.random.RandomState(0)
    trial = form(*shape, rng)
    trial.parameters[-1] += rng.standard_normal(shape[1]).astype(np.float32)
    V = rng.standard_normal((5, shape[0])).astype(np.float32)
    slopes = rng.standard_normal((5, shape[1])).astype(np.float32)
    found = trial.gradients(V, slopes)
    for parameter, gradient in zip(trial.parameters, found, strict=True):
        assert gradient.shape == parameter.shape
        direction = rng.standard_normal(parameter.shape).astype(np.float32)
        before, sides = parameter.copy(), []
        for step in (0.01, -0.01):
            parameter[...] = before + np.float32(step) * direction
            sides.append(float(np.vdot(trial.scores(V), slopes)))
        parameter[...] = before
        slope = (sides[0] - sides[1]) / 0.02
        expected = float(np.vdot(gradient, direction))
        assert slope == pytest.approx(expected, rel=1e-2, abs=5e-3)  # of float32


@pytest.mark.parametrize("form", FORMS)
def test_starts_as_a_rotation(form):
    trial = form(16, 16, np.random.RandomState(0))
    W = trial.scores(np.eye(16, dtype=np.float32))
    np.testing.assert_allclose(W @ W.T / 16, np.eye(16), atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_factors_start_orthonormal(form):
    # Adam's equal steps are as large for all of them, then.
    *factors, _ = form(16, 16, np.random.RandomState(0)).parameters
    for factor in factors:
        products = np.swapaxes(factor, -1, -2) @ factor
        one = np.broadcast_to(np.eye(factor.shape[-1]), products.shape)
        np.testing.assert_allclose(products, one, atol=1e-5)


@pytest.mark.parametrize("shape", [(24, 6), (6, 24), (128, 64)])
def test_scores_of_kronecker_products_have_a_variance_of_one(shape):
    rng = np.random.RandomState(0)
    V = rng.standard_normal((2000, shape[0])).astype(np.float32) / np.sqrt(shape[0])
    scores = Kronecker(*shape, rng).scores(V)
    assert scores.std() == pytest.approx(1, rel=0.1)


@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@pytest.mark.parametrize("form", FORMS)
def test_trials_learn(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 20))[rng.integers(10, size=400)]
    X += rng.normal(size=X.shape)
    learner = made(TrialCodes, 16, form=form, n_iter=6, validation=0.2, random_state=0)
    learner.fit(X)
    still = clone(learner).set_params(form=partial(without_gradients, form)).fit(X)
    # The scale of agreements is learnt in both, and lowers the loss a little.
    assert learner.objective_[-1] < still.objective_[-1] - 0.05
    assert learner.recalls_.shape == (7,)
    assert learner.encoder_.project(X.astype(np.float32)).shape == (400, 16)


def without_gradients(form, *shape):
    found = form(*shape)
    zeros = [np.zeros_like(each) for each in found.parameters]
    found.gradients = lambda V, by_scores: zeros
    return found


def test_every_setting_differs_from_the_base():
    cells = dict(lineup(64, 0))
    plain = cells[neighbour_choices.BASE].get_params()
    for name, options in list(SETTINGS.items())[1:]:
        changed = cells[name].get_params()
        differs = {
            key.removeprefix("training__")
            for key in plain.keys() - {"training"}
            if changed[key] != plain[key]
        }
        assert differs == set(options)
    assert all(learner.n_bits == 64 for learner in cells.values())


def test_no_query_of_any_seed_takes_part(monkeypatch):
    X = np.arange(40, dtype=np.float32).reshape(20, 2)

    def load(name, seed, unseen=False):
        asked = np.isin(np.arange(20), [seed, 10 + seed])
        return FeatureSet(X[~asked], X[asked], np.empty(0), np.empty(0))

    monkeypatch.setattr(neighbour_choices, "load_features", load)
    neighbour_choices.never_asked.cache_clear()
    found = neighbour_choices.never_asked("any")
    neighbour_choices.never_asked.cache_clear()
    np.testing.assert_array_equal(
        found, np.delete(X, [0, 1, 2, 3, 10, 11, 12, 13], axis=0)
    )


def test_a_rotation_keeps_distances():
    X = np.random.default_rng(0).normal(size=(30, 10)).astype(np.float32)
    turned = rotated(X, 0)
    apart, kept = (
        np.linalg.norm(each[:, None] - each[None], axis=-1) for each in (X, turned)
    )
    scale = kept[0, 1] / apart[0, 1]
    np.testing.assert_allclose(kept, scale * apart, rtol=1e-4, atol=1e-4)


def test_figures_are_of_rows_kept_aside(monkeypatch):
    X = np.random.default_rng(0).normal(size=(120, 16)).astype(np.float32)
    cells = dict(lineup(8, 0))
    cells[ROTATED].set_params(density=0.5)
    for method in (ROTATED, "fast, Kronecker"):
        learner = cells[method]
        learner.n_iter = 2
        with shared_steps() as steps:
            found = figures(learner, X, method, steps)
        assert 0 <= found["start"] <= found["recall10"] <= 1


def test_the_page_compares_with_the_base(results, write_cells, monkeypatch):
    cell = {"data": "digits", "bits": 64}
    values = {
        "base": (0.5, 0.52),
        "perplexity 10": (0.4, 0.44),
        "fast, base": (0.3, 0.3),
    }
    cells = [
        (
            {**cell, "method": method, "seed": seed},
            {"recall10": value, "start": 0.1, "seconds": 3.0},
        )
        for method, pair in values.items()
        for seed, value in enumerate(pair)
    ]
    write_cells(results / "neighbour_choices.jsonl", cells)
    _choices_page.write()
    text = (results / "neighbour_choices.md").read_text()
    assert "| perplexity 10 | .420 ± .020 | -.090 ± .010 |" in text
    assert "| fast, base | .300 ± .000 |  |" in text
