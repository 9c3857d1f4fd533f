"""What is told of methods is what their learners take."""

import inspect
import re

import pytest

from fewbits.errors import ArgumentError
from fewbits.training import DEEP_METHODS, METHODS, describe, describe_all
from fewbits.training._descriptions import _OWN_OPTIONS
from fewbits.training._methods import (
    PACKED,
    PYTHON_ONLY,
    make_learner,
    parameters_of,
    parts_of,
    what_makes,
)

ALL = [*METHODS, *DEEP_METHODS]


@pytest.mark.parametrize("method", ALL)
def test_every_setting_is_explained(method):
    if method in DEEP_METHODS:
        pytest.importorskip("torch")
    found = describe(method)
    assert found.summary.endswith(".")
    names = [setting.name for setting in found.settings]
    assert (
        {*names, *_OWN_OPTIONS, *PYTHON_ONLY} >= set(parameters_of(method)) >= {*names}
    )
    for setting in found.settings:
        assert setting.values, setting
        assert setting.text, setting
        assert " and " not in setting.values.partition("default=")[2], setting
    texts = [setting.text for setting in found.settings]
    assert len(texts) == len(set(texts))


def test_what_is_needed_is_told():
    found = {each.method: each for each in describe_all()}
    names = [*METHODS, PACKED, *DEEP_METHODS]
    assert list(found) == sorted(names, key=lambda name: found[name].needs_labels)
    assert found["dbc"].needs_labels
    assert not found["itq"].needs_labels
    assert found["csq"].needs_torch
    assert not found["dbc"].needs_torch


@pytest.mark.parametrize("method", ALL)
def test_a_name_tells_whose_method_it_is(method):
    if method in DEEP_METHODS:
        pytest.importorskip("torch")
    made = parts_of(method).get("loss", {}).get(method) or what_makes(method)
    references = inspect.getdoc(made).partition("References\n")[2]
    name = describe(method).name
    for word in re.findall(r"(?:19|20)\d\d|[A-Z]\w+(?= et al)", name):
        assert word in references, (name, references)
    assert re.search(r"\(.+, (?:19|20)\d\d\)|of fewbits", name)


def test_codes_of_other_systems_are_a_method():
    found = describe("packed")
    assert (found.needs_labels, found.settings) == (False, ())


def test_settings_in_groups_are_reached():
    learner = make_learner("neighbours", 8, 0, {"training.perplexity": 5, "n_iter": 3})
    assert (learner.training.perplexity, learner.training.n_rows) == (5, 200_000)
    learner = make_learner("sp", 8, 0, {"solver.kind": "iterative"})
    assert learner.solver.kind == "iterative"


def test_without_torch(monkeypatch):
    monkeypatch.setattr("fewbits.training._descriptions.has_torch", lambda: False)
    found = describe("csq")
    assert found.summary.startswith("Needs torch: pip install")
    assert found.settings == ()


def test_the_method_that_was_meant():
    with pytest.raises(ArgumentError, match=r"no method 'itk' \(did you mean 'itq'\?"):
        describe("itk")
    said = r"no parameter 'desity' \(did you mean 'density'\?\); it has"
    with pytest.raises(ArgumentError, match=said):
        make_learner("sp", 8, 0, {"desity": 0.1})
    said = r"no parameter 'perplexity' \(did you mean 'training.perplexity'\?\); it has"
    with pytest.raises(ArgumentError, match=said):
        make_learner("neighbours", 8, 0, {"perplexity": 5})
    with pytest.raises(ArgumentError, match="no method 'xyz'; 'fewbits methods'"):
        describe("xyz")
