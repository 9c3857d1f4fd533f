"""Most tests run for collections in memory, and in a folder."""

import itertools

import numpy as np
import pytest

from fewbits import Collection, backbones
from fewbits.backbones import Backbone, pixels


@pytest.fixture(scope="session", params=["memory", "folder"])
def home(request, tmp_path_factory):
    """Return what puts a collection where it is tested: nowhere, or into a folder."""
    if request.param == "memory":
        return lambda collection: collection
    root, numbers = tmp_path_factory.mktemp("homes"), itertools.count()

    def in_folder(collection):
        path = root / f"c{next(numbers)}"
        collection.save(path)
        return Collection.open(path)

    return in_folder


class Colours(Backbone):
    """The mean colour of an image is its features."""

    id = "colours"
    kind = "images"
    n_features = 3
    fingerprint = "f"

    def extract(self, items, *, progress=None):
        return pixels(items, 8).mean(axis=(2, 3)).astype(np.float32)


@pytest.fixture
def colours(monkeypatch, tmp_path):
    """Return the id of a backbone for images that takes no time."""
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(backbones, "load", lambda name: Colours())
    return "colours"
