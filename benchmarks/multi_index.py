"""Multi-index hashing beside the exhaustive scan, both exact, on one thread.

    python -m benchmarks.multi_index [--quick] [--json FILE]

Random codes, and codes in clusters: 2,000 centres, each bit of a code differs from that
of its centre with probability 0.05. Queries are drawn like the codes. Both indexes
answer in one process, in turn; each figure is a median. The answers must be equal.
"""

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.search import interleaved
from fewbits import _kernels
from fewbits.index import FlatIndex, MultiIndexHashing

_CENTRES, _FLIPPED = 2000, 0.05


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the codes.")] = False,
    n: Annotated[int, typer.Option(help="Number of codes.")] = 1_000_000,
    repeats: Annotated[int, typer.Option()] = 3,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every case and print a row for each."""
    _kernels.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    print(f"instruction set {_kernels.active_isa()}, one thread; us a query")
    print("   codes bits      data queries search       flat multi-index")
    for bits in (64, 128):
        for data in ("random", "clustered"):
            rows += measured(n // 10 if quick else n, bits, data, repeats)
    if json_path:
        report = {"machine": {"isa": _kernels.active_isa()}, "rows": rows}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def measured(n: int, bits: int, data: str, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each kind of search among the same codes."""
    codes = drawn(n + 1000, bits, data)
    codes, queries = codes[:n], codes[n:]
    flat, fast = FlatIndex(codes), MultiIndexHashing(codes)
    start = time.perf_counter()
    fast.range_search(queries[:1], 0)
    build = time.perf_counter() - start
    print(f"tables of {n} codes of {bits} bits: {build:.2f} s")
    rows = []
    for n_queries in (1000, 1):
        for name, number in (("k", 1), ("k", 10), ("radius", 3), ("radius", 7)):
            ways = {
                "flat": partial(_asked, flat, name, number),
                "multi_index": partial(_asked, fast, name, number),
            }
            rows.append(_row(ways, queries, n_queries, repeats))
            rows[-1] |= {"n": n, "bits": bits, "data": data, "build_seconds": build}
            rows[-1] |= {"queries": n_queries, "search": f"{name}={number}"}
            print(shown(rows[-1]), flush=True)
    return rows


def _asked(index: Any, name: str, number: int, queries: Any) -> Any:
    if name == "k":
        return index.search(queries, number)
    return index.range_search(queries, number)


def _row(ways: Any, queries: Any, n_queries: int, repeats: int) -> dict[str, Any]:
    """Return the time a query takes each way; single queries are different ones."""
    batches = [queries] if n_queries > 1 else [queries[i : i + 1] for i in range(30)]
    for found, expected in zip(
        ways["multi_index"](queries), ways["flat"](queries), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for batch in batches:
        calls = {name: lambda w=way, b=batch: w(b) for name, way in ways.items()}
        turns = dict.fromkeys(ways, repeats if n_queries > 1 else 1)
        for name, seconds in interleaved(calls, turns).items():
            times[name].append(seconds / len(batch))
    return {name: float(np.median(each)) for name, each in times.items()}


def drawn(n: int, bits: int, data: str) -> Any:
    """Return `n` packed codes."""
    rng = np.random.default_rng(0)
    if data == "random":
        return rng.integers(0, 256, (n, bits // 8), dtype=np.uint8)
    centres = rng.integers(0, 256, (_CENTRES, bits // 8), dtype=np.uint8)
    codes = centres[rng.integers(0, _CENTRES, n)]
    for span in range(0, n, 100_000):
        part = codes[span : span + 100_000]
        part ^= np.packbits(rng.random((len(part), bits)) < _FLIPPED, axis=1)
    return codes


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table."""
    return (
        f"{row['n']:8d} {row['bits']:4d} {row['data']:>9} {row['queries']:7d} "
        f"{row['search']:>9} {1e6 * row['flat']:9.1f} {1e6 * row['multi_index']:9.1f} "
        f"{row['flat'] / row['multi_index']:7.2f}x"
    )


if __name__ == "__main__":
    typer.run(main)
