"""What sparse maps see and learn from fewer rows: its cells, figures and page."""

import numpy as np
import pytest

from experiments import _sparse_maps_page, sparse_maps
from experiments._features import FeatureSet
from fewbits.encoders import LinearEncoder
from fewbits.learners import SparseProjections


@pytest.fixture
def features():
    """Rows of 16 features, of which the last eight hardly differ."""
    X = np.random.default_rng(0).normal(size=(320, 16)).astype(np.float32)
    X[:, 8:] *= 0.01
    return FeatureSet(X[20:], X[:20], np.arange(300) % 3, np.arange(20) % 3)


def test_rows_and_lengths():
    cells = list(sparse_maps.lineup("icd10", (5000, 256), 1))
    asked = {(cell["rows"], cell["bits"]) for cell in cells}
    assert asked == {(64, 256), (256, 256), (1024, 256), (5000, 256), (5000, 64)}
    assert len(cells) == 4 * 5 + 2


def test_variance_that_is_seen(features):
    X = features.database
    whole = SparseProjections(4, density=1.0, random_state=0).fit(X).encoder_
    assert sparse_maps.variance_seen(whole, features) == pytest.approx(1)
    two = LinearEncoder(np.eye(16, 2, dtype=np.float32), np.ones(2, np.float32))
    share = X[:, :2].var(axis=0).sum() / X.var(axis=0).sum()
    assert sparse_maps.variance_seen(two, features) == pytest.approx(share)


@pytest.mark.filterwarnings("ignore:.* bits (is|are) constant")
def test_fewer_rows_are_learnt_from(features, results, monkeypatch):
    monkeypatch.setattr(sparse_maps, "load_features", lambda *_: features)
    monkeypatch.setattr(sparse_maps, "LENGTHS", (8,))
    sparse_maps.main(["digits"], 2, ["SP 10%", "SP 100%"])
    text = "\n".join(_sparse_maps_page.sparse_maps())
    assert "|  | 4 rows | 16 rows | 64 rows | 300 rows |" in text
    assert "|  | 8 bits | 16 bits |" in text
    assert "SP 10% less SP 100%: " in text
    assert " with 4 rows, " in text


def test_nothing_without_measurements(results):
    assert list(_sparse_maps_page.sparse_maps()) == []
