"""Supervised ITQ beside a network: its ends, its formula and its encoder."""

from itertools import pairwise

import numpy as np
import pytest

from fewbits.encoders import LinearEncoder, MLPEncoder
from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.inputs import Input
from fewbits.learners import ITQ
from fewbits.learners.deep import DeepSupervisedITQ, NetworkConfig, TrainingConfig
from fewbits.learners.deep._linear_path import with_linear_path
from fewbits.learners.deep._supervised_itq import blocks
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


@pytest.mark.parametrize("hidden", [(), (8,), (8, 6)])
def test_a_linear_path_beside_a_network(hidden):
    sizes = (D, *hidden, 4)
    weights = [rng.normal(size=s) for s in pairwise(sizes)]
    biases = [rng.normal(size=n) for n in sizes[1:]]
    alone = (
        MLPEncoder(weights, biases) if hidden else LinearEncoder(weights[0], biases[0])
    )
    outer, bias = rng.normal(size=(D + 4, 5)), rng.normal(size=5)
    scores = X
    for i, (W, b) in enumerate(zip(weights, biases, strict=True)):
        scores = (np.maximum(scores, 0) if i else scores) @ W + b
    expected = np.hstack([X, scores]) @ outer + bias
    found = with_linear_path(alone, outer, bias)
    np.testing.assert_allclose(found.project(X), expected, rtol=1e-3, atol=1e-3)


def test_it_is_itq_of_both_blocks():
    found = learnt(0.3)
    network, _ = found._network_of(X, y)
    Z, *_ = blocks(X, network, 0.3)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-5)
    total = Z.var(axis=0)
    assert total[:D].sum() == pytest.approx(0.7, rel=1e-4)
    assert total[D:].sum() == pytest.approx(0.3, rel=1e-4)
    itq = ITQ(16, n_iter=5, random_state=0).fit(Z).encoder_
    # Margins are far above what the order of the sums changes.
    scores = itq.project(Z)
    clear = np.abs(scores) > 1e-4
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(
        (found.encoder_.project(X) >= 0)[clear], (scores >= 0)[clear]
    )


def test_supervision_ranks_known_classes_better():
    everything = np.arange(len(y))
    none, some = quality(learnt(0).encoder_, everything), learnt(0.5)
    assert quality(some.encoder_, everything) > none + 0.1
    assert isinstance(some.encoder_, MLPEncoder)


def test_validation_chooses_a_share_and_trains_a_network_a_fold(monkeypatch):
    trained = []
    real = DeepSupervisedITQ._network_of

    def counted(self, X, y):
        found = real(self, X, y)
        trained.append(found[0])
        return found

    monkeypatch.setattr(DeepSupervisedITQ, "_network_of", counted)
    found = learnt("validated", n_iter=2)
    assert found.supervision_ in found.validation_.shares
    assert len({id(each) for each in trained}) <= 4 < len(trained)


def test_a_bundle_classifies_by_it():
    few = {"supervision": 0.9, "training.max_epochs": 15, "n_iter": 5}
    source = Input("vectors", X, y, "made")
    bundle = fit_bundle(source, method="deep-supervised-itq", n_bits=32, parameters=few)
    assert len(bundle.codebook) == N_CLASSES
    found = bundle.codebook.names[bundle.classify(X).rows]
    assert np.mean(found == y) > 0.8


def test_mistakes():
    with pytest.raises(ArgumentError, match="from 0 to 1, or 'validated', got 'auto'"):
        learnt("auto")
    with pytest.raises(ArgumentError, match="supervision must be"):
        learnt(1.5)
    torch = pytest.importorskip("torch")
    with pytest.raises(ArgumentError, match="takes features: leave"):
        learnt(0.5, network=NetworkConfig(backbone=torch.nn.Identity()))
