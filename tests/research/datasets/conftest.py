"""Tiny archives, and no data set of the machine in sight."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

from research.common.datasets import _files


@pytest.fixture(autouse=True)
def _only_the_tests_data(monkeypatch, tmp_path):
    monkeypatch.delenv("FEWBITS_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(_files, "DEBIAN", (tmp_path / "debian",))


def jpeg(seed=0, mode="RGB"):
    shape = (8, 9, 3) if mode == "RGB" else (8, 9)
    pixels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG")
    return out.getvalue()


def write_tar(path, files, mode="w"):
    """Write bytes by name; a TarInfo as value is added as it is."""
    with tarfile.open(path, mode) as tar:
        for name, data in files.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            content = b"" if isinstance(data, tarfile.TarInfo) else data
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def write_folder(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.fixture
def make_jpeg():
    return jpeg


@pytest.fixture
def make_tar():
    return write_tar


@pytest.fixture
def make_folder():
    return write_folder
