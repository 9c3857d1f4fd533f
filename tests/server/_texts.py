"""A backbone that counts letters, and collections of texts by it."""

import numpy as np

from fewbits import Collection, backbones
from fewbits.backbones import Backbone


class Letters(Backbone):
    """Counts of sixteen letters."""

    id, kind, n_features, fingerprint = "letters", "texts", 16, "1" * 64

    def extract(self, items, *, progress=None):
        counts = [[text.count(x) for x in "abcdefghiklmnors"] for text in items]
        return np.array(counts, np.float32) - 0.5


def text_collection(monkeypatch, path=None):
    """Return a collection of twenty texts, with a column beside them."""
    monkeypatch.setattr(backbones, "load", {"letters": Letters()}.__getitem__)
    texts = [
        f"{word} {i}" for i, word in enumerate(["arm", "leg", "shark", "bite"] * 5)
    ]
    columns = {"n": [*range(20)]}
    options = {"backbone": "letters", "bits": 16, "columns": columns}
    return Collection.create(path, texts, **options)
