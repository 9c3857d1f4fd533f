import numpy as np
import pytest

from fewbits.backbones import Backbone, cached_features


class Counting(Backbone):
    id = "counting"
    kind = "vectors"
    n_features = 2
    fingerprint = "f"

    def __init__(self):
        self.seen = []

    def extract(self, items, *, progress=None):
        self.seen.extend(items)
        if progress is not None:
            progress(len(items), len(items))
        return np.array([[item, -item] for item in items], np.float32)


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path))
    return lambda: sorted(tmp_path.glob("counting-*/*.npy"))


def test_extracts_once(parts):
    backbone = Counting()
    first = cached_features(backbone, range(2500), "key")
    second = cached_features(backbone, range(2500), "key")
    assert backbone.seen == list(range(2500))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[:, 0], range(2500))


def test_another_key_is_another_cache(parts):
    backbone = Counting()
    cached_features(backbone, range(2500), "key")
    cached_features(backbone, range(2500), "other")
    assert len(backbone.seen) == 5000


def test_an_interrupt_resumes(parts, monkeypatch):
    backbone = Counting()
    original = backbone.extract

    def interrupted(items, *, progress=None):
        if 1024 in items:
            raise KeyboardInterrupt
        return original(items)

    monkeypatch.setattr(backbone, "extract", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cached_features(backbone, range(2500), "key")
    monkeypatch.undo()
    assert backbone.seen == list(range(1024))


def test_a_damaged_part_is_extracted_again(parts):
    backbone = Counting()
    expected = cached_features(backbone, range(2500), "key")
    damaged = parts()[1]
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    parts()[2].unlink()
    backbone.seen.clear()
    np.testing.assert_array_equal(
        cached_features(backbone, range(2500), "key"), expected
    )
    assert backbone.seen == list(range(1024, 2500))


@pytest.mark.parametrize("cached", [False, True])
def test_progress_counts_all_items(parts, cached):
    seen = []
    if cached:
        cached_features(Counting(), range(2500), "key")
    cached_features(
        Counting(), range(2500), "key", progress=lambda *done: seen.append(done)
    )
    assert seen == [(1024, 2500), (2048, 2500), (2500, 2500)]


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "file" / "cache"))
    features = cached_features(Counting(), range(2500), "key")
    np.testing.assert_array_equal(features[:, 0], range(2500))
