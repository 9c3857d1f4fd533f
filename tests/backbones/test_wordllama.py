import numpy as np
import pytest

from fewbits import backbones, datasets
from fewbits.backbones import _wordllama
from fewbits.errors import MissingExtraError


def test_finds_the_shark():
    backbone, data = backbones.load("wordllama-256"), datasets.load_icd10()
    rows = [i for i, text in enumerate(data.items) if "shark" in text or i % 50 == 0]
    features = backbone.extract([data.items[i] for i in rows])
    (query,) = backbone.extract(["bitten by a shark"])
    nearest = np.argsort(-(features @ query))[:3]
    assert any(data.keys[rows[i]].startswith("W56.41") for i in nearest)


def test_unit_length_and_empty_texts():
    features = backbones.load("wordllama-256").extract(["a text", "", "   "])
    lengths = np.linalg.norm(features, axis=1)
    assert lengths[0] == pytest.approx(1, abs=1e-6)
    assert lengths[1] == 0


def test_missing_package(monkeypatch):
    monkeypatch.setattr(_wordllama, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[text\]'"):
        _wordllama.WordLlama()
