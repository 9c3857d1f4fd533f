"""Names that are imported on first use."""

import importlib

import pytest

import fewbits

PACKAGES = ["fewbits", "fewbits.backbones", "fewbits.collection"]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_there(name):
    package = importlib.import_module(name)
    assert {*package.__all__} <= {*dir(package)}
    for public in package.__all__:
        assert getattr(package, public) is getattr(package, public)


@pytest.mark.parametrize("name", PACKAGES)
def test_other_names_are_not(name):
    with pytest.raises(AttributeError, match=rf"{name}' has no attribute 'no_such'"):
        _ = importlib.import_module(name).no_such


def test_they_are_those_of_the_subpackages():
    from fewbits import ITQ, Collection, fit, pack
    from fewbits.codes import pack as its_pack
    from fewbits.collection import Collection as its_collection
    from fewbits.collection import fit as its_fit
    from fewbits.learners import ITQ as its_itq

    assert (ITQ, pack) == (its_itq, its_pack)
    assert (Collection, fit) == (its_collection, its_fit)


def test_they_are_few():
    assert len({*fewbits.__all__} - {"__version__"}) <= 13
