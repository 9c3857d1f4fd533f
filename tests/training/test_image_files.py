"""Image files run through the network once; whatever changes runs again."""

from pathlib import Path

import numpy as np
import pytest

import fewbits
from fewbits import Collection, backbones
from fewbits.backbones import Backbone
from fewbits.errors import FeatureError
from fewbits.inputs import Input
from fewbits.learners import LSH


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
def collection(backbone):
    X = np.random.default_rng(0).normal(size=(9, 4))
    learner = LSH(8, random_state=0).fit(X)
    return Collection.from_learner(learner, X, backbone="counting")


def test_fit_build_and_search_extract_once(backbone, paths):
    images = Input("images", paths, None, "folder")
    collection = fewbits.fit(images, bits=8, backbone="counting")
    collection.add(paths)
    collection.search([str(path) for path in paths])
    assert backbone.seen == paths
    expected = np.array([list(path.read_bytes()) for path in paths], np.float32)
    np.testing.assert_array_equal(collection.features(paths), expected)


def test_a_path_from_another_folder_is_another_file(
    collection, backbone, paths, tmp_path
):
    collection.features(paths)
    (tmp_path / "other").mkdir()
    others = [path.rename(tmp_path / "other" / path.name) for path in paths]
    collection.features(others)
    assert backbone.seen == paths + others


def test_a_changed_file_is_extracted_again(collection, backbone, paths):
    collection.features(paths)
    paths[2].write_bytes(b"abcd")
    assert collection.features(paths)[2].tolist() == list(b"abcd")
    assert len(backbone.seen) == 10


def test_a_damaged_part_is_extracted_again(collection, backbone, paths, cached):
    expected = collection.features(paths)
    (part,) = cached()
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    for _ in range(2):
        np.testing.assert_array_equal(collection.features(paths), expected)
    assert len(backbone.seen) == 10


def test_nothing_else_is_kept(collection, backbone, paths, cached, monkeypatch):
    arrays = [np.arange(4, dtype=np.uint8)] * 3
    for items in (arrays, [paths[0], arrays[0]], paths[:1]):
        collection.features(items)
    monkeypatch.setattr(backbone, "kind", "texts")
    texts = [path.with_suffix("").name for path in paths]
    monkeypatch.chdir(paths[0].parent)
    for path, text in zip(paths, texts, strict=True):
        path.rename(text)
    collection.features(texts)
    assert cached() == []


def test_a_missing_file_is_named_by_the_backbone(collection, backbone, paths):
    paths[1].unlink()
    with pytest.raises(FeatureError, match=r"1\.png is not a readable image"):
        collection.features(paths)
