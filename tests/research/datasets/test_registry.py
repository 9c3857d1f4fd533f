"""Data sets by name, and their downloads."""

import hashlib
import os

import pytest

from fewbits.errors import ArgumentError
from research.common import datasets
from research.common.datasets import _image_sets, _wordnet_glove
from research.common.datasets._download import Remote


def test_load_by_name():
    assert datasets.load("digits").name == "digits"
    for function in (datasets.load, datasets.download):
        with pytest.raises(ArgumentError, match="'mnist'"):
            function("mnist")


@pytest.mark.parametrize("count", [1, 2])
def test_download_of_files(tmp_path, monkeypatch, count):
    remotes = []
    for i in range(count):
        (tmp_path / f"{i}").write_bytes(b"x" * (10 + i))
        digest = hashlib.sha256(b"x" * (10 + i)).hexdigest()
        url = (tmp_path / f"{i}").as_uri()
        remotes.append(Remote(url, f"set/{i}.bin", f"sha256:{digest}", 10 + i))
    monkeypatch.setitem(datasets.REMOTES, "fashion-mnist", remotes)
    calls = []
    path = datasets.download("fashion-mnist", progress=lambda *a: calls.append(a))
    assert len([*(path / "set").iterdir()]) == count
    assert calls == [(10, 10), (11, 11)][:count]


def test_every_remote_is_where_its_loader_looks():
    paths = {
        "wordnet": _wordnet_glove.WORDNET_PATHS,
        "fashion-mnist": _image_sets.FASHION_MNIST_PATHS,
        "cifar10": _image_sets.CIFAR10_PATHS,
        "caltech101": _image_sets.CALTECH101_PATHS,
    }
    for name, remotes in datasets.REMOTES.items():
        assert {remote.name for remote in remotes} & {*paths[name]}
        for remote in remotes:
            algorithm, _, digest = remote.checksum.partition(":")
            assert len(digest) == 2 * hashlib.new(algorithm).digest_size


# Read before the fixtures take the variable away.
REAL = os.environ.get("FEWBITS_DATA")
SIZES = {"fashion-mnist": 70_000, "cifar10": 60_000, "caltech101": 9_144}


@pytest.mark.skipif(not REAL, reason="FEWBITS_DATA does not name a folder of data")
@pytest.mark.parametrize("name", SIZES)
def test_real_data(name, monkeypatch):
    monkeypatch.setenv("FEWBITS_DATA", REAL)
    data = datasets.load(name)
    assert len(data) == len(data.keys) == len(data.labels["class"]) == SIZES[name]
    assert sum(map(len, data.splits.values())) <= SIZES[name]
    for row in range(0, len(data), len(data) // 50):
        assert min(data.items[row].open().size) >= 28
