"""The same learners with their linear algebra done by torch."""

import sys

import numpy as np
import pytest
from scipy.linalg import hadamard
from sklearn.base import clone

from fewbits.errors import (
    ArgumentError,
    ArtefactError,
    InterruptedWarning,
    MissingExtraError,
    OutOfMemoryError,
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
    _neighbour_training,
)
from fewbits.learners._core import _rows
from fewbits.learners._fast_neighbour_codes import transform_there
from fewbits.learners._linalg import _orthogonal
from fewbits.learners.fitting import on_device, on_progress, shared_steps
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
        NeighbourCodes(40, nested_bits=(8,)),
        FastNeighbourCodes(16),
        FastNeighbourCodes(80),
        FastNeighbourCodes(16, n_rounds=3),
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
def to_torch(monkeypatch):
    """Return a list of the arrays that torch is given."""
    given, from_numpy = [], torch.from_numpy
    monkeypatch.setattr(torch, "from_numpy", lambda x: given.append(x) or from_numpy(x))
    return given


@pytest.fixture
def by_products(monkeypatch):
    """Take matrices of a few rows for large ones."""
    monkeypatch.setattr(_orthogonal, "_GRAM_FROM", 2)


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
def test_large_matrices_in_single_precision(learner, monkeypatch):
    expected = clone(learner).fit(X[:200], Y[:200])
    for module in (_rows, _orthogonal):
        monkeypatch.setattr(module, "LARGE", 8)
    monkeypatch.setattr("fewbits.learners._sparse_projections.LARGE", 8)
    monkeypatch.setattr(_rows, "_DOUBLE_LIMIT", 0)
    monkeypatch.setattr(_orthogonal, "_PRODUCTS_FROM", 2)
    single = clone(learner).fit(X[:200], Y[:200])
    np.testing.assert_allclose(single.objective_, expected.objective_, rtol=1e-3)
    assert np.mean(single.transform(X) != expected.transform(X)) < 0.02


@pytest.mark.parametrize("size", [16, 32])
def test_transform_of_tensors(size):
    x = np.random.default_rng(0).normal(size=(3, size)).astype(np.float32)
    transforms = transform_there(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(transforms, x @ hadamard(size), rtol=1e-4, atol=1e-4)


def test_smallest_of_tensors():
    distances = np.random.default_rng(0).normal(size=(5, 300)).astype(np.float32)
    ids, least = _neighbour_training.smallest(torch.from_numpy(distances), 7)
    np.testing.assert_array_equal(ids.numpy(), np.argsort(distances, axis=1)[:, :7])
    np.testing.assert_array_equal(least.numpy(), np.sort(distances, axis=1)[:, :7])


@neighbours
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("n", [200, 20])
def test_torch_trains_alike(learner, name, n, monkeypatch):
    # For one short iteration: a sign that rounding flips changes all steps behind it.
    monkeypatch.setattr(_neighbour_training, "_BATCHES", 10)
    # Nor do few held-out rows decide, which rounding may change, too.
    options = {"n_iter": 1, "random_state": 0, "training__validation": 0}
    learner = clone(learner).set_params(**options)
    expected = clone(learner).fit(X[:n])
    with on_device(name):
        found = clone(learner).fit(X[:n])
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=0.01)
    assert np.mean(found.transform(X) != expected.transform(X)) < 0.05


@pytest.mark.parametrize(
    "learner",
    [NeighbourCodes(16), FastNeighbourCodes(16)],
)
@pytest.mark.parametrize("name", DEVICES)
def test_torch_ends_about_where_numpy_does(name, learner):
    learner = clone(learner).set_params(n_iter=2, random_state=0)
    expected = clone(learner).fit(X)
    with on_device(name):
        found = clone(learner).fit(X)
    assert found.objective_[-1] == pytest.approx(expected.objective_[-1], rel=0.05)
    np.testing.assert_allclose(found.recalls_[-1:], expected.recalls_[-1:], atol=0.1)
    assert type(found.encoder_) is type(expected.encoder_)


