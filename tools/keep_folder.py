"""Write a small folder of this format, and what it answers, for later versions to read.

    python tools/keep_folder.py tests/collection/kept/format-6-dropped

makes this folder and ``format-6-dropped.json``, once for each format and what came to
it, and never again: ``tests/collection/test_format.py`` reads all of them.
"""

import json
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa

from fewbits import Collection
from fewbits.classify import Calibration, Codebook
from fewbits.encoders import LinearEncoder
from fewbits.ood import learn_rejection
from fewbits.store import _merge_plan

N, WIDTH = 12, 8
#: Whole numbers, so that all machines make the same codes and distances.
X = np.random.default_rng(0).integers(-9, 10, (N, WIDTH)).astype(np.float32)
NAMES = ["ant", "bee", "cat"]


def main() -> None:
    folder = Path(sys.argv[1])
    _merge_plan.ROWS = 4  # that make a segment of their own
    Collection.create(
        folder,
        table(range(8)),
        column="v",
        id="sku",
        label="kind",
        encoder=learnt(),
        keep_vectors="int8",
    )
    col = Collection.open(folder)
    col.tag("first")
    with col.transaction():  # rows that do not count on, and deleted ones
        col.add(table([8, 9, 10, 11]))
        col.delete(["item 2", "item 10"])
        col.drop_columns(["tags"])
        values = {"colour": "green", "year": None, "late": 0.5, "tags": "again"}
        for name, value in values.items():
            col.update(None, ids=["item 3"], columns={name: [value]})
        col.drop_columns(["colour"])
    counts = [len(list(folder.glob(f"rows-*/{x}-*"))) for x in ("seg", "upd", "del")]
    assert counts == [2, 1, 0]
    for path in folder.glob("rows-*/LOCK"):
        path.unlink()
    notes = folder.with_suffix(".json")
    notes.write_text(json.dumps(answers(col), default=str) + "\n")
    sizes = [path.stat().st_size for path in folder.rglob("*.*") if path.is_file()]
    print(f"{len(sizes)} files, {sum(sizes):,} bytes")


def learnt() -> Collection:
    encoder = LinearEncoder(np.eye(WIDTH), np.full(WIDTH, 0.5), zero_bit=1)
    noise = np.random.default_rng(1).integers(-1, 2, (18, WIDTH))
    items = np.repeat(X[:3], 6, axis=0) + noise
    return Collection.from_parts(
        encoder,
        codebook=Codebook(encoder.encode(X[:3]), WIDTH, NAMES),
        calibration=Calibration(0.25, np.zeros(WIDTH)),
        rejection=learn_rejection(items, np.repeat(NAMES, 6)),
    )


def table(rows: "range | list[int]") -> pa.Table:
    chosen = [*rows]
    return pa.table(
        {
            "sku": [f"item {i}" for i in chosen],
            "v": X[chosen].tolist(),
            "kind": [NAMES[i % 3] for i in chosen],
            "year": pa.array(
                [None if i % 5 == 4 else 2000 + i for i in chosen], pa.int16()
            ),
            "day": [date(2020, 2, 20 + i) if i < 9 else None for i in chosen],
            "seen": pa.array(
                [datetime(2026, 1, 1, i, tzinfo=UTC) for i in chosen],
                pa.timestamp("us", "UTC"),
            ),
            "price": pa.array([Decimal(i) / 4 for i in chosen], pa.decimal128(9, 2)),
            "tags": [["a"] * (i % 3) for i in chosen],
            "colour": pa.array(["red", None, "blue"] * N)
            .take(pa.array(chosen))
            .dictionary_encode(),
        }
    )


def answers(col: Collection) -> dict[str, object]:
    """Return what a collection answers to the queries that are kept with it."""
    queries = X[:3] + 1
    return {
        "queries": queries.tolist(),
        "rows": col.to_arrow().to_pylist(),
        "codes": col.codes.tolist(),
        "hamming": col.search(queries, 3, rerank=False).to_list(),
        "euclidean": col.search(queries, 4, columns=[]).to_list(),
        "filtered": col.search(queries, 4, filter="year > 2004", columns=[]).to_list(),
        "classes": col.classify(queries, decoder="nearest").classes.tolist(),
        "summary": col.summary(),
        "tags": {name: col.at(name).ids.tolist() for name in col.tags()},
    }


if __name__ == "__main__":
    main()
