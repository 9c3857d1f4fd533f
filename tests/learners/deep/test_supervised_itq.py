"""Supervised ITQ beside a network: its ends, its formula and its encoder."""

import numpy as np
import pytest
from scipy.special import logsumexp

import fewbits
from fewbits.encoders import LinearEncoder, MLPEncoder
from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.inputs import Input
from fewbits.learners import ITQ
from fewbits.learners.deep import (
    DeepHash,
    DeepSupervisedITQ,
    NetworkConfig,
    TrainingConfig,
)
from fewbits.learners.deep.losses import CSQ

N_CLASSES, D = 12, 20
rng = np.random.default_rng(0)
y = np.repeat(np.arange(N_CLASSES), 25)
# Classes differ by few features; in the others items differ more.
X = rng.normal(size=(len(y), D)).astype(np.float32) * 3
X[:, :6] = rng.normal(size=(N_CLASSES, 6))[y] + 0.3 * rng.normal(size=(len(y), 6))
SHORT = TrainingConfig(max_epochs=8, validation=0, eval_every=0)


def learnt(supervision, n_bits=16, **options):
    options = {"training": SHORT, "random_state": 0, "n_iter": 5} | options
    return DeepSupervisedITQ(n_bits, supervision=supervision, **options).fit(X, y)


def quality(encoder, rows):
    codes = encoder.encode(X[rows])
    return mean_average_precision(codes, codes, same_label(y[rows], y[rows])).value


def test_without_supervision_it_is_itq():
    found = learnt(0)
    itq = ITQ(16, n_iter=5, random_state=0).fit(X)
    np.testing.assert_array_equal(found.encode(X), itq.encode(X))
    np.testing.assert_array_equal(found.objective_, itq.objective_)


def network(n_bits=64, centres="hadamard", hidden=None, X=X, y=y):
    """Return the encoder and the centres that a fit with `random_state=0` trains."""
    seed = np.random.RandomState(0).randint(2**31 - 1)
    config = NetworkConfig(hidden=hidden)
    learner = DeepHash(n_bits, loss=CSQ(centres), training=SHORT, network=config)
    fitted = learner.set_params(random_state=seed).fit(X, y)
    return fitted.encoder_, fitted.centres_


def scaled(block, share):
    block = block - block.mean(axis=0)
    return block * np.sqrt(share / block.var(axis=0).sum())


def memberships(scores, centres):
    """Return log odds of classes by softmax, with one denominator for all items."""
    products = scores @ centres.T.astype(np.float64)
    products = (products - products.mean()) / products.std()
    others = logsumexp(np.sort(products, axis=1)[:, :-1], axis=1)
    return np.clip(products - np.median(others), -3, 3)


@pytest.mark.parametrize(
    ("hidden", "share", "n_bits"),
    [
        ((), 0.3, 5),
        ((), 1, D + 3),
        ((8,), 0.3, D + 3),
        ((8,), 1, 5),
        ((8, 6), 0.3, 5),
        ((8, 6), 0.3, D + 3),
    ],
)
def test_it_is_itq_of_all_blocks(hidden, share, n_bits):
    """The rotation of features, scores and memberships, in one encoder of features."""
    found = learnt(share, n_bits, network=NetworkConfig(hidden=hidden))
    encoder, centres = network(hidden=hidden)
    scores = encoder.project(X)
    Z = [scaled(X, 1 - share), scaled(scores, share if share == 1 else share**2)]
    if share < 1:
        members = memberships(scores, centres)
        assert 0.05 < np.mean(np.abs(members) == 3) < 0.95
        Z.append(scaled(members, share * (1 - share)))
    Z = np.hstack(Z).astype(np.float32)
    itq = ITQ(n_bits, n_iter=5, random_state=0).fit(Z).encoder_
    expected = itq.project(Z)
    np.testing.assert_allclose(
        found.encoder_.project(X), expected, rtol=1e-2, atol=2e-3
    )
    linear = not hidden and share == 1
    assert isinstance(found.encoder_, LinearEncoder if linear else MLPEncoder)


