"""Processes that are killed at any moment: each change is there as a whole, or not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

N_KILLS = 20
PROGRAM = """
import os, random, signal, sys, time
import numpy as np
from fewbits import Collection
from fewbits.encoders import LinearEncoder

folder, n_kills = sys.argv[1], int(sys.argv[2])
ENCODER = LinearEncoder(np.eye(4), np.zeros(4))
X = np.eye(4, dtype=np.float32)

def write(col, acknowledge):
    col.drop_columns([name for name in col.columns if name != "n"])
    i = int(col["last"]["n"])
    while True:
        i += 1
        with col.transaction():
            col.add(X[:2], ids=[f"{i}a", f"{i}b"], columns={"n": [i, i]})
            col.upsert(X[:1], ids=["last"], columns={"n": [i]})
            if i > 3:
                col.delete([f"{i - 3}a", f"{i - 3}b"])
        os.write(acknowledge, f"{i} ".encode())
        name = f"tag {i % 4}"
        if name in col.tags():
            col.untag(name)
        col.tag(name)
        col.update(None, ids=["last"], columns={"n": [i], "once": [i]})
        col.drop_columns(["once"])
        if i % 3 == 0:
            col.restore(name)
        if i % 5 == 0:
            col.compact()

def last(col):
    assert {*col.columns} <= {"n", "once"}
    i = int(col["last"]["n"])
    ids = {"last", *(f"{j}{x}" for j in range(max(1, i - 2), i + 1) for x in "ab")}
    assert {*col} == ids, (i, {*col})
    return i

columns = {"n": np.zeros(1, np.int64)}
Collection.create(folder, X[:1], ids=["last"], columns=columns, encoder=ENCODER)
done = 0
for kill in range(n_kills):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        write(Collection.open(folder), writing)
    os.close(writing)
    begun = os.read(reading, 1).decode()
    time.sleep(random.Random(kill).random() * 0.2)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        acknowledged = int((begun + pipe.read()).split()[-1])
    col = Collection.open(folder)
    assert done < acknowledged <= last(col) <= acknowledged + 1
    done = last(col)
    for name in col.tags():
        assert name == f"tag {last(col.at(name)) % 4}"
    assert Collection.verify_folder(folder).is_intact
print(done)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_each_change_is_whole(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "c", str(N_KILLS)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= N_KILLS
