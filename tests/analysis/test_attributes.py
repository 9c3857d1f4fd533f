"""Extreme items, the ranking of bits, and the profile of a class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from fewbits.analysis.bits import class_profile, extreme_items, rank_bits
from fewbits.codes import pack
from fewbits.errors import ArgumentError


@given(seed=st.integers(0, 2**32), n=st.integers(1, 40), k=st.integers(1, 10))
def test_extremes_are_the_ends_of_a_stable_sort(seed, n, k):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-4, 4, (n, 20)).astype(np.float32)  # with many ties
    for side, sign in zip(extreme_items(scores, k), (1, -1), strict=True):
        for bit in range(20):
            order = np.argsort(sign * scores[:, bit], kind="stable")[:k]
            assert side.rows[bit].tolist() == [*order, *[-1] * (k - len(order))]
            assert (side.scores[bit][: len(order)] == scores[order, bit]).all()
            assert np.isnan(side.scores[bit][len(order) :]).all()


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.empty((0, 3)), "at least one item"),
        ([], "at least one item"),
        (np.ones(3), "shape"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[np.nan]]), "finite"),
    ],
)
def test_scores_that_are_none(scores, said):
    with pytest.raises(ArgumentError, match=said):
        extreme_items(scores)


def test_stability_of_normal_scores_is_known():
    scores = np.random.default_rng(0).normal(size=(200_000, 1))
    for noise in (0.1, 0.25, 1.0):
        expected = 1 - np.arctan(noise) / np.pi
        assert rank_bits(scores, noise=noise).stability[0] == pytest.approx(
            expected, abs=0.002
        )


def test_usual_stability_belongs_to_the_noise():
    scores = np.random.default_rng(0).normal(size=(50, 3))
    assert round(rank_bits(scores).usual_stability, 3) == 0.922
    assert rank_bits(scores, noise=1).usual_stability == pytest.approx(0.75)


def test_stability_is_what_noise_does():
    rng = np.random.default_rng(0)
    scores = rng.normal(0.3, 2.0, (1000, 1))
    noisy = scores + 0.5 * scores.std() * rng.normal(size=(1000, 400))
    kept = ((noisy > 0) == (scores > 0)).mean()
    assert rank_bits(scores, noise=0.5).stability[0] == pytest.approx(kept, abs=0.005)


def test_information_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(300, 6)), rng.choice(["a", "b", "c"], 300)
    scores[:, 0] += labels == "a"
    ranking = rank_bits(scores, labels)
    expected = [mutual_info_score(labels, bit) / np.log(2) for bit in (scores > 0).T]
    np.testing.assert_allclose(ranking.information, expected, atol=1e-12)
    assert ranking.order[0] == 0


def test_without_noise_all_information_is_reliable():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    labelled = rank_bits(scores, labels, noise=1e-9)
    np.testing.assert_allclose(labelled.reliable_information, labelled.information)
    alone = rank_bits(scores, noise=1e-9)
    assert alone.information is None
    shares = (scores > 0).mean(axis=0)
    expected = entropy([shares, 1 - shares], base=2)
    np.testing.assert_allclose(alone.reliable_information, expected)


def test_predictable_balanced_and_informative_bits_come_first():
    rng = np.random.default_rng(0)
    side = rng.choice([-1.0, 1.0], 1000)
    small = rng.normal(size=1000) * 0.1
    constant, rare, vague = (
        5 + small,
        np.where(rng.random(1000) < 0.02, 5, -5),
        side * 0,
    )
    scores = np.column_stack(
        [constant, rare, vague + rng.normal(size=1000), side + small]
    )
    assert rank_bits(scores).order.tolist() == [3, 2, 1, 0]
    assert rank_bits(scores, side).order[0] == 3


def test_scores_without_spread_are_certain():
    ranking = rank_bits(np.full((5, 1), 2.0), ["a", "b", "a", "b", "c"])
    assert ranking.stability.tolist() == [1.0]
    assert ranking.reliable_information.tolist() == [0.0]


def test_ranking_mistakes():
    with pytest.raises(ArgumentError, match="noise must be above 0 and finite, got 0"):
        rank_bits(np.ones((2, 2)), noise=0)
    with pytest.raises(ArgumentError, match="one label for each of 2 items"):
        rank_bits(np.ones((2, 2)), [1, 2, 3])
    with pytest.raises(ArgumentError, match="at least one item"):
        rank_bits(np.empty((0, 2)))


def test_profile_by_hand():
    rng = np.random.default_rng(0)
    bits, labels = rng.random((200, 11)) < 0.4, rng.choice(["x", "y", "z"], 200)
    profile = class_profile(pack(bits), 11, labels, "y")
    members = labels == "y"
    assert (profile.n_inside, profile.n_outside) == (members.sum(), (~members).sum())
    np.testing.assert_allclose(profile.inside, bits[members].mean(axis=0))
    np.testing.assert_allclose(profile.outside, bits[~members].mean(axis=0))
    share = bits[:, 3].mean()
    error = np.sqrt(share * (1 - share) * (1 / members.sum() + 1 / (~members).sum()))
    z = (profile.inside[3] - profile.outside[3]) / error
    assert profile.z[3] == pytest.approx(z)
    assert profile.order[0] == np.abs(profile.z).argmax()


def test_profile_of_one_item():
    profile = class_profile(np.array([[128], [0], [0]], np.uint8), 1, [7, 8, 8], 7)
    assert profile.inside.tolist() == [1.0]
    assert profile.z[0] == pytest.approx(np.sqrt(3))


def test_profile_mistakes():
    codes = np.array([[1], [2]], np.uint8)
    with pytest.raises(ArgumentError, match="no item is of class 'c'"):
        class_profile(codes, 8, ["a", "b"], "c")
    with pytest.raises(ArgumentError, match="every item is of class 'a'"):
        class_profile(codes, 8, ["a", "a"], "a")
