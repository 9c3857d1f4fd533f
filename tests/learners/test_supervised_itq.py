"""One code between ITQ and CCA-ITQ, and the choice of how much supervision pays."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError
from fewbits.learners import CCAITQ, ITQ, SupervisedITQ
from fewbits.learners.fitting import on_progress


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.mark.parametrize("n_bits", [16, 100])
def test_without_supervision_it_is_itq(digits, n_bits):
    X, y = digits
    ours = SupervisedITQ(n_bits, supervision=0, n_iter=5, random_state=3).fit(X, y)
    itq = ITQ(n_bits, n_iter=5, random_state=3).fit(X)
    np.testing.assert_array_equal(ours.encode(X), itq.encode(X))
    np.testing.assert_array_equal(ours.objective_, itq.objective_)


@pytest.mark.parametrize("n_bits", [4, 16])
def test_with_nothing_else_it_is_cca_itq(digits, n_bits):
    X, y = digits
    both = {"n_iter": 5, "reg": 0.3, "random_state": 3}
    ours = SupervisedITQ(n_bits, supervision=1, **both).fit(X, y)
    cca = CCAITQ(n_bits, **both).fit(X, y)
    np.testing.assert_array_equal(ours.encode(X), cca.encode(X))


@pytest.mark.parametrize("supervision", [0.2, 0.9])
def test_scores_are_a_rotation_of_both_blocks(digits, supervision):
    """Inner products of the scores are those of the blocks side by side."""
    X, y = digits
    ours = SupervisedITQ(80, supervision=supervision, n_iter=2, random_state=0)
    encoder = ours.fit(X, y).encoder_
    C = np.asarray(_canonical(X, y))
    x = X - X.mean(axis=0)
    blocks = [x * np.sqrt(1 - supervision), x @ C * np.sqrt(supervision)]
    blocks[0] /= np.sqrt(x.var(axis=0).sum())
    blocks[1] /= np.sqrt((x @ C).var(axis=0).sum())
    both = np.hstack(blocks)
    scores = encoder.project(X)
    np.testing.assert_allclose(scores @ scores.T, both @ both.T, atol=1e-4)


def _canonical(X, y, reg=1.0):
    """Return directions times correlations, by the generalised eigenproblem."""
    import scipy.linalg

    Y = np.eye(10)[y]
    d, C = X.shape[1], np.cov(np.hstack([X, Y]).T)
    Cxx = C[:d, :d] + reg * np.trace(C[:d, :d]) / d * np.eye(d)
    Cyy = C[d:, d:] + reg * np.eye(10)
    M = C[:d, d:] @ np.linalg.solve(Cyy, C[d:, :d])
    values, W = scipy.linalg.eigh(M, Cxx)
    return W[:, -9:] * np.sqrt(values[-9:])


def test_more_supervision_brings_classes_together(digits):
    X, y = digits
    same = y[:, None] == y
    ratios = []
    for supervision in (0, 1):
        learner = SupervisedITQ(32, supervision=supervision, random_state=0)
        distances = hamming_distances(*2 * [learner.fit(X, y).encode(X)])
        ratios.append(distances[same].mean() / distances[~same].mean())
    assert ratios[0] > ratios[1] + 0.2


def test_an_interrupt_while_shares_are_compared_ends_the_fit(digits):
    calls = []

    def interrupt(*_):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt

    learner = SupervisedITQ(16, supervision="validated", n_iter=5, random_state=0)
    with on_progress(interrupt), pytest.raises(KeyboardInterrupt):
        learner.fit(*digits)
    assert len(calls) == 12


@pytest.fixture(scope="module")
def validated(digits):
    """Return a learner that has chosen a share, and the fits that it took."""
    fits = []

    class Recorded(SupervisedITQ):
        def fit(self, X, y=None):
            fits.append((self.supervision, frozenset(np.asarray(y).tolist()), len(X)))
            return super().fit(X, y)

    learner = Recorded(8, supervision="validated", n_iter=1, random_state=0)
    return learner.fit(*digits), fits


def test_the_best_harmonic_mean_for_known_and_new_classes_is_taken(digits, validated):
    learner, _ = validated
    found = learner.validation_
    assert found.shares.tolist() == [0.0, 0.1, 0.25, 0.5, 0.75, 1.0]
    both = 2 * found.known * found.new / (found.known + found.new)
    assert learner.supervision_ == found.shares[both.argmax()]
    plain = SupervisedITQ(
        8, supervision=learner.supervision_, n_iter=1, random_state=0
    ).fit(*digits)
    np.testing.assert_array_equal(learner.encode(digits[0]), plain.encode(digits[0]))


def test_every_class_is_held_out_once(digits, validated):
    whole, *shares = validated[1]
    assert whole[0] == "validated"
    of_itq = [(classes, n) for share, classes, n in shares if share == 0]
    assert len(of_itq) == 3
    out = [c for classes, _ in of_itq for c in range(10) if c not in classes]
    assert sorted(out) == list(range(10))
    # Of the classes that are learnt from, rows are held out, too.
    y = digits[1]
    for classes, n in of_itq:
        assert n < np.isin(y, list(classes)).sum()


@pytest.mark.parametrize(("supervision", "scale"), [(0.5, 1), (1.0, 1e-3), (1.0, 1e9)])
def test_labels_that_say_nothing_leave_itq(supervision, scale):
    kinds = np.random.default_rng(0).normal(size=(30, 8)) * scale
    X, y = np.repeat(kinds, 8, axis=0) / 3, np.arange(240) % 4
    learner = SupervisedITQ(8, supervision=supervision, random_state=0)
    with pytest.warns(UserWarning, match="no feature correlates with the labels"):
        codes = learner.fit(X, y).encode(X)
    itq = ITQ(8, random_state=0).fit(X)
    np.testing.assert_array_equal(codes, itq.encode(X))


@pytest.mark.parametrize(
    ("supervision", "message"),
    [
        (-0.1, "supervision must be"),
        (1.5, "supervision must be .*got 1.5"),
        ("best", "supervision must be .*got 'best'"),
        (None, "supervision must be"),
    ],
)
def test_mistakes(digits, supervision, message):
    with pytest.raises(ArgumentError, match=message):
        SupervisedITQ(supervision=supervision).fit(*digits)


def test_classes_that_cannot_be_held_out_are_refused(digits):
    X, y = digits
    learner = SupervisedITQ(supervision="validated")
    with pytest.raises(ArgumentError, match="needs 3 of at least 6 rows, got 2"):
        learner.fit(X, y > 4)
    with pytest.raises(ArgumentError, match="supervision='validated' needs one class"):
        learner.fit(X, np.stack([y > 3, y > 6], axis=1).astype(int))
