"""One long text among many costs no more than itself, and no vector is there twice."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pytest
from pyarrow import parquet

from fewbits import inputs

READ = """
import sys
import pyarrow as pa, pyarrow.csv, pyarrow.compute, pyarrow.parquet, pyarrow.feather
from fewbits import inputs

def peak():  # ru_maxrss would begin with that of the parent
    status = open("/proc/self/status").read()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])

before = peak()
found = inputs.read(sys.argv[1], column="text")
assert len(found) == 100_000 and len(found.values[7]) == 1 << 20
print(peak() - before)
"""


@pytest.fixture(scope="module")
def texts():
    found = [f'so "good" {i:06} ' + "and long, " * 24 for i in range(100_000)]
    found[7] = "a" * (1 << 20)
    return pa.table({"text": found})


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak")
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".feather"])
def test_one_text_of_a_megabyte_among_many(tmp_path, suffix, texts):
    path, table, size = tmp_path / f"x{suffix}", texts, texts.nbytes
    if suffix == ".parquet":
        parquet.write_table(table, path, use_dictionary=False)
    elif suffix == ".feather":
        pa.feather.write_feather(table, path)
    elif suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        plain = pa.compute.replace_substring(table["text"], '"', "")
        lines = pa.compute.binary_join_element_wise('{"text": "', plain, '"}', "")
        path.write_text("\n".join(lines.to_pylist()))
    found = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )
    assert size / 2 < int(found.stdout) < 3 * size


def test_labels_stay_as_short_as_they_are():
    names = ["a", "b"] * 20_000
    names[5] = "c" * 100_000
    table = pa.table({"v": np.eye(2).tolist() * 20_000, "kind": names})
    tracemalloc.start()
    found = inputs.read(table, label="kind")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.labels.tolist() == names
    assert peak < 20e6  # of fixed width they were 16 GB


@pytest.mark.parametrize("n_shards", [1, 3])
def test_vectors_are_never_there_twice(tmp_path, n_shards):
    X = np.ones((20_000, 25), np.float32)
    column = pa.FixedSizeListArray.from_arrays(X.reshape(-1), 25)
    for i in range(n_shards):
        parquet.write_table(
            pa.table({"v": column}), tmp_path / f"{i}.parquet", row_group_size=1000
        )
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    found = inputs.read(tmp_path).values
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.shape == (20_000 * n_shards, 25)
    assert peak < 1.6 * found.nbytes
    assert pa.total_allocated_bytes() - before < 0.2 * X.nbytes
