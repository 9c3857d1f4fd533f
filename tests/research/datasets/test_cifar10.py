"""CIFAR-10 in all its forms, and the splits of the hashing literature."""

import numpy as np
import pytest

from fewbits.errors import ArtefactError
from research.common import datasets

RECORD = 1 + 3072
CLASSES = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
]


@pytest.fixture
def jpegs(make_jpeg):
    return {
        f"{split}/{name}/{i:04d}.jpg": make_jpeg(i)
        for split, count in (("test", 1), ("train", 3))
        for name in CLASSES
        for i in range(count)
    }


@pytest.fixture
def batches():
    rng = np.random.default_rng(0)
    files = {"cifar-10-batches-bin/batches.meta.txt": b"airplane\n"}
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        records = rng.integers(0, 256, (4, RECORD), dtype=np.uint8)
        records[:, 0] %= 10
        files[f"cifar-10-batches-bin/{name}.bin"] = records.tobytes()
    return files


def check_jpegs(data):
    assert len(data) == 40
    assert data.keys[0] == "train/airplane/0000.jpg"
    assert data.splits["train"].tolist() == list(range(30))
    assert data.splits["test"].tolist() == list(range(30, 40))
    assert data.labels["class"][[0, 29, 30]].tolist() == [
        "airplane",
        "truck",
        "airplane",
    ]
    assert data.items[39].open().size == (9, 8)


@pytest.mark.parametrize(
    ("name", "mode"), [("cifar10.tar.xz", "w:xz"), ("cifar10.tar", "w")]
)
def test_tar_of_jpegs(tmp_path, make_tar, jpegs, name, mode):
    make_tar(tmp_path / name, {f"./{k}": v for k, v in jpegs.items()}, mode)
    check_jpegs(datasets.load_cifar10(tmp_path))


@pytest.mark.parametrize("below", ["", "cifar10"])
def test_folder_of_jpegs(tmp_path, make_folder, jpegs, below):
    make_folder(tmp_path / below, jpegs)
    check_jpegs(datasets.load_cifar10(tmp_path))


def check_batches(data, batches):
    assert len(data) == 24
    assert data.splits["test"].tolist() == [20, 21, 22, 23]
    assert data.keys[20] == "test/00000"
    record = batches["cifar-10-batches-bin/data_batch_2.bin"][RECORD : 2 * RECORD]
    pixels = np.asarray(data.items[5].open())
    assert pixels.shape == (32, 32, 3)
    # Planes of red, green and blue, each row by row.
    assert pixels[3, 7, 1] == record[1 + 1024 + 3 * 32 + 7]
    assert data.labels["class"][5] == CLASSES[record[0]]


def test_official_archive(tmp_path, make_tar, batches):
    make_tar(tmp_path / "cifar-10-binary.tar.gz", batches, "w:gz")
    check_batches(datasets.load_cifar10(tmp_path), batches)


def test_official_folder(tmp_path, make_folder, batches):
    make_folder(tmp_path, batches)
    check_batches(datasets.load_cifar10(tmp_path), batches)
    folder = tmp_path / "cifar-10-batches-bin"
    check_batches(datasets.load_cifar10(folder), batches)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "whole records"),
        (bytes(RECORD + 1), "whole records"),
        (b"\x0a" * RECORD, "labels above 9"),
        (None, r"there is no data_batch_3\.bin"),
    ],
)
def test_damaged_batch(tmp_path, make_tar, batches, data, message):
    name = "cifar-10-batches-bin/data_batch_3.bin"
    batches[name] = data
    if data is None:
        del batches[name]
    make_tar(tmp_path / "cifar-10-binary.tar.gz", batches, "w:gz")
    with pytest.raises(ArtefactError, match=message):
        datasets.load_cifar10(tmp_path)


@pytest.mark.parametrize("name", ["readme", "train/spaceship/0.jpg"])
def test_not_cifar10(tmp_path, make_tar, name):
    make_tar(tmp_path / "cifar10.tar", {name: b"x"})
    with pytest.raises(ArtefactError, match="there is no SPLIT"):
        datasets.load_cifar10(tmp_path)
