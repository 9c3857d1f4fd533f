"""A collection with every part that one can have, and what it answers."""

import numpy as np
import pyarrow as pa

from fewbits import Collection
from fewbits.classify import Calibration, Codebook
from fewbits.encoders import LinearEncoder
from fewbits.ood import learn_rejection

N, WIDTH = 30, 12
X = np.random.default_rng(0).normal(size=(N, WIDTH)).astype(np.float32)
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH), zero_bit=1)
NAMES = ["ant", "bee", "cat"]
BOOK = Codebook(ENCODER.encode(X[:3]), WIDTH, NAMES)


def learnt(**parts):
    """Return an encoder with class codes, calibrated, that rejects."""
    noise = np.random.default_rng(0).normal(0, 0.1, (60, WIDTH))
    items = np.repeat(X[:3], 20, axis=0) + noise
    parts = {
        "codebook": BOOK,
        "calibration": Calibration(0.25, np.linspace(-0.1, 0.1, WIDTH)),
        "rejection": learn_rejection(items, np.repeat(NAMES, 20)),
        **parts,
    }
    return Collection.from_parts(ENCODER, **parts)


def full(path=None, form="float32", n=N):
    """Return a collection with text ids, columns, vectors and classes."""
    table = pa.table(
        {
            "sku": [f"k{i}" for i in range(n)],
            "v": X[:n].tolist(),
            "kind": ["red", "green", None] * (n // 3),
            "year": pa.array(range(n), pa.int16()),
        }
    )
    return Collection.create(
        path, table, column="v", id="sku", encoder=learnt(), keep_vectors=form
    )


def answers(col):
    """Return all that a collection answers, as plain values."""
    return [
        col.search(X[:4], 5).to_list(),
        col.search(X[:4], 5, rerank=False, filter="kind = 'red'").to_list(),
        col.search(ids=["k3"], k=4, group_by="kind").to_list(),
        col.classify(X[:4]).to_list(),
        col.classify(X[:4], max_false_reject_rate=0.1).to_dict(),
        col.classify(X[:4], decoder="nearest").to_list(),
        col.duplicates(3).to_list(),
        col.to_arrow().to_pylist(),
        col.codes.tolist(),
        col.vectors.tolist(),
        col.summary(),
    ]


def all_files(folder):
    """Return every file below a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
