"""A trained backbone is deployed without torch, and nothing changes."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from typer.testing import CliRunner

from fewbits import Collection, backbones
from fewbits.cli import app
from fewbits.errors import ArgumentError, FeatureError, MissingExtraError
from fewbits.learners.deep import DeepHash, export_backbone
from tests.learners._made import made

SIZE = 32
y = np.repeat(np.arange(4), 20)
rng = np.random.default_rng(0)
images = rng.integers(0, 80, size=(80, 3, SIZE, SIZE), dtype=np.uint8)
for label in range(4):
    images[y == label, label % 3, : SIZE // 2 * (1 + label // 3)] += 150
pictures = list(images.transpose(0, 2, 3, 1))  # what a person has: height, width, RGB

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.25, 0.3)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEWBITS_CACHE", str(folder))
        yield folder


def convolutions():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Conv2d(8, 12, 1),
    )


def fitted_to(items):
    learner = made(
        DeepHash,
        16,
        backbone=convolutions(),
        backbone_rate=1.0,
        learning_rate=0.01,
        max_epochs=15,
        device="cpu",  # a GPU rounds what its convolutions multiply
        random_state=0,
    )
    return learner.fit(items, y)


@pytest.fixture(scope="module")
def fitted():
    return fitted_to(images)


@pytest.fixture(scope="module")
def collection(fitted):
    name = export_backbone(fitted.network_.backbone, size=SIZE)
    return collection_of(fitted, name)


def collection_of(fitted, name):
    return Collection.from_parts(fitted.encoder_, backbone=name)


def filled(collection):
    return Collection.create(None, list(pictures), encoder=collection)


def assert_same_codes(fitted, collection, items):
    features, expected = collection.features(pictures), fitted.extract(items)
    np.testing.assert_allclose(features, expected, atol=1e-4 * np.abs(expected).max())
    clear = np.abs(fitted.encoder_.project(expected)).min(axis=1) > 1e-3
    assert clear.mean() > 0.8
    codes = collection.encode(pictures)
    assert np.array_equal(codes[clear], fitted.encode(items)[clear])


def test_codes_are_those_of_the_learner(fitted, collection):
    assert_same_codes(fitted, collection, images)


def test_normalised_outside(collection):
    """Given float32 items, `mean` and `std` at export do what was done to them."""
    mean, std = (np.array(x, np.float32).reshape(3, 1, 1) for x in (MEAN, STD))
    items = (images / np.float32(255) - mean) / std
    fitted = fitted_to(items)
    name = export_backbone(fitted.network_.backbone, size=SIZE, mean=MEAN, std=STD)
    assert name != collection.backbone
    assert_same_codes(fitted, collection_of(fitted, name), items)


@pytest.mark.parametrize("kind", ["paths", "images"])
def test_any_kind_of_image(collection, tmp_path, kind):
    items = [Image.fromarray(picture) for picture in pictures[::8]]
    for number, image in enumerate(items):
        image.save(tmp_path / f"{number}.png")
    if kind == "paths":
        items = [tmp_path / f"{number}.png" for number in range(len(items))]
    expected = collection.encode(pictures[::8])
    np.testing.assert_array_equal(collection.encode(items), expected)


def test_pixels_to_train_on_are_those_of_files(fitted, collection):
    large = rng.integers(0, 256, (3, 50, 70, 3), dtype=np.uint8)
    expected = fitted.extract(backbones.pixels(large, SIZE))
    tolerance = 1e-4 * np.abs(expected).max()
    np.testing.assert_allclose(collection.features(large), expected, atol=tolerance)


WITHOUT_TORCH = """
import os, sys
sys.modules["torch"] = sys.modules["onnx"] = sys.modules["sklearn"] = None
from fewbits import Collection
collection, cache = Collection.open(sys.argv[1]), os.environ["FEWBITS_CACHE"]
os.environ["FEWBITS_CACHE"] = sys.argv[1]
try:
    collection.search(sys.argv[2:], k=1)
