"""A collection of images, with features that need no network."""

import numpy as np
from PIL import Image

from fewbits import Collection, backbones
from fewbits._images import open_rgb
from fewbits.backbones import Backbone
from fewbits.encoders import LinearEncoder


class Thumbnail(Backbone):
    """Sixteen grey values as features."""

    id, kind, n_features = "thumbnail", "images", 16
    fingerprint = "0" * 64

    def extract(self, items, *, progress=None):
        small = [open_rgb(item).convert("L").resize((4, 4)) for item in items]
        return np.stack([np.asarray(x, np.float32).ravel() for x in small]) - 128


def image_collection(folder, monkeypatch, n=6, **options):
    """Return a collection of pictures, and their paths."""
    monkeypatch.setenv("FEWBITS_CACHE", str(folder / "cache"))
    monkeypatch.setattr(backbones, "load", lambda name: Thumbnail())
    rng, paths = np.random.default_rng(0), []
    for i in range(n):
        pixels = np.kron(rng.integers(0, 255, (4, 4, 3)), np.ones((8, 8, 1)))
        paths.append(folder / f"{i}.png")
        Image.fromarray(pixels.astype(np.uint8)).save(paths[-1])
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    options = {"encoder": encoder, "backbone": "thumbnail", "ids": range(n), **options}
    return Collection.create(None, paths, **options), paths
