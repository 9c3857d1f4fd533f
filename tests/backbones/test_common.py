"""What every backbone promises. A new one adds one line to EXAMPLES."""

import numpy as np
import pytest

from fewbits import backbones
from fewbits.backbones import keep_network
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
    "onnx": pictures(5),
}


@pytest.fixture(autouse=True, scope="module")
def kept(cache, network):
    """Keep a network; return its id."""
    return {"onnx": keep_network(network)}


@pytest.fixture
def backbone(name, kept):
    return backbones.load(kept.get(name, name))


def test_all_are_tested(kept):
    assert {kept.get(name, name) for name in EXAMPLES} == set(backbones.available())


@pytest.mark.parametrize("name", EXAMPLES)
class TestBackboneContract:
    def test_id(self, name, backbone, kept):
        assert backbone.id == kept.get(name, name)

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


def test_unknown_name():
    with pytest.raises(ArgumentError, match="no backbone 'resnet'; known:"):
        backbones.load("resnet")
