"""Fashion-MNIST from small idx files."""

import gzip
import struct

import numpy as np
import pytest

from fewbits.errors import ArtefactError, MissingDataError
from research.common import datasets


def idx(array):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes())


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "data" / "fashion-mnist"
    folder.mkdir(parents=True)
    for prefix, n in (("train", 7), ("t10k", 3)):
        images = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        labels = np.arange(n, dtype=np.uint8)
        (folder / f"{prefix}-images-idx3-ubyte.gz").write_bytes(idx(images))
        (folder / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(idx(labels))
    return folder


def test_load(folder):
    data = datasets.load_fashion_mnist(folder)
    assert len(data) == 10
    assert data.items.array.shape == (10, 28, 28)
    assert data.splits["train"].tolist() == list(range(7))
    assert data.splits["test"].tolist() == [7, 8, 9]
    assert data.keys[7] == data.items[7].name == "test/00000"
    assert data.labels["class"][[0, 6, 9]].tolist() == [
        "T-shirt/top",
        "Shirt",
        "Pullover",
    ]
    np.testing.assert_array_equal(data.items[8].open(), data.items.array[8])


def test_places(folder, monkeypatch, tmp_path):
    assert len(datasets.load_fashion_mnist(folder.parent)) == 10
    with pytest.raises(MissingDataError, match="research get fashion-mnist") as no:
        datasets.load_fashion_mnist()
    assert "\n" not in str(no.value)
    monkeypatch.setenv("FEWBITS_DATA", str(folder.parent))
    assert len(datasets.load("fashion-mnist")) == 10
    with pytest.raises(MissingDataError, match=str(tmp_path / "else")):
        datasets.load_fashion_mnist(tmp_path / "else")
    monkeypatch.delenv("FEWBITS_DATA")
    folder.parent.rename(tmp_path / "debian")
    assert len(datasets.load_fashion_mnist()) == 10


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no gzip",
        gzip.compress(b"\0\0\x08\x01" + b"\0" * 8),
        gzip.compress(b"\0\0\x08\x03\0\0"),
        gzip.compress(b"\0\0\x08\x03" + b"\xff" * 12),
        idx(np.zeros((7, 28, 28), np.uint8))[:-9],
        gzip.compress(gzip.decompress(idx(np.zeros((7, 28, 28), np.uint8)))[:-1]),
        gzip.compress(gzip.decompress(idx(np.zeros((7, 28, 28), np.uint8))) + b"x"),
        idx(np.zeros((7, 28, 27), np.uint8)),
        idx(np.zeros((6, 28, 28), np.uint8)),
    ],
    ids=str.split(
        "empty text labels short_header vast cut shorter longer narrow too_few"
    ),
)
def test_damaged_images(folder, data):
    (folder / "train-images-idx3-ubyte.gz").write_bytes(data)
    with pytest.raises(ArtefactError, match=r"train-\w+-idx"):
        datasets.load_fashion_mnist(folder)


def test_labels_out_of_range_and_missing(folder):
    path = folder / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(idx(np.array([0, 10, 1], np.uint8)))
    with pytest.raises(ArtefactError, match="labels above 9"):
        datasets.load_fashion_mnist(folder)
    path.unlink()
    with pytest.raises(MissingDataError, match="incomplete"):
        datasets.load_fashion_mnist(folder)
