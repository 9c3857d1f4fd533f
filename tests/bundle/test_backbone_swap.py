"""Another backbone under the same name is refused; the same one renamed is not."""

import re
from dataclasses import replace

import numpy as np
import pytest

from fewbits import backbones
from fewbits.backbones import Backbone
from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError

ENCODER = LinearEncoder(np.eye(3), np.array([-2.5, -1.5, -2.5]))
TEXTS = ["a", "an owl", "one more", "letters without end"]


class Lengths(Backbone):
    """Numbers of letters, "e" and words, times a factor that the fingerprint tells."""

    kind = "texts"
    n_features = 3

    def __init__(self, factor=1):
        self.id, self.factor = f"lengths-{factor}", factor

    @property
    def fingerprint(self):
        return f"counted {self.factor} times"

    def extract(self, items, *, progress=None):
        counts = [(len(each), each.count("e"), len(each.split())) for each in items]
        return self.factor * np.array(counts, np.float32)


@pytest.fixture
def known(monkeypatch):
    """Backbones of this machine by name."""
    names = {"lengths": Lengths(), "renamed": Lengths(), "other": Lengths(-1)}
    monkeypatch.setattr(backbones, "load", names.__getitem__)
    return names


@pytest.fixture
def folder(known, tmp_path):
    bundle = Bundle(ENCODER, None, "lengths", known["lengths"].fingerprint)
    items = bundle.with_items(TEXTS, ids=[5, 3, 9, 1], keep_vectors="float32")
    items.save(tmp_path / "b")
    return tmp_path / "b"


def test_a_swapped_backbone_is_refused(folder, known):
    known["lengths"] = Lengths(-1)
    bundle = Bundle.load(folder)
    for change in (bundle.add, bundle.upsert, bundle.encode, bundle.features):
        with pytest.raises(ArtefactError, match="another version of lengths: finger"):
            change(["an eel"])
    for search in (bundle.search, bundle.search_reranked):
        with pytest.raises(ArtefactError, match="another version of lengths: finger"):
            search(["an eel"], 1)
    assert Bundle.load(folder).collection.ids.tolist() == [5, 3, 9, 1]


def test_a_renamed_backbone_is_the_same(folder, known):
    del known["lengths"]
    renamed = replace(Bundle.load(folder), backbone="renamed")
    assert renamed.search(TEXTS, 1).ids.ravel().tolist() == [5, 3, 9, 1]
    better = LinearEncoder(-np.eye(3)[:, :2], np.zeros(2))
    new = Bundle(better, None, "renamed", known["renamed"].fingerprint)
    made = new.reencode(Bundle.load(folder))
    assert (made.backbone, made.collection.ids.tolist()) == ("renamed", [5, 3, 9, 1])
    expected = better.encode(Lengths().extract(TEXTS))
    np.testing.assert_array_equal(made.collection.codes, expected)


@pytest.mark.parametrize(
    ("name", "fingerprint", "told"),
    [
        ("lengths", "counted -1 times", "lengths (counted -1 t)"),
        ("lengths", None, "lengths"),
        (None, None, "none"),
    ],
)
def test_vectors_of_another_backbone_are_not_encoded(folder, name, fingerprint, told):
    new = Bundle(ENCODER, None, name, fingerprint)
    message = f"backbone, lengths (counted 1 ti); this bundle takes those of {told}"
    with pytest.raises(ArgumentError, match=f"{re.escape(message)}$"):
        new.reencode(Bundle.load(folder))
