"""A collection of 100 million codes of 64 bits: built, opened and searched.

    python -m benchmarks.hundred_million [--n 100000000] [--folder FOLDER] [--json FILE]

Clustered codes, as in `benchmarks.multi_index`, in two collections: one is searched by
a scan, one by multi-index hashing whose tables `compact` has written; answers must be
equal. Each is opened and asked by a process of its own, whose largest resident memory
is given; what it opens lies in the page cache. Processor time of one thread, and
wall-clock time of one query on two.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.multi_index import drawn
from fewbits import Collection, _kernels

BITS, K, BATCH, SINGLES = 64, 10, 1000, 20


def main(
    n: Annotated[int, typer.Option(help="Number of codes.")] = 100_000_000,
    folder: Annotated[Path | None, typer.Option(help="Disk to measure.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Build both collections, then ask each."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        report = build(Path(name), n)
        for kind in ("flat", "multi-index"):
            command = [sys.executable, "-m", __spec__.name, "--ask", name, kind]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            report[kind] = json.loads(run.stdout)
    first, second = (report[kind].pop("hits") for kind in ("flat", "multi-index"))
    assert first == second, "answers differ"
    print(json.dumps(report, indent=1))
    if json_path:
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def build(folder: Path, n: int) -> dict[str, Any]:
    """Write the collections and the queries; return what that took."""
    codes = drawn(n + BATCH, BITS, "clustered")
    np.save(folder / "queries.npy", codes[n:])
    times = {}
    for kind in ("flat", "multi-index"):
        collection, times[kind] = timed(
            lambda kind=kind: Collection.create(
                folder / kind, codes=codes[:n], index=kind
            )
        )
    _, tables = timed(collection.compact)
    return {
        "codes": n,
        "bits": BITS,
        "isa": _kernels.active_isa(),
        "build_seconds": times["flat"],
        "tables_seconds": tables,
        "gigabytes_on_disk": folder_bytes(folder / "multi-index") / 1e9,
    }


def ask(folder: Path, kind: str) -> dict[str, Any]:
    """Open a collection and search it; return times and the answers."""
    queries = np.load(folder / "queries.npy")
    collection, opened = timed(lambda: Collection.open(folder / kind))

    def search(codes: Any) -> Any:
        return collection.search(codes=codes, k=K)

    _, first = timed(lambda: search(queries[:1]))
    _kernels.set_num_threads(1)
    clock = time.thread_time
    singles = [timed(lambda q=q: search(q), clock)[1] for q in queries[:SINGLES, None]]
    hits, batch = timed(lambda: search(queries), clock)
    _kernels.set_num_threads(2)
    two = [timed(lambda q=q: search(q))[1] for q in queries[:SINGLES, None]]
    return {
        "open_ms": 1e3 * opened,
        "first_query_ms": 1e3 * first,
        "single_ms": 1e3 * median(singles),
        "single_two_threads_ms": 1e3 * median(two),
        "queries_per_second": len(queries) / batch,
        "memory_gigabytes": most_memory() / 1e9,
        "hits": [hits.distances.tolist(), hits.ids.tolist()],
    }


def most_memory() -> int:
    """Return the bytes that this process had at most; getrusage counts its parent's."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def timed(
    action: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> tuple[Any, float]:
    """Return what an action gives, and the seconds it took."""
    start = clock()
    result = action()
    return result, clock() - start


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        print(json.dumps(ask(Path(sys.argv[2]), sys.argv[3])))
    else:
        typer.run(main)
