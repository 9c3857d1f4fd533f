"""Sums of differences from the nearest words, and words of training images alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from research.common import vlad as module
from research.common.vlad import Vlad, vlad

WORDS = np.array([[0, 0], [10, 0]], np.float32)


def test_each_descriptor_counts_at_the_nearest_word():
    vectors = np.array([[1, 0], [1, 2], [10, -4]], np.float32)
    expected = np.array([2, 2, 0, -4]) / np.sqrt(24)
    np.testing.assert_allclose(vlad(vectors, WORDS), expected, rtol=1e-6)


@pytest.mark.parametrize("vectors", [np.empty((0, 2)), WORDS])
def test_an_image_that_differs_in_nothing_gives_zeros(vectors):
    np.testing.assert_array_equal(vlad(np.float32(vectors), WORDS), np.zeros(4))


def test_words_are_of_training_images(monkeypatch):
    pytest.importorskip("cv2")
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(4)]
    seen = []
    splits = {"train": np.array([0, 2]), "test": np.array([1, 3])}
    data = SimpleNamespace(items=images, splits=splits)
    describe = module._sift

    def noted(item):
        seen.append(next(i for i, image in enumerate(images) if image is item))
        return describe(item)

    monkeypatch.setattr(module, "_sift", noted)
    backbone = Vlad(data)
    assert backbone.words.shape == (64, 128)
    assert sorted(seen) == [0, 2]
    found = backbone.extract(images[:2])
    assert found.shape == (2, backbone.n_features)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(found[1:], backbone.extract(images[1:2]))
    assert backbone.extract([]).shape == (0, 8192)
