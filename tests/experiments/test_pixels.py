"""Codes from pixels, at a size for which a moment is enough."""

import json

import numpy as np
import pytest
import torch

from experiments import _pixels_page, pixels
from experiments._resnet import Augment, resnet
from fewbits.datasets import ArrayImages, Dataset


@pytest.fixture
def images(monkeypatch):
    """Let dark and light images of 8 x 8 pixels stand for CIFAR-10."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 620)
    array = (
        rng.integers(0, 200, (1240, 8, 8, 3)) + 50 * y[:, None, None, None]
    ).astype(np.uint8)
    names = list(map(str, range(len(y))))
    made = Dataset(
        "cifar10",
        "images",
        ArrayImages(array, names),
        names,
        {"class": np.array(["dark", "light"])[y]},
        {"train": np.arange(1000), "test": np.arange(1000, 1240)},
    )
    monkeypatch.setattr(pixels.datasets, "load_cifar10", lambda: made)
    monkeypatch.setattr(pixels, "SIDE", 8)
    monkeypatch.setitem(pixels.SIZES, "small", pixels.Size((1,), 4, 1, 64, 1))
    caches = pixels.load_images, pixels.classifying_features
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_command_trains_from_pixels(images, results):
    pixels.main(["cifar10-pixels"], "small", 1, [16], ["csq"])
    lines = (results / "pixels.jsonl").read_text().splitlines()
    cells = [json.loads(line) for line in lines]
    assert [cell["cell"]["control"] for cell in cells] == list(pixels.CONTROLS)
    for cell in cells:
        assert cell["figures"]["map"] > 0.7  # .5 by chance
        assert cell["figures"]["accuracy"] > 0.8
        assert cell["figures"]["rotated"] > 0.5
    _pixels_page.write()
    page = (results / "pixels.md").read_text("utf-8")
    assert "### small: 4 layers, 4 channels at first, 1 epochs" in page
    assert "| csq + D |" in page


def test_official_split(images):
    problem = pixels.load_images("cifar10-2-pixels", 0)
    assert problem.query.tolist() == list(range(1000, 1240))
    assert len(problem.train) == len(problem.base) == 1000
    assert problem.X.shape == (1240, 3, 8, 8)


def test_every_loss_is_measured_at_every_length():
    cells = list(pixels.lineup("cifar10-pixels", "full", 0))
    # Losses and their control, more controls of one, real numbers; codebooks of LLC.
    assert len(cells) == 7 * 3 * 2 + 2 * 3 + 3 + 4 * 6 + 2 * 3
    assert pixels.lengths_of("SVD") == (4, 6, 8)


def test_codes_of_classes_are_decoded(images, results):
    pixels.main(["cifar10-pixels"], "small", 1, [16], ["LLC"])
    found = json.loads((results / "pixels.jsonl").read_text())["figures"]
    assert found["exact"] <= found["nearest"] <= 1
    assert found["soft"] > 0.8
    _pixels_page.write()
    assert "(MHD)" in (results / "pixels.md").read_text("utf-8")


def test_svd_is_of_a_network_that_classifies(images, results, monkeypatch):
    monkeypatch.setattr(pixels, "LLC_LENGTHS", (1,))
    pixels.main(["cifar10-pixels"], "small", 1, [1], ["SVD"])
    found = json.loads((results / "pixels.jsonl").read_text())["figures"]
    assert found["unique"] == 2
    codebook = pixels.codebook_of_classifier("cifar10-pixels", "small", 1, "SVD", 0)
    assert sorted(codebook.ravel()) == [-1, 1]
    features = pixels.classifying_features("cifar10-pixels", "small", 0)
    problem = pixels.load_images("cifar10-pixels", 0)
    light = problem.labels[problem.train] == "light"
    means = features[light].mean(axis=0), features[~light].mean(axis=0)
    assert np.abs(means[0] - means[1]).max() > 3 * features[light].std(axis=0).min()


def test_real_numbers_stand_beside_codes(images, results):
    pixels.main(["cifar10-pixels"], "small", 1, [16], [pixels.REAL])
    found = json.loads((results / "pixels.jsonl").read_text())["figures"]
    assert min(found["map"], found["predicted"], found["accuracy"]) > 0.7
    _pixels_page.write()
    assert "by the predicted class" in (results / "pixels.md").read_text("utf-8")


def test_crops_and_mirrors():
    torch.manual_seed(0)
    ramp = torch.arange(64.0).view(1, 1, 8, 8).expand(1000, 3, 8, 8)
    augment = Augment(2)
    seen = augment(ramp)
    assert seen.shape == ramp.shape
    slopes = seen[:, 0, 3, 4] - seen[:, 0, 3, 3]
    assert set(slopes.tolist()) == {-1.0, 1.0}
    inner = {tuple(image[0, 2:6, 2:6].flatten().tolist()) for image in seen}
    assert len(inner) == 2 * 5 * 5  # mirrored or not, every shift
    assert (seen[:, 0] == seen[:, 2]).all()  # the same for each channel
    assert augment.eval()(ramp) is ramp


@pytest.mark.parametrize(
    ("blocks", "width", "n_features", "n_parameters"),
    [((2, 2, 2, 2), 64, 512, 11_168_832), ((3, 3, 3), 16, 64, 271_824)],
)
def test_shapes(blocks, width, n_features, n_parameters):
    network = resnet(blocks, width).eval()
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, n_features)
    assert sum(p.numel() for p in network.parameters()) == n_parameters
