"""What every backbone promises. A new one adds one line to EXAMPLES."""

import numpy as np
import pytest

from fewbits import backbones
from fewbits.errors import ArgumentError, FeatureError


def pictures(n):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (40 + i, 60, 3), dtype=np.uint8) for i in range(n)]


EXAMPLES = {
    "wordllama-256": ["broken arm", "", "two words", "Übelkeit", "x" * 500],
    "efficientnet-lite0-128": pictures(5),
    "efficientnet-lite0-128-2x2": pictures(5),
    "efficientnet-lite0-96": pictures(5),
    "classic": pictures(5),
}


@pytest.fixture(autouse=True, scope="module")
def vocabulary(cache):
    """Learn the only one, which `load("classic")` finds."""
    return backbones.ClassicDescriptors.learn(pictures(1))


def test_all_are_tested(vocabulary):
    assert {*EXAMPLES, vocabulary.id} - {"classic"} == set(backbones.available())


@pytest.mark.parametrize("name", EXAMPLES)
class TestBackboneContract:
    def test_shape_and_type(self, name):
        backbone = backbones.load(name)
        features = backbone.extract(EXAMPLES[name])
        assert features.shape == (5, backbone.n_features)
        assert features.dtype == np.float32
        assert np.isfinite(features).all()

    def test_alone_as_in_a_batch(self, name):
        backbone, items = backbones.load(name), EXAMPLES[name]
        together = backbone.extract(items)
        for row, item in enumerate(items):
            np.testing.assert_array_equal(backbone.extract([item])[0], together[row])

    def test_no_items(self, name):
        backbone = backbones.load(name)
        assert backbone.extract([]).shape == (0, backbone.n_features)

    def test_progress(self, name):
        seen = []
        backbones.load(name).extract(
            EXAMPLES[name], progress=lambda done, total: seen.append((done, total))
        )
        assert seen[-1] == (5, 5)

    def test_wrong_kind_of_item(self, name):
        with pytest.raises(FeatureError):
            backbones.load(name).extract([object()])


def test_fingerprints_differ():
    prints = {backbones.load(name).fingerprint for name in EXAMPLES}
    assert len(prints) == len(EXAMPLES)


def test_unknown_name():
    with pytest.raises(ArgumentError, match="no backbone 'resnet'; known are"):
        backbones.load("resnet")
