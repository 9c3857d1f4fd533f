"""What every backbone promises. A new one adds one line to EXAMPLES."""

import copy
import sys

import numpy as np
import pytest

from fewbits import backbones
from fewbits.backbones._onnx_files import id_of, keep_network
from fewbits.errors import ArgumentError, FeatureError


def pictures(n):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (40 + i, 60, 3), dtype=np.uint8) for i in range(n)]


EXAMPLES = {
    "wordllama-256": ["broken arm", "", "two words", "Übelkeit", "x" * 500],
    "efficientnet-lite0-128": pictures(5),
    "efficientnet-lite0-128-2x2": pictures(5),
    "efficientnet-lite0-128-3x3": pictures(5),
    "efficientnet-lite0-96": pictures(5),
    "classic": pictures(5),
    "onnx": pictures(5),
}


@pytest.fixture(autouse=True, scope="module")
def kept(cache, network):
    """Keep one of each kind that is learnt; return their ids."""
    keep_network(network)
    learnt = backbones.ClassicDescriptors.learn(pictures(1))
    return {"classic": learnt.id, "onnx": id_of(network)}


@pytest.fixture
def backbone(name, kept):
    return backbones.load(kept.get(name, name))


def test_all_are_tested(kept):
    assert {kept.get(name, name) for name in EXAMPLES} == set(backbones.available())


def test_the_only_vocabulary_is_meant(kept):
    assert backbones.load("classic").id == kept["classic"]


@pytest.mark.parametrize("name", EXAMPLES)
class TestBackboneContract:
    def test_shape_and_type(self, name, backbone):
        features = backbone.extract(EXAMPLES[name])
        assert features.shape == (5, backbone.n_features)
        assert features.dtype == np.float32
        assert np.isfinite(features).all()

    def test_alone_as_in_a_batch(self, name, backbone):
        items = EXAMPLES[name]
        together = backbone.extract(items)
        for row, item in enumerate(items):
            np.testing.assert_array_equal(backbone.extract([item])[0], together[row])

    def test_no_items(self, name, backbone):
        assert backbone.extract([]).shape == (0, backbone.n_features)

    def test_progress(self, name, backbone):
        seen = []
        backbone.extract(
            EXAMPLES[name], progress=lambda done, total: seen.append((done, total))
        )
        assert seen[-1] == (5, 5)

    def test_wrong_kind_of_item(self, name, backbone):
        with pytest.raises(FeatureError):
            backbone.extract([object()])


def test_fingerprints_differ(kept):
    ids = [kept.get(name, name) for name in EXAMPLES]
    assert len({backbones.load(name).fingerprint for name in ids}) == len(ids)


@pytest.mark.parametrize("name", [n for n in EXAMPLES if "wordllama" not in n])
def test_how_images_are_opened_is_in_the_fingerprint(name, backbone, monkeypatch):
    """Else features that were kept before the rule changed would go on being used."""
    home = sys.modules[_where_fingerprint(type(backbone))]
    again = copy.copy(backbone)
    again.__dict__.pop("fingerprint", None)
    assert again.fingerprint == backbone.fingerprint
    again.__dict__.pop("fingerprint")
    monkeypatch.setattr(home, "PIXEL_RULE", "another")
    assert again.fingerprint != backbone.fingerprint


def _where_fingerprint(kind):
    return next(c for c in kind.__mro__ if "fingerprint" in vars(c)).__module__


def test_unknown_name():
    with pytest.raises(ArgumentError, match="no backbone 'resnet'; known are"):
        backbones.load("resnet")
