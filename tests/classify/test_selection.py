"""Models of a class that use some of the bits."""

import numpy as np
import pytest

from fewbits.classify import learn_class
from fewbits.codes import pack
from fewbits.errors import FewbitsError

N_BITS = 50


def make_sides(seed=0, n=40, m=300):
    """Members have nearly all of the first 5 of 50 bits set; others have any."""
    rng = np.random.default_rng(seed)
    members = rng.random((n, N_BITS)) < np.where(np.arange(N_BITS) < 5, 0.95, 0.5)
    return pack(members), pack(rng.random((m, N_BITS)) < 0.5)


@pytest.fixture
def sides():
    return make_sides()


def test_other_bits_have_no_weight(sides):
    bits = np.array([3, 0, 41])
    model = learn_class(*sides, N_BITS, bits=bits)
    assert sorted(np.flatnonzero(model.weights)) == [0, 3, 41]
    rng = np.random.default_rng(1)
    noise = rng.random((60, N_BITS)) < 0.5
    noise[:, bits] = 0
    np.testing.assert_allclose(model.scores(pack(noise)), model.bias)


def test_a_model_of_some_bits_is_that_of_codes_of_these_bits_alone(sides):
    bits = [7, 2, 30, 11]
    short = [pack(np.unpackbits(codes, axis=1)[:, bits]) for codes in sides]
    alone, within = learn_class(*short, 4), learn_class(*sides, N_BITS, bits=bits)
    np.testing.assert_array_equal(within.weights[bits], alone.weights)
    assert within.bias == alone.bias


def test_all_bits_are_the_default(sides):
    named = learn_class(*sides, N_BITS, bits=range(N_BITS))
    np.testing.assert_array_equal(named.weights, learn_class(*sides, N_BITS).weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positives": np.empty((0, 7), np.uint8)}, "no positive one"),
        ({"negatives": np.empty((0, 7), np.uint8)}, "no negative one"),
        ({"negatives": np.zeros((3, 6), np.uint8)}, "50 bits"),
        ({"C": -1.0}, r"C must lie between 1e-30 and 1e\+30"),
        ({"C": float("inf")}, r"C must lie between 1e-30 and 1e\+30"),
    ],
)
def test_mistakes(sides, change, message):
    arguments = {"positives": sides[0], "negatives": sides[1], "n_bits": 50, **change}
    with pytest.raises(FewbitsError, match=message):
        learn_class(**arguments)


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        ([], "at least one integer"),
        ([[1, 2]], r"shape \(1, 2\)"),
        ([0.5], "at least one integer, got float64"),
        (np.ones(50, bool), "at least one integer, got bool"),
        ([50], "between 0 and 49, got 50 to 50"),
        ([-1, 3], "between 0 and 49, got -1 to 3"),
        ([4, 4], "once each"),
    ],
)
def test_bits_that_are_none(sides, bits, message):
    with pytest.raises(FewbitsError, match=message):
        learn_class(*sides, N_BITS, bits=bits)