@pytest.fixture(scope="module")
def many():
    """Return items of so many classes that there are no memberships."""
    y = np.repeat(np.arange(1025), 2)
    X = rng.normal(size=(len(y), 6)) + 3 * rng.normal(size=(1025, 6))[y]
    return X.astype(np.float32), y


def test_of_many_classes_scores_have_the_share(many):
    X, y = many
    options = {"training": TrainingConfig(max_epochs=1, validation=0, eval_every=0)}
    options |= {"network": NetworkConfig(hidden=()), "random_state": 0, "n_iter": 2}
    found = DeepSupervisedITQ(16, supervision=0.3, **options).fit(X, y)
    assert isinstance(found.encoder_, LinearEncoder)  # ReLU would give memberships


def test_at_its_end_it_is_csq_with_predictable_centres():
    assert learnt(1).n_iter_ == 5  # of few classes, scores are rotated
    more = 2 * y + (X[:, -1] > 0)
    options = {"training": SHORT, "random_state": 0, "n_iter": 5}
    found = DeepSupervisedITQ(16, supervision=1, **options).fit(X, more)
    encoder, _ = network(16, "predictable", y=more)
    np.testing.assert_array_equal(found.encode(X), encoder.encode(X))
    assert found.n_iter_ == len(found.objective_) == 0
    few = DeepSupervisedITQ(4, supervision=1, **options).fit(X, more)
    assert few.n_iter_ == 5  # of more classes than codes, too


def test_it_takes_several_labels_of_an_item():
    several = np.eye(N_CLASSES, dtype=bool)[y] | np.eye(N_CLASSES, dtype=bool)[y - 1]
    options = {"training": SHORT, "random_state": 0, "n_iter": 5}
    found = DeepSupervisedITQ(16, supervision=0.5, **options).fit(X, several)
    codes = found.encode(X)
    alike = same_label(several, several)
    plain = ITQ(16, n_iter=5, random_state=0).fit(X).encode(X)
    by_labels, without = (
        mean_average_precision(c, c, alike).value for c in (codes, plain)
    )
    assert by_labels > without + 0.1


def test_supervision_ranks_known_classes_better():
    everything = np.arange(len(y))
    none, some = quality(learnt(0).encoder_, everything), learnt(0.5)
    assert quality(some.encoder_, everything) > none + 0.1
    assert isinstance(some.encoder_, MLPEncoder)


def test_validation_chooses_a_share_and_trains_a_network_a_fold(monkeypatch):
    fitted = []
    real = DeepHash.fit

    def counted(self, *args):
        fitted.append(self.n_bits)
        return real(self, *args)

    monkeypatch.setattr(DeepHash, "fit", counted)
    quick = TrainingConfig(max_epochs=3, validation=0, eval_every=0)
    found = learnt("validated", n_iter=2, training=quick)
    assert found.supervision_ in found.validation_.shares
    assert 3 <= len(fitted) <= 7


def test_a_collection_classifies_by_it():
    few = {"supervision": 0.9, "training.max_epochs": 15, "n_iter": 5}
    source = Input("vectors", X, y, "made")
    collection = fewbits.fit(
        source, learner="deep-supervised-itq", bits=32, parameters=few
    )
    assert len(collection.codebook) == N_CLASSES
    assert np.mean(collection.classify(X).classes == y) > 0.8


def test_mistakes():
    with pytest.raises(ArgumentError, match="supervision must be"):
        learnt("auto")
    with pytest.raises(ArgumentError, match="supervision must be"):
        learnt(1.5)
    with pytest.raises(ArgumentError, match="n_iter must be"):
        learnt("validated", n_iter="x")
    torch = pytest.importorskip("torch")
    with pytest.raises(ArgumentError, match="takes features: leave"):
        learnt(0.5, network=NetworkConfig(backbone=torch.nn.Identity()))
