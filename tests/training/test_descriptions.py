"""What is told of methods is what their learners take."""

import inspect

import numpy as np
import pytest

import fewbits
from fewbits.errors import ArgumentError
from fewbits.training import DEEP_METHODS, METHODS, describe, describe_all

X = np.random.default_rng(0).normal(size=(80, 10)).astype(np.float32)


@pytest.mark.parametrize("method", [*METHODS, *DEEP_METHODS])
def test_every_setting_is_explained(method):
    if method in DEEP_METHODS:
        pytest.importorskip("torch")
    found = describe(method)
    assert found.summary.endswith(".")
    names = {setting.name.partition(".")[0] for setting in found.settings}
    if method in METHODS:
        own = {"n_bits", "random_state", "checkpoint", "device"}  # options of `fit`
        assert names == set(inspect.signature(METHODS[method]).parameters) - own
    for setting in found.settings:
        assert setting.values, setting
        assert setting.text, setting
    texts = [setting.text for setting in found.settings]
    assert len(texts) == len(set(texts))


def test_what_is_needed_is_told():
    found = {each.method: each for each in describe_all()}
    names = [*METHODS, "packed", *DEEP_METHODS]
    assert list(found) == sorted(names, key=lambda name: found[name].needs_labels)
    assert found["dbc"].needs_labels
    assert not found["itq"].needs_labels
    assert found["csq"].needs_torch
    assert not found["dbc"].needs_torch


def test_codes_of_other_systems_are_a_method():
    found = describe("packed")
    assert (found.needs_labels, found.settings) == (False, ())


@pytest.mark.filterwarnings("ignore:among the codes of training items")
def test_settings_in_groups_are_reached():
    settings = {"training.perplexity": 5, "n_iter": 1}
    made = fewbits.fit(X, learner="neighbours", bits=8, parameters=settings)
    assert settings.items() <= made.facts.parameters.items()


def test_the_method_that_was_meant():
    with pytest.raises(ArgumentError, match=r"no method 'itk' \(did you mean 'itq'\?"):
        describe("itk")
    with pytest.raises(ArgumentError, match="no method 'xyz'; 'fewbits methods'"):
        describe("xyz")
    for method, name, meant in (
        ("sp", "desity", "density"),
        ("neighbours", "perplexity", "training.perplexity"),
    ):
        said = rf"no parameter '{name}' \(did you mean '{meant}'\?\); it has"
        with pytest.raises(ArgumentError, match=said):
            fewbits.fit(X, learner=method, parameters={name: 1})
