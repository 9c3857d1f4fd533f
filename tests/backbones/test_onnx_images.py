"""Networks that are found by the checksum of their file."""

import sys
from itertools import count

import numpy as np
import pytest

from fewbits import backbones
from fewbits.backbones import OnnxImages, keep_network, pixels
from fewbits.errors import ArtefactError, MissingDataError, MissingExtraError

numbers = count()
image = np.random.default_rng(0).integers(0, 256, (12, 12, 3), dtype=np.uint8)


@pytest.fixture
def network(make_network):
    """Return a network that none has read: what was read by its name is remembered."""
    return make_network(OnnxImages.format, next(numbers))


@pytest.fixture
def path(network, tmp_path, monkeypatch):
    """Keep a network in a cache of its own, from which it has not been read."""
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / f"{keep_network(network)}.onnx"


def test_pixels_are_from_0_to_1(network):
    (row,) = OnnxImages(network).extract([image])
    expected = image.transpose(2, 0, 1).ravel().astype(np.float32) / 255
    np.testing.assert_array_equal(row, expected)


def test_found_by_name(path, network):
    found = backbones.load(path.stem)
    assert isinstance(found, OnnxImages)
    assert (found.id, found.kind, found.size) == (path.stem, "images", 12)
    assert found.fingerprint == OnnxImages(network).fingerprint
    assert path.stem in backbones.available()


def test_other_names_are_not_ours(path):
    (path.parent / "onnx-0123abcd-flat").mkdir()  # features in the cache
    (path.parent / "onnx-mine.onnx").touch()
    assert [x for x in backbones.available() if "onnx" in x] == [path.stem]


@pytest.mark.parametrize("where", [0.1, 0.5, 0.99])
def test_damage(path, where):
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match=r"\.onnx is damaged: its checksum"):
        backbones.load(path.stem)


def test_absent(path):
    path.unlink()
    with pytest.raises(MissingDataError, match=f"no network .*{path.stem}.onnx: write"):
        backbones.load(path.stem)


@pytest.mark.parametrize("content", [b"", b"no network\nat all", b"\x08\x08\x3a\x02"])
def test_no_network(content, capfd):
    with pytest.raises(ArtefactError, match="is not a network: ") as caught:
        OnnxImages(content)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_network_for_other_pixels(make_network):
    with pytest.raises(ArtefactError, match="its format is 'another', expected"):
        OnnxImages(make_network("another"))


def test_without_onnxruntime(network, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[vision\]'"):
        OnnxImages(network)


def test_pixels():
    grey = np.full((5, 9), 7, np.uint8)
    found = pixels([image, grey], 12)
    assert found.dtype == np.uint8
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found[0], image.transpose(2, 0, 1))
    np.testing.assert_array_equal(found[1], np.full((3, 12, 12), 7))
    assert pixels([], 12).shape == (0, 3, 12, 12)
