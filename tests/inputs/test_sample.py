"""A sample of what was read, to learn from."""

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits import Collection, inputs
from fewbits.cli import app
from fewbits.errors import ArgumentError
from fewbits.inputs import Input

VECTORS = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)


def test_labels_stay_with_their_items(tmp_path):
    texts = tmp_path / "t.csv"
    texts.write_text("id,text,kind\n" + "".join(f"{i},n {i},k{i}\n" for i in range(50)))
    source = inputs.read(texts, column="text", label="kind", id="id")
    found = source.sample(20, 3)
    numbers = [int(text.split()[1]) for text in found.values]
    assert len({*numbers}) == 20
    assert numbers == sorted(numbers)
    assert found.labels.tolist() == [f"k{i}" for i in numbers]
    assert found.ids is None
    assert found.stored_columns()["text"].to_pylist() == found.values
    assert found.stored_columns()["kind"].to_pylist() == found.labels.tolist()
    again, other = source.sample(20, 3), source.sample(20, 4)
    assert found.values == again.values != other.values


def test_no_more_than_there_are():
    source = Input("vectors", VECTORS, None, "x")
    assert source.sample(50) is source
    with pytest.raises(ArgumentError, match="the number of rows must be at least 1"):
        source.sample(0)


def test_fit_learns_from_the_sample(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, VECTORS)
    fit = [
        "fit",
        str(path),
        "-b",
        "4",
        "--random-state",
        "5",
        "-o",
        str(tmp_path / "b"),
    ]
    out = CliRunner().invoke(app, [*fit, "--sample", "30"], catch_exceptions=False)
    assert "from 30 vectors" in out.stdout
    some = inputs.read(path).sample(30, 5).values
    assert isinstance(some, np.ndarray)
    np.save(path, some)
    CliRunner().invoke(app, [*fit, "--overwrite"], catch_exceptions=False)
    whole = Collection.open(tmp_path / "b").encoder
    CliRunner().invoke(app, [*fit, "--sample", "30", "--overwrite"])
    assert whole.fingerprint == Collection.open(tmp_path / "b").encoder.fingerprint
