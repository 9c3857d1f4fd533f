"""Image files run through the network once; whatever changes runs again."""

from pathlib import Path

import numpy as np
import pytest

from fewbits import backbones
from fewbits.backbones import Backbone
from fewbits.bundle import Bundle
from fewbits.errors import FeatureError
from fewbits.inputs import Input
from fewbits.learners import LSH
from fewbits.training import fit_bundle


class Counting(Backbone):
    """The bytes of a file, or of an array, are its features."""

    id = "counting"
    kind = "images"
    n_features = 4
    fingerprint = "f"

    def __init__(self):
        self.seen = []

    def extract(self, items, *, progress=None):
        self.seen.extend(items)
        return np.array([list(_content(item)) for item in items], np.float32)


def _content(item):
    if isinstance(item, np.ndarray):
        return item.tobytes()
    try:
        return Path(item).read_bytes()
    except OSError as error:
        raise FeatureError(f"{item} is not a readable image") from error


@pytest.fixture
def backbone(tmp_path, monkeypatch):
    counting = Counting()
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(backbones, "load", lambda name: counting)
    return counting


@pytest.fixture
def cached(tmp_path):
    return lambda: sorted((tmp_path / "cache").rglob("*.npy"))


@pytest.fixture
def paths(tmp_path):
    paths = [tmp_path / f"{i}.png" for i in range(5)]
    for i, path in enumerate(paths):
        path.write_bytes(bytes([i, 2 * i, i * i, 9]))
    return paths


@pytest.fixture
def bundle():
    X = np.random.default_rng(0).normal(size=(9, 4))
    return Bundle(LSH(8, random_state=0).fit(X).encoder_, backbone="counting")


def test_fit_build_and_search_extract_once(backbone, paths):
    images = Input("images", paths, None, "folder")
    bundle = fit_bundle(images, n_bits=8, backbone="counting")
    built = bundle.with_items(paths)
    built.search_records([str(path) for path in paths])
    assert backbone.seen == paths
    expected = np.array([list(path.read_bytes()) for path in paths], np.float32)
    np.testing.assert_array_equal(bundle.features(paths), expected)


def test_a_path_from_another_folder_is_another_file(bundle, backbone, paths, tmp_path):
    bundle.features(paths)
    (tmp_path / "other").mkdir()
    others = [path.rename(tmp_path / "other" / path.name) for path in paths]
    bundle.features(others)
    assert backbone.seen == paths + others


def test_a_changed_file_is_extracted_again(bundle, backbone, paths):
    bundle.features(paths)
    paths[2].write_bytes(b"abcd")
    assert bundle.features(paths)[2].tolist() == list(b"abcd")
    assert len(backbone.seen) == 10


def test_a_damaged_part_is_extracted_again(bundle, backbone, paths, cached):
    expected = bundle.features(paths)
    (part,) = cached()
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    for _ in range(2):
        np.testing.assert_array_equal(bundle.features(paths), expected)
    assert len(backbone.seen) == 10


def test_nothing_else_is_kept(bundle, backbone, paths, cached, monkeypatch):
    arrays = [np.arange(4, dtype=np.uint8)] * 3
    for items in (arrays, [paths[0], arrays[0]], paths[:1]):
        bundle.features(items)
    monkeypatch.setattr(backbone, "kind", "texts")
    texts = [path.with_suffix("").name for path in paths]
    monkeypatch.chdir(paths[0].parent)
    for path, text in zip(paths, texts, strict=True):
        path.rename(text)
    bundle.features(texts)
    assert cached() == []


def test_a_missing_file_is_named_by_the_backbone(bundle, backbone, paths):
    paths[1].unlink()
    with pytest.raises(FeatureError, match=r"1\.png is not a readable image"):
        bundle.features(paths)
