"""Names that are imported on first use."""

import importlib

import pytest

import fewbits

PACKAGES = ["fewbits", "fewbits.backbones", "fewbits.bundle"]


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
    from fewbits import ITQ, Bundle, fit_bundle, pack
    from fewbits.bundle import Bundle as its_bundle
    from fewbits.codes import pack as its_pack
    from fewbits.learners import ITQ as its_itq
    from fewbits.training import fit_bundle as its_fit

    assert (ITQ, Bundle, fit_bundle, pack) == (its_itq, its_bundle, its_fit, its_pack)


def test_they_are_few():
    assert len({*fewbits.__all__} - {"__version__"}) <= 12
