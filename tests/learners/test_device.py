"""The same learners with their linear algebra done by torch."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import ArgumentError, MissingExtraError
from fewbits.learners import (
    CCAITQ,
    ITQ,
    PCAH,
    KernelMapped,
    SparseProjections,
    SpectralHashing,
    _axes,
    _device,
    _procrustes,
    _rows,
    on_device,
)
from tests.learners._learners import every_learner

torch = pytest.importorskip("torch")

X = np.random.default_rng(0).normal(size=(200, 24)) @ np.diag(np.geomspace(1, 9, 24))
Y = np.arange(200) % 3

heavy = pytest.mark.parametrize(
    "learner",
    [
        PCAH(8),
        SpectralHashing(8),
        ITQ(8, n_iter=3, random_state=0),
        ITQ(40, n_iter=3, random_state=0),
        CCAITQ(8, n_iter=3, random_state=0),
        SparseProjections(8, density=0.5, n_iter=3, random_state=0),
        SparseProjections(40, density=0.5, n_iter=3, random_state=0),
    ],
    ids=lambda learner: f"{type(learner).__name__}-{learner.n_bits}",
)

no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=no_gpu)]


@pytest.fixture
def by_products(monkeypatch):
    monkeypatch.setattr(_procrustes, "_GRAM_FROM", 2)


@heavy
@pytest.mark.usefixtures("by_products")
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("n", [200, 20])
def test_torch_learns_the_same(learner, n, name):
    expected = clone(learner).fit(X[:n], Y[:n])
    with on_device(name):
        found = clone(learner).fit(X[:n], Y[:n])
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-6)
    assert np.mean(found.transform(X) != expected.transform(X)) < 1e-3


@heavy
@pytest.mark.usefixtures("by_products")
@pytest.mark.parametrize("name", [None, *DEVICES])
@pytest.mark.parametrize("n", [200, 20])
def test_large_matrices_in_single_precision(learner, n, name, monkeypatch):
    expected = clone(learner).fit(X[:n], Y[:n])
    for module in (_rows, _axes):
        monkeypatch.setattr(module, "LARGE", 8)
    monkeypatch.setattr("fewbits.learners.sparse_projections._splitting.LARGE", 8)
    monkeypatch.setattr(_rows, "_DOUBLE_LIMIT", 0)
    monkeypatch.setattr(_device, "_ROOMY", 2)
    monkeypatch.setattr(_procrustes, "_PRODUCTS_FROM", 2)
    with on_device(name) if name else nullcontext():
        found = clone(learner).fit(X[:n], Y[:n])
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-3)
    assert np.mean(found.transform(X) != expected.transform(X)) < 0.02


@every_learner
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_which_learners_use_a_device(learner, monkeypatch):
    if isinstance(learner, KernelMapped):
        pytest.skip("what it wraps may use it")
    seen, put = [], _device._Torch.put
    monkeypatch.setattr(
        _device._Torch, "put", lambda self, x: (seen.append(x), put(self, x))[1]
    )
    with on_device("cpu"):
        clone(learner).fit(X, Y)
    assert bool(seen) == learner.uses_device


def test_torch_does_the_products(monkeypatch):
    seen = []
    monkeypatch.setattr(
        _device._Torch, "signs", lambda _, x: seen.append(x) or torch.sign(x)
    )
    with on_device("cpu"):
        ITQ(8, n_iter=2, random_state=0).fit(X)
    assert [type(x) for x in seen] == [torch.Tensor] * 2
    ITQ(8, n_iter=2, random_state=0).fit(X)
    assert len(seen) == 2


def test_deep_learners_train_where_the_block_says(monkeypatch):
    from fewbits.learners.deep._torch import as_device

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert as_device("auto").type == "cuda"
    with on_device("cpu"):
        assert as_device("auto").type == "cpu"
        assert as_device("cuda").type == "cuda"


def test_unknown_device():
    with pytest.raises(ArgumentError, match="no device 'tpu9'"), on_device("tpu9"):
        pass


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_missing_device():
    with pytest.raises(ArgumentError, match="torch finds no GPU"), on_device("cuda"):
        pass


def test_device_without_torch(monkeypatch):
    monkeypatch.setattr(_device, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="device 'cuda' needs torch"):
        on_device("cuda").__enter__()


def test_automatic_device_does_without_torch(monkeypatch):
    monkeypatch.setattr(_device, "find_spec", lambda name: None)
    with on_device("auto"):
        assert not _device.here().is_torch
