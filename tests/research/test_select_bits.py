"""Bits selected for a class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewbits.classify import learn_class
from fewbits.codes import pack
from research.common.select_bits import learn_selected, select_bits

N_BITS = 50


def make_sides(seed=0, n=40, m=300):
    """Members have nearly all of the first 5 of 50 bits set; others have any."""
    rng = np.random.default_rng(seed)
    members = rng.random((n, N_BITS)) < np.where(np.arange(N_BITS) < 5, 0.95, 0.5)
    return pack(members), pack(rng.random((m, N_BITS)) < 0.5)


@pytest.fixture
def sides():
    return make_sides()


def test_bits_that_tell_the_class_are_found(sides):
    assert select_bits(*sides, N_BITS, k=5).tolist() == [0, 1, 2, 3, 4]


def test_a_bit_speaks_against_a_class_too(sides):
    members, others = (~codes for codes in sides)
    members, others = (
        pack(np.unpackbits(c, axis=1)[:, :50]) for c in (members, others)
    )
    assert select_bits(members, others, N_BITS, k=5).tolist() == [0, 1, 2, 3, 4]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 99), k=st.integers(1, 60))
def test_k_keeps_a_part_of_what_has_a_weight(seed, k):
    sides = make_sides(seed, n=10, m=30)
    every, few = (select_bits(*sides, N_BITS, k=number) for number in (None, k))
    assert len(few) == min(k, len(every))
    assert np.isin(few, every).all()
    assert (np.diff(every) > 0).all()
    assert few.dtype == every.dtype == np.int64


def test_smaller_weights_of_errors_keep_fewer_bits(sides):
    counts = [len(select_bits(*sides, N_BITS, C=C)) for C in (0.01, 1, 10, 1000)]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert 5 <= counts[2] < counts[3]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_the_bit_kept_in_any_case_is_the_first_to_enter(seed):
    """C is raised until LIBLINEAR itself gives some bit a weight."""
    sides = make_sides(seed, n=7, m=20)
    first = select_bits(*sides, N_BITS, C=1e-9)
    assert len(first) == 1
    shares = [np.unpackbits(c, axis=1)[:, :N_BITS].mean(axis=0) for c in sides]
    differences = np.abs(shares[0] - shares[1])
    entered = next(
        found
        for C in np.geomspace(0.1, 10, 60)
        if len(found := select_bits(*sides, N_BITS, C=C)) > 1
        or differences[found[0]] == differences.max()
    )
    assert differences[entered].max() == pytest.approx(differences.max())
    assert differences[first[0]] == pytest.approx(differences.max())


def test_equal_sides_keep_the_first_bit():
    codes = np.zeros((4, 1), np.uint8)
    assert select_bits(codes, codes, 8).tolist() == [0]


def test_numbers_of_examples_and_longer_codes_do_not_matter(sides):
    members, others = sides
    once = select_bits(members, others, N_BITS, C=3)
    often = select_bits(np.tile(members, (3, 1)), others, N_BITS, C=3)
    np.testing.assert_array_equal(often, once)
    longer = [np.pad(codes, [(0, 0), (0, 5)]) for codes in sides]  # constant bits
    assert set(select_bits(*longer, 96, C=3)) <= set(once) | set(range(N_BITS, 96))


def test_few_examples_profit_from_few_bits():
    """Of 50 bits 45 say nothing: leaving them out tells members better from others."""
    gains = []
    for seed in range(8):
        members, others = make_sides(seed)
        learn = members[:8], others[:80]
        bits = select_bits(*learn, N_BITS, k=5, C=3)
        won = []
        for chosen in (bits, None):
            model = learn_class(*learn, N_BITS)
            if chosen is not None:
                model = learn_selected(*learn, N_BITS, chosen)
            wanted, unwanted = model.scores(members[8:]), model.scores(others[80:])
            won.append(np.mean(wanted[:, None] > unwanted))
        gains.append(won[0] - won[1])
    assert np.mean(gains) > 0.03