except FileNotFoundError as error:
    assert "there is no network" in str(error)
os.environ["FEWBITS_CACHE"] = cache
print(collection.kind, collection.search(sys.argv[2:], k=1).ids.ravel().tolist())
"""


def test_searched_in_a_process_without_torch(collection, tmp_path):
    filled(collection).save(tmp_path / "c")
    paths = [tmp_path / f"{row}.png" for row in (0, 25, 79)]
    for path in paths:
        Image.fromarray(pictures[int(path.stem)]).save(path)
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, tmp_path / "c", *paths],
        capture_output=True,
        text=True,
        check=True,
    )
    kind, ids = run.stdout.split(" ", 1)
    expected = filled(collection).search([pictures[i] for i in (0, 25, 79)], k=1)
    assert (kind, ids.strip()) == ("images", str(expected.ids.ravel().tolist()))
    assert [y[i] for i in expected.ids.ravel()] == [0, 1, 3]


def test_the_command_line(collection, tmp_path):
    filled(collection).save(tmp_path / "c")
    Image.fromarray(pictures[5]).save(tmp_path / "5.png")
    command = ["search", str(tmp_path / "c"), str(tmp_path / "5.png")]
    assert CliRunner().invoke(app, command).exit_code == 0


def test_the_same_weights_have_the_same_name(fitted, collection, capfd):
    net = nn.Sequential(*fitted.network_.backbone).train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    assert export_backbone(net, size=SIZE) == collection.backbone
    assert net.training  # and it is as it was
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())
    assert capfd.readouterr() == ("", "")


def test_no_source_in_the_file(collection, cache):
    file = cache / f"{collection.backbone}.onnx"
    assert __file__.encode() not in file.read_bytes()


class Branching(nn.Module):
    def forward(self, image):
        return image if image.sum() > 0 else -image


class Chance(nn.Module):
    def forward(self, image):
        return image.mean((2, 3)) + torch.rand(1)


class NotANumber(nn.Module):
    def forward(self, image):
        return image.mean((2, 3)) * np.nan


class Named(nn.Module):
    def forward(self, image):
        return {"features": image}


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (Chance(), FeatureError, "differ by 0.* between torch and ONNX"),
        (NotANumber(), FeatureError, "differ by nan between torch and ONNX"),
        (Named(), FeatureError, "no features of images .*: 'dict' object has no"),
        (nn.Conv2d(1, 4, 8), FeatureError, r"no features of images \(4, 3, 8, 8\)"),
        (len, ArgumentError, "module must be a torch module, got <built-in"),
    ],
)
def test_refused_in_one_line(module, error, message, cache, capfd):
    before = set(cache.iterdir())
    with pytest.raises(error, match=message) as caught:
        export_backbone(module, size=8)
    assert "\n" not in str(caught.value)
    assert set(cache.iterdir()) == before
    assert capfd.readouterr() == ("", "")


def test_old_torch_is_told(cache, monkeypatch, capfd):
    monkeypatch.setattr(torch, "__version__", "2.6.0+cu124")
    told = (
        r"cannot write this .* as ONNX: Could.* \(torch 2\.6\.0\+cu124 may be too old"
    )
    with pytest.raises(ArgumentError, match=told):
        export_backbone(Branching(), size=8)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "size must be"),
        ({"mean": 0.5}, "mean must be 3 numbers, for red, green and blue, got 0.5"),
        ({"mean": (0, 0, np.inf)}, "mean must be 3 numbers"),
        ({"mean": "rgb"}, "mean must be 3 numbers"),
        ({"std": (1, 1, 0)}, "std must be 3 numbers, .* and above 0, got"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ArgumentError, match=message):
        export_backbone(convolutions(), **({"size": 8} | options))


def test_without_onnxscript(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[deep\]'"):
        export_backbone(convolutions(), size=8)
