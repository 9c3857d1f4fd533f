"""A condition on a million rows beside DuckDB with one thread, best of several runs."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import duckdb
import numpy as np
import pyarrow as pa
import typer

from fewbits.collection.filters import matching_rows

N_BITS = 256
CONDITIONS = {
    "integer": "year >= 2020",
    "float": "price < 0.5",
    "string": "category = 'beta'",
    "dictionary": "kind = 'beta'",
    "timestamp": "seen > '1990-01-01'",
    "two columns": "category = 'beta' AND year >= 2020",
    "LIKE": "name LIKE '%99%'",
    "LIKE of several parts": "name LIKE 'n_9%9'",
    "arithmetic": "year * 2 + 1 > 4041",
    "one bit": "bit(12) = 1",
    "two bits": "bit(12) = 1 AND bit(200) = 0",
    "IN 100,000 integers": f"id IN ({', '.join(map(str, range(100_000)))})",
}


def rows(n: int) -> tuple[pa.Table, Any]:
    """Return a table and codes."""
    rng = np.random.default_rng(0)
    words = np.array(["alpha", "beta", "gamma", "delta"], object)
    kinds = pa.array(words[rng.integers(4, size=n)])
    columns = {
        "id": rng.integers(0, 10 * n, n),
        "year": rng.integers(1990, 2025, n),
        "price": rng.random(n).astype(np.float32),
        "category": kinds,
        "kind": kinds.dictionary_encode(),
        "seen": pa.array(rng.integers(0, 2**40, n), pa.timestamp("ms")),
        "name": pa.array([f"n{number}" for number in range(n)]),
    }
    return pa.table(columns), rng.integers(0, 256, (n, N_BITS // 8), np.uint8)


def best(task: Callable[[], Any], repeats: int) -> float:
    """Return the milliseconds of the fastest run."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


def main(
    n: Annotated[int, typer.Option()] = 1_000_000,
    repeats: Annotated[int, typer.Option()] = 7,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Print milliseconds; DuckDB has no bits of codes."""
    table, codes = rows(n)
    connection = duckdb.connect(config={"threads": 1})
    connection.register("source", table)
    connection.execute("CREATE TABLE items AS SELECT * FROM source")
    figures: dict[str, list[float | None]] = {}
    for name, condition in CONDITIONS.items():
        query = f"SELECT {condition} AS answer FROM items"
        ours = best(lambda c=condition: matching_rows(c, table, codes, N_BITS), repeats)
        peer = None
        if "bit(" not in condition:
            peer = best(lambda q=query: connection.execute(q).fetchnumpy(), repeats)
        figures[name] = [ours, peer]
        print(f"{name:24s} {ours:8.1f} ms", end="")
        print(f"   DuckDB {peer:8.1f} ms" if peer is not None else "")
    if json_path:
        json_path.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
