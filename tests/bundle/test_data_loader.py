"""Workers of PyTorch's DataLoader search a bundle that the parent has searched."""

import numpy as np
import pytest

from fewbits import _kernels
from fewbits.bundle import Bundle
from fewbits.learners import ITQ

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(400, 16)).astype(np.float32)


class Neighbours(torch.utils.data.Dataset):
    """The nearest items of each vector, looked up when it is asked for."""

    def __init__(self, bundle):
        self.bundle = bundle

    def __len__(self):
        return len(X)

    def __getitem__(self, row):
        found = self.bundle.search(X[row : row + 1], k=5)
        return row, found.ids[0], found.distances[0]


@pytest.fixture(params=["in memory", "on disk"])
def bundle(request, tmp_path):
    made = Bundle(ITQ(16, random_state=0).fit(X).encoder_).with_items(X)
    if request.param == "in memory":
        return made
    made.save(tmp_path / "b")
    return Bundle.load(tmp_path / "b").add(X[:50])


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4:UserWarning")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_four_forked_workers(bundle):
    _kernels.set_num_threads(2)
    try:
        wanted = bundle.search(X, k=5)  # threads run before the fork
        loader = torch.utils.data.DataLoader(
            Neighbours(bundle),
            batch_size=25,
            num_workers=4,
            multiprocessing_context="fork",
            timeout=60,
        )
        rows, ids, distances = map(torch.cat, zip(*loader, strict=True))
    finally:
        _kernels.set_num_threads(None)
    assert rows.tolist() == [*range(len(X))]
    assert np.array_equal(ids.numpy(), wanted.ids)
    assert np.array_equal(distances.numpy(), wanted.distances)
