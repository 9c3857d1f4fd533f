"""The same learners with their linear algebra done by torch."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import (
    ArgumentError,
    FewbitsError,
    InterruptedWarning,
    MissingExtraError,
)
from fewbits.learners import (
    CCAITQ,
    ITQ,
    PCAH,
    FastNeighbourCodes,
    KernelMapped,
    NeighbourCodes,
    SparseProjections,
    SpectralHashing,
    _axes,
    _device,
    _procrustes,
    _rows,
    on_device,
    on_progress,
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

neighbours = pytest.mark.parametrize(
    "learner",
    [
        NeighbourCodes(8),
        NeighbourCodes(40, lengths=(8,)),
        NeighbourCodes(16, density=0.3),
        NeighbourCodes(16, n_hidden=32),
        FastNeighbourCodes(16),
        FastNeighbourCodes(80),
        FastNeighbourCodes(16, block_size=1, n_rounds=3),
    ],
    ids=repr,
)

no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=no_gpu)]


@pytest.fixture(autouse=True)
def one_thread():
    """Use one: steps are small, and threads that wait on busy cores take seconds."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


@neighbours
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("n", [200, 20])
def test_torch_trains_alike(learner, name, n):
    # For one iteration: a sign that rounding flips changes all steps behind it.
    learner = clone(learner).set_params(n_iter=1, random_state=0)
    expected = clone(learner).fit(X[:n])
    with on_device(name):
        found = clone(learner).fit(X[:n])
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=0.01)
    assert np.mean(found.transform(X) != expected.transform(X)) < 0.05


@pytest.mark.parametrize("density", [1.0, 0.3])
@pytest.mark.parametrize("name", DEVICES)
def test_torch_ends_about_where_numpy_does(name, density):
    learner = NeighbourCodes(16, density=density, n_iter=8, random_state=0)
    expected = clone(learner).fit(X)
    with on_device(name):
        found = clone(learner).fit(X)
    assert found.objective_[-1] == pytest.approx(expected.objective_[-1], rel=0.05)
    assert found.recalls_[-1] == pytest.approx(expected.recalls_[-1], abs=0.1)
    assert type(found.encoder_) is type(expected.encoder_)


@pytest.mark.parametrize("name", DEVICES)
def test_fit_begun_here_goes_on_there(name, tmp_path):
    learner = NeighbourCodes(
        8, n_iter=4, random_state=0, checkpoint=tmp_path / "state.npz"
    )

    def stop(done, n_iter, objective):
        if done == 2:
            raise KeyboardInterrupt

    with on_progress(stop), pytest.warns(InterruptedWarning):
        begun = clone(learner).fit(X)
    with on_device(name):
        found = clone(learner).fit(X)
    assert found.n_iter_ == 4
    np.testing.assert_array_equal(found.objective_[:2], begun.objective_)
    assert not learner.checkpoint.exists()


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


def test_too_little_memory_on_a_device():
    with pytest.raises(FewbitsError, match="out of memory on cpu"), on_device("cpu"):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
    with pytest.raises(RuntimeError, match="else"), on_device("cpu"):
        raise RuntimeError("else")


def test_device_without_torch(monkeypatch):
    monkeypatch.setattr(_device, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="device 'cuda' needs torch"):
        on_device("cuda").__enter__()


def test_automatic_device_does_without_torch(monkeypatch):
    monkeypatch.setattr(_device, "find_spec", lambda name: None)
    with on_device("auto"):
        assert not _device.here().is_torch