def stop_after_two(done, n_iter, objective):
    if done == 2:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "learner",
    [
        NeighbourCodes(16),
        FastNeighbourCodes(16),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", DEVICES)
def test_fit_goes_on_where_it_began(learner, name, tmp_path, monkeypatch):
    monkeypatch.setattr(_neighbour_training, "_BATCHES", 5)
    learner = clone(learner).set_params(n_iter=3, random_state=0)
    with on_device(name):
        expected = clone(learner).fit(X)
        learner.set_params(checkpoint=tmp_path / "state.npz")
        with on_progress(stop_after_two):
            begun = clone(learner).fit(X)
        found = clone(learner).fit(X)
    assert (begun.n_iter_, found.n_iter_) == (2, 3)
    np.testing.assert_array_equal(found.objective_, expected.objective_)
    np.testing.assert_array_equal(found.encode(X), expected.encode(X))


@pytest.mark.parametrize("learner", [ITQ(8), NeighbourCodes(8)], ids=repr)
def test_fit_does_not_go_on_elsewhere(learner, tmp_path):
    # Where there are axes of equal eigenvalues, the other library has others.
    learner = clone(learner).set_params(
        n_iter=3, random_state=0, checkpoint=tmp_path / "state.npz"
    )
    with on_progress(stop_after_two), pytest.warns(InterruptedWarning):
        clone(learner).fit(X)
    told = "device was 'NumPy', now 'cpu'"
    with on_device("cpu"), pytest.raises(ArtefactError, match=told):
        clone(learner).fit(X)
    assert clone(learner).fit(X).n_iter_ == 3


@pytest.mark.parametrize("name", DEVICES)
def test_interrupted_fit_on_a_device_is_kept(name):
    learner = NeighbourCodes(8, n_iter=3, random_state=0)
    with (
        on_device(name),
        on_progress(stop_after_two),
        pytest.warns(InterruptedWarning, match="after 2 of 3"),
    ):
        found = learner.fit(X)
    assert len(found.recalls_) == 3
    assert found.encode(X).shape == (200, 1)


@pytest.mark.parametrize("learner", [PCAH(8), ITQ(40), NeighbourCodes(8)], ids=repr)
def test_shared_steps_are_those_of_one_device(learner, to_torch):
    def given_by_a_fit():
        to_torch.clear()
        with on_device("cpu"):
            clone(learner).fit(X)
        return [x.shape for x in to_torch]

    learner = clone(learner)
    if "n_iter" in learner.get_params():
        learner.set_params(n_iter=1, random_state=0)
    alone = given_by_a_fit()
    with shared_steps():
        clone(learner).fit(X)
        assert given_by_a_fit() == alone  # nothing of what NumPy found
        assert len(given_by_a_fit()) < len(alone)


@heavy
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_rows(learner):
    few = np.random.default_rng(0).normal(size=(2, 5))
    learner = clone(learner).set_params(n_bits=1)
    expected = clone(learner).fit(few, [0, 1])
    with on_device("cpu"):
        found = clone(learner).fit(few, [0, 1])
    assert found.encode(few).shape == expected.encode(few).shape


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublas"),
    ],
    ids=repr,
)
def test_device_without_room(error, monkeypatch):
    def refuse(*_):
        raise error

    monkeypatch.setattr(torch, "where", refuse)  # signs are taken by it
    told = "out of memory on cpu: learn there from fewer rows"
    with on_device("cpu"):
        with pytest.raises(OutOfMemoryError, match=told):
            ITQ(8, random_state=0).fit(X)
        with pytest.raises(MemoryError, match=told):
            NeighbourCodes(8, random_state=0).fit(X)


def test_other_errors_are_passed_on(monkeypatch):
    def refuse(*_):
        raise RuntimeError("something else")

    monkeypatch.setattr(torch, "where", refuse)
    with on_device("cpu"), pytest.raises(RuntimeError, match="something else"):
        ITQ(8, random_state=0).fit(X)


@every_learner
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_which_learners_use_a_device(learner, to_torch):
    if isinstance(learner, KernelMapped):
        pytest.skip("what it wraps may use it")
    with on_device("cpu"):
        clone(learner).fit(X, Y)
    assert bool(to_torch) == learner.uses_device


def test_torch_does_nothing_outside_the_block(to_torch):
    with on_device("cpu"):
        ITQ(8, n_iter=2, random_state=0).fit(X)
    n_given = len(to_torch)
    ITQ(8, n_iter=2, random_state=0).fit(X)
    assert len(to_torch) == n_given > 2


def test_deep_learners_train_where_the_block_says(monkeypatch):
    from fewbits.learners.deep._network import as_device

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
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="device 'cuda' needs torch"):
        on_device("cuda").__enter__()


def test_automatic_device_does_without_torch(monkeypatch, to_torch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with on_device("auto"):
        assert ITQ(8, n_iter=2, random_state=0).fit(X).n_iter_ == 2
    assert not to_torch
