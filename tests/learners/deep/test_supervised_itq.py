"""Supervised ITQ beside a network: its ends, its formula and its encoder."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logit, softmax

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
    _supervised_itq,
)
from fewbits.learners.deep._linear_path import with_linear_path
from fewbits.learners.deep._memberships import LIMIT, Memberships, memberships
from fewbits.learners.deep._supervised_itq import blocks
from fewbits.learners.deep.losses import CSQ
from fewbits.training import fit_bundle

N_CLASSES, D = 12, 20
rng = np.random.default_rng(0)
y = np.repeat(np.arange(N_CLASSES), 25)
# Classes differ by few features; in the others items differ more.
X = rng.normal(size=(len(y), D)).astype(np.float32) * 3
X[:, :6] = rng.normal(size=(N_CLASSES, 6))[y] + 0.3 * rng.normal(size=(len(y), 6))
SHORT = TrainingConfig(max_epochs=15, validation=0, eval_every=0)


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


@pytest.mark.parametrize("n_bits", [5, D + 3])
@pytest.mark.parametrize("n_classes", [0, 7])
@pytest.mark.parametrize("hidden", [(), (8,), (8, 6)])
def test_paths_beside_a_network(hidden, n_classes, n_bits):
    sizes = (D, *hidden, 4)
    weights = [rng.normal(size=s) for s in pairwise(sizes)]
    biases = [rng.normal(size=n) for n in sizes[1:]]
    alone = (
        MLPEncoder(weights, biases) if hidden else LinearEncoder(weights[0], biases[0])
    )
    scores = X
    for i, (W, b) in enumerate(zip(weights, biases, strict=True)):
        scores = (np.maximum(scores, 0) if i else scores) @ W + b
    parts, members = [X, scores], None
    if n_classes:
        of_class = rng.normal(size=(4, n_classes)) / 10, rng.normal(size=n_classes)
        members = Memberships(*of_class)
        parts.append(np.clip(scores @ of_class[0] + of_class[1], -LIMIT, LIMIT))
        assert 0.05 < np.mean(np.abs(parts[-1]) == LIMIT) < 0.95
    Z = np.hstack(parts)
    outer, bias = rng.normal(size=(Z.shape[1], n_bits)), rng.normal(size=n_bits)
    found = with_linear_path(alone, members, outer, bias)
    expected = Z @ outer + bias
    np.testing.assert_allclose(found.project(X), expected, rtol=1e-3, atol=2e-3)


def test_memberships_are_softmax_between_limits():
    centres = np.sign(rng.normal(size=(N_CLASSES, 64))).astype(np.int8)
    scores = (centres[y] * 0.5 + rng.normal(size=(len(y), 64))).astype(np.float32)
    found = memberships(scores, centres).of(scores)
    products = scores @ centres.T
    products = (products - products.mean()) / products.std()
    expected = softmax(products, axis=1)
    assert np.all(np.argmax(found, axis=1) == np.argmax(expected, axis=1))
    near = np.abs(logit(expected)) < 1
    assert near.sum() > 20
    # The denominator is the same for all items.
    np.testing.assert_allclose(found[near], logit(expected[near]), atol=1)
    assert np.abs(found).max() == LIMIT


def test_it_is_itq_of_all_blocks():
    found = learnt(0.3)
    network, centres, _ = found._network_of(X, y)
    scores = network.project(X)
    Z, *_ = blocks(X, scores, memberships(scores, centres), 0.3)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-5)
    total = np.split(Z.var(axis=0), [D, D + scores.shape[1]])
    assert [each.sum() for each in total] == pytest.approx([0.7, 0.09, 0.21], rel=1e-4)
    itq = ITQ(16, n_iter=5, random_state=0).fit(Z).encoder_
    # Margins are far above what the order of the sums changes.
    expected = itq.project(Z)
    clear = np.abs(expected) > 1e-4
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(
        (found.encoder_.project(X) >= 0)[clear], (expected >= 0)[clear]
    )


def test_of_many_classes_scores_have_the_share(monkeypatch):
    hidden = NetworkConfig().hidden
    assert len(learnt(0.3).encoder_.weights) == len(hidden or (0,)) + 2
    monkeypatch.setattr(_supervised_itq, "_MOST_CLASSES", N_CLASSES - 1)
    found = learnt(0.3)
    assert len(found.encoder_.weights) == len(hidden or (0,)) + 1
    Z, *_ = blocks(X, found._network_of(X, y)[0].project(X), None, 0.3)
    assert Z[:, D:].var(axis=0).sum() == pytest.approx(0.3, rel=1e-4)


def test_at_its_end_it_is_csq_with_predictable_centres(monkeypatch):
    assert learnt(1).n_iter_ == 5  # of few classes, scores are rotated
    monkeypatch.setattr(_supervised_itq, "_FEW_CLASSES", N_CLASSES)
    found = learnt(1)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    loss = CSQ(centres="predictable")
    csq = DeepHash(16, loss=loss, training=SHORT, random_state=seed).fit(X, y)
    np.testing.assert_array_equal(found.encode(X), csq.encode(X))
    assert len(found.encoder_.weights) == len(NetworkConfig().hidden or (0,)) + 1
    assert found.n_iter_ == len(found.objective_) == 0


def test_where_codes_are_fewer_than_classes_scores_are_rotated_too(monkeypatch):
    monkeypatch.setattr(_supervised_itq, "_FEW_CLASSES", 0)
    found = learnt(1, n_bits=3)
    assert found.encoder_.n_bits == 3
    assert found.n_iter_ == 5


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
    trained = []
    real = DeepSupervisedITQ._network_of

    def counted(self, *args):
        found = real(self, *args)
        trained.append(found[0])
        return found

    monkeypatch.setattr(DeepSupervisedITQ, "_network_of", counted)
    found = learnt("validated", n_iter=2)
    assert found.supervision_ in found.validation_.shares
    assert len({id(each) for each in trained}) <= 7 < len(trained)


def test_a_bundle_classifies_by_it():
    few = {"supervision": 0.9, "training.max_epochs": 15, "n_iter": 5}
    source = Input("vectors", X, y, "made")
    bundle = fit_bundle(source, method="deep-supervised-itq", n_bits=32, parameters=few)
    assert len(bundle.codebook) == N_CLASSES
    found = bundle.codebook.names[bundle.classify(X).rows]
    assert np.mean(found == y) > 0.8


def test_mistakes():
    with pytest.raises(ArgumentError, match="supervision must be 'validated'"):
        learnt("auto")
    with pytest.raises(ArgumentError, match="supervision must be"):
        learnt(1.5)
    with pytest.raises(ArgumentError, match="n_iter must be an integer"):
        learnt("validated", n_iter="x")
    torch = pytest.importorskip("torch")
    with pytest.raises(ArgumentError, match="takes features: leave"):
        learnt(0.5, network=NetworkConfig(backbone=torch.nn.Identity()))
