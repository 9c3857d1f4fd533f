"""Training on all items in the end."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from fewbits.errors import ArgumentError, DivergedError
from fewbits.learners.deep import DeepHash
from fewbits.learners.deep.losses import CSQ
from tests.learners._made import made

y = np.repeat(np.arange(5), 30)
rng = np.random.default_rng(0)
X = (np.eye(5, 12)[y] * 4 + rng.normal(size=(150, 12))).astype(np.float32)
OPTIONS = {"max_epochs": 12, "learning_rate": 0.05, "validation": 0.3}


def learner(**options):
    fixed = {"n_bits": 16, "random_state": 0, "device": "cpu"}
    return made(DeepHash, **{**fixed, **OPTIONS, **options})


@cache
def fitted_once(refit=False):
    return learner(refit=refit).fit(X, y)


def best_epoch(fitted):
    values = [record["map"] for record in fitted.history_]
    near = [values[max(i - 4, 0) : i + 5] for i in range(len(values))]
    means = [sum(each) / len(each) for each in near]
    return 1 + means.index(max(means))


def at_refit(action, epoch=1):
    def callback(record):
        if record.get("phase") == "refit" and record["epoch"] == epoch:
            action()

    return callback


def interrupt():
    raise KeyboardInterrupt


def test_all_items_are_trained_on_for_the_best_number_of_epochs():
    first, fitted = fitted_once(), fitted_once(refit=True)
    n_epochs = best_epoch(first)
    assert 1 < n_epochs < OPTIONS["max_epochs"]
    whole = learner(max_epochs=n_epochs, validation=0).fit(X, y)
    assert fitted.encoder_.fingerprint == whole.encoder_.fingerprint
    assert fitted.encoder_.fingerprint != first.encoder_.fingerprint
    assert len(first.held_out_) == 45
    assert len(fitted.held_out_) == 0
    assert [r["map"] for r in fitted.history_] == [r["map"] for r in first.history_]
    assert fitted.n_epochs_ == len(fitted.objective_) == OPTIONS["max_epochs"]


def test_the_classifier_is_that_of_all_items():
    options = {"loss": "greedyhash", "max_epochs": 8}
    fitted = learner(refit=True, **options).fit(X, y)
    options["max_epochs"] = best_epoch(fitted)
    whole = learner(**options, validation=0).fit(X, y)
    assert np.array_equal(fitted.classifier_, whole.classifier_)


def test_a_backbone_starts_as_it_was_given():
    torch.manual_seed(0)
    given = nn.Sequential(nn.Linear(12, 12), nn.ReLU())
    backbones = [deepcopy(given) for _ in range(2)]
    fitted = learner(refit=True, backbone=backbones[0], backbone_rate=1.0).fit(X, y)
    n_epochs = best_epoch(fitted)
    options = {"backbone": backbones[1], "backbone_rate": 1.0, "validation": 0}
    whole = learner(max_epochs=n_epochs, **options).fit(X, y)
    assert np.array_equal(fitted.extract(X), whole.extract(X))
    assert not torch.equal(backbones[0][0].weight, given[0].weight)


@pytest.mark.parametrize("backbone", [False, True])
def test_an_interrupt_leaves_what_was_chosen(backbone):
    torch.manual_seed(0)
    made = [nn.Linear(12, 12) if backbone else None] * 2
    made = [deepcopy(each) for each in made]
    first = learner(backbone=made[0]).fit(X, y) if backbone else fitted_once()
    model = learner(refit=True, backbone=made[1], callbacks=[at_refit(interrupt)])
    with pytest.warns(UserWarning, match="interrupted while it was trained anew"):
        fitted = model.fit(X, y)
    assert fitted.encoder_.fingerprint == first.encoder_.fingerprint
    assert np.array_equal(fitted.encode(X), first.encode(X))
    assert np.array_equal(fitted.held_out_, first.held_out_)


def test_after_an_interrupt_nothing_is_trained_anew():
    def callback(record):
        assert record.get("phase") != "refit"
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 3 of 12"):
        fitted = learner(refit=True, callbacks=[callback]).fit(X, y)
    assert len(fitted.held_out_) == 45


def test_divergence_leaves_what_was_chosen():
    def diverge():
        raise DivergedError("the loss is not finite")

    first = fitted_once()
    model = learner(refit=True, callbacks=[at_refit(diverge)])
    with pytest.raises(DivergedError):
        model.fit(X, y)
    assert model.encoder_.fingerprint == first.encoder_.fingerprint


def test_learnt_centres_are_learnt_from_all_items(tmp_path):
    seen = []
    options = {"loss": CSQ(centres="learnt"), "max_epochs": 9, "random_state": 3}
    fitted = learner(
        refit=True,
        callbacks=[seen.append],
        checkpoint=tmp_path / "c.pt",
        **options,
    ).fit(X, y)
    options["max_epochs"] = best_epoch(fitted)
    whole = learner(**options, validation=0).fit(X, y)
    assert np.array_equal(fitted.centres_, whole.centres_)
    assert fitted.encoder_.fingerprint == whole.encoder_.fingerprint
    phases = [record.get("phase", "") for record in seen]
    assert list(dict.fromkeys(phases)) == ["centres", "", "refit.centres", "refit"]
    assert phases.count("centres") == phases.count("refit.centres") == 50


class Killed(Exception):
    pass


@pytest.mark.parametrize("phase", ["", "refit"])
def test_a_killed_fit_goes_on_to_the_same_end(tmp_path, phase):
    def kill(record):
        if record.get("phase", "") == phase and record["epoch"] == 2:
            raise Killed

    whole = fitted_once(refit=True)
    path = tmp_path / "c.pt"
    with pytest.raises(Killed):
        learner(refit=True, checkpoint=path, callbacks=[kill]).fit(X, y)
    seen = []
    again = learner(refit=True, checkpoint=path, callbacks=[seen.append]).fit(X, y)
    assert again.encoder_.fingerprint == whole.encoder_.fingerprint
    assert {record.get("phase", "") for record in seen} == {phase, "refit"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refit": True, "validation": 0}, "refit=True needs held-out items"),
        ({"refit": "yes"}, "refit must be"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        learner(**options).fit(X, y)
