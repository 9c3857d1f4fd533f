"""Every command that is printed as the next one runs as it is printed."""

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

import fewbits
from tests.cli._calling import run

#: Commands whose output ends with another, and what follows them.
FIRST = {
    "fit x.npy -o c -b 8": "fit build search",
    "fit t.csv --column title --label kind --id sku -m lsh -o 'my c' -b 8": (
        "fit build search"
    ),
    "fit t.csv --column a --column b -m lsh -o c -b 2": "fit build search",
    "fit pictures -m lsh -o c -b 8": "fit build search",
    "build c t.txt -b 8": "build search",
    "build c t.csv --column title -b 8": "build search",
    "build c t.csv --codes hash --id sku": "build search",
    "build c v.npz --column x --id names -b 8": "build search",
    "build c v.npz --id names -b 8": "build search",
    "build c v.parquet --id sku -b 8": "build search",
    "build c numbers.csv --id id -b 2": "build search",
    "data export digits d.npy": "data build search",
    "data export digits d.npz --queries q.npz": "data build search",
    "compare x.npy -m lsh -b 8 --bytes 40 --n-queries 8": "compare build search",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    X = np.random.default_rng(0).normal(size=(120, 8)).astype(np.float32)
    names = [f"s {i}" for i in range(120)]
    np.save("x.npy", X)
    np.savez("v.npz", x=X, names=names)
    parquet.write_table(pa.table({"sku": names, "v": [*X]}), "v.parquet")
    rows = [
        f"s{i},text {i},{'xyz'[i % 3]},{i / 7},{i * i},ff{i:04x}" for i in range(40)
    ]
    Path("t.csv").write_text("\n".join(["sku,title,kind,a,b,hash", *rows]))
    rows = [f"{7 * i},{i / 3},{i % 5}" for i in range(40)]
    Path("numbers.csv").write_text("\n".join(["id,a,b", *rows]))
    Path("t.txt").write_text("\n".join(f"a text {i}" for i in range(40)))
    Path("pictures").mkdir()
    for i in range(3):
        Image.new("RGB", (9, 9), (i, 9, 80 * i)).save(f"pictures/{i} .png")
    return tmp_path


@pytest.mark.parametrize("first", FIRST)
def test_the_next_command_runs_as_printed(first):
    words, names = shlex.split(first), []
    while words:
        names.append(words[0])
        lines = run(*words).splitlines()
        ends = [x.removeprefix("next: fewbits ") for x in lines if "next: " in x]
        words = shlex.split(ends[0]) if ends else []
    assert " ".join(names) == FIRST[first]


def test_every_command_that_prints_another_is_here():
    folder = Path(fewbits.__file__).parent / "cli"
    printing = {
        p.stem for p in folder.glob("*.py") if "next: {" in p.read_text("utf-8")
    }
    assert printing == {"_build", "_compare", "_data", "_fit"}
