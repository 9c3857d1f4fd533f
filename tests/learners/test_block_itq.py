"""ITQ in blocks: groups, components, and what one block has in common with ITQ."""

import numpy as np
import pytest

from fewbits.errors import ArgumentError
from fewbits.learners import ITQ, BlockITQ

_rng = np.random.default_rng(0)
#: Features 3 i, 3 i + 1 and 3 i + 2 are nearly the same.
GROUPED = np.repeat(_rng.normal(size=(300, 4)) * [4, 3, 2, 1], 3, axis=1)
GROUPED = GROUPED + _rng.normal(size=GROUPED.shape) / 10
SHUFFLED = _rng.permutation(12)
X = _rng.normal(size=(400, 30)) @ _rng.normal(size=(30, 30))


def covariance(X):
    return np.cov(X.T, bias=True) * len(X)


def test_balanced_groups_spread_features_that_repeat_one_another():
    learner = BlockITQ(8, n_blocks=3, groups="balanced", random_state=0)
    for features, _, _ in learner.fit(GROUPED).encoder_.blocks():
        assert set(features // 3) == {0, 1, 2, 3}


def test_groups_are_of_a_known_kind():
    with pytest.raises(ArgumentError, match="groups must be"):
        BlockITQ(8, groups="random").fit(X)


@pytest.mark.parametrize("n_bits", [4, 30, 47])
def test_blocks_have_a_share_of_the_weights(n_bits):
    learner = BlockITQ(n_bits, n_blocks=3, n_iter=5, random_state=0).fit(X)
    encoder = learner.encoder_
    assert (encoder.n_features, encoder.n_bits) == (30, n_bits)
    assert encoder.density == pytest.approx(1 / 3)
    assert (np.diff(learner.objective_) <= 1e-12).all()


def test_weights_of_a_block_are_a_rotation():
    encoder = BlockITQ(30, n_blocks=3, n_iter=5, random_state=0).fit(X).encoder_
    for _, _, matrix in encoder.blocks():
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(10), atol=1e-5)


def test_a_single_block_is_itq():
    one = BlockITQ(16, n_blocks=1, random_state=0).fit(X)
    whole = ITQ(16, random_state=0).fit(X)
    assert one.objective_[-1] == pytest.approx(whole.objective_[-1], rel=0.01)
    assert one.encoder_.density == 1


def test_objective_is_that_of_the_scores():
    learner = BlockITQ(12, n_blocks=3, n_iter=4, random_state=0).fit(X)
    scores = learner.encoder_.project(X)
    # Signs are those of the iteration before: a step to these cannot raise it.
    now = np.mean((np.where(scores >= 0, 1, -1) - scores) ** 2)
    assert now <= learner.objective_[-1] + 1e-6
    again = BlockITQ(12, n_blocks=3, n_iter=5, random_state=0).fit(X).objective_
    assert again[-1] <= now + 1e-6


@pytest.mark.parametrize("n_blocks", [0, -1, 2.5])
def test_a_number_of_blocks_is_needed(n_blocks):
    with pytest.raises(ArgumentError, match="n_blocks"):
        BlockITQ(8, n_blocks=n_blocks).fit(X)
