"""A bundle of 100 million codes of 64 bits: built, opened and searched.

    python -m benchmarks.hundred_million [--n 100000000] [--folder FOLDER] [--json FILE]

Clustered codes, as in `benchmarks.multi_index`. The bundle is opened and asked by
processes of their own, whose largest resident memory is given; what they open lies in
the page cache. Each searches by a scan, then by multi-index hashing whose tables
`compact` has written; answers must be equal. Processor time of one thread, and
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
from fewbits import Bundle, _kernels
from fewbits.encoders import PackedEncoder

BITS, K, BATCH, SINGLES = 64, 10, 1000, 20


def main(
    n: Annotated[int, typer.Option(help="Number of codes.")] = 100_000_000,
    folder: Annotated[Path | None, typer.Option(help="Disk to measure.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Build the bundle, then ask it with each index."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        report = build(Path(name), n)
        for kind in ("flat", "multi-index"):
            command = [sys.executable, "-m", __spec__.name, "--ask", name, kind]
            told = subprocess.run(command, check=True, capture_output=True, text=True)
            report[kind] = json.loads(told.stdout)
    first, second = (report[kind].pop("found") for kind in ("flat", "multi-index"))
    assert first == second, "answers differ"
    print(json.dumps(report, indent=1))
    if json_path:
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def build(folder: Path, n: int) -> dict[str, Any]:
    """Write the bundle and the queries; return what that took."""
    codes = drawn(n + BATCH, BITS, "clustered")
    np.save(folder / "queries.npy", codes[n:])
    bundle, seconds = timed(lambda: Bundle(PackedEncoder(BITS)).with_items(codes[:n]))
    _, saving = timed(lambda: bundle.save(folder / "bundle"))
    stored = Bundle.load(folder / "bundle").with_index("multi-index")
    stored.save(folder / "bundle")
    _, tables = timed(Bundle.load(folder / "bundle").compact)
    return {
        "codes": n,
        "bits": BITS,
        "isa": _kernels.active_isa(),
        "build_seconds": seconds + saving,
        "tables_seconds": tables,
        "gigabytes_on_disk": folder_bytes(folder / "bundle") / 1e9,
    }


def ask(folder: Path, kind: str) -> dict[str, Any]:
    """Open the bundle and search it; return times and the answers."""
    queries = np.load(folder / "queries.npy")
    bundle, opened = timed(lambda: Bundle.load(folder / "bundle"))
    bundle = bundle.with_index(kind)
    _, first = timed(lambda: bundle.search(queries[:1], K))
    _kernels.set_num_threads(1)
    clock = time.thread_time
    singles = [
        timed(lambda q=q: bundle.search(q, K), clock)[1]
        for q in queries[:SINGLES, None]
    ]
    found, batch = timed(lambda: bundle.search(queries, K), clock)
    _kernels.set_num_threads(2)
    two = [timed(lambda q=q: bundle.search(q, K))[1] for q in queries[:SINGLES, None]]
    return {
        "open_ms": 1e3 * opened,
        "first_query_ms": 1e3 * first,
        "single_ms": 1e3 * median(singles),
        "single_two_threads_ms": 1e3 * median(two),
        "queries_per_second": len(queries) / batch,
        "memory_gigabytes": most_memory() / 1e9,
        "found": [found.distances.tolist(), found.ids.tolist()],
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
    found = action()
    return found, clock() - start


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        print(json.dumps(ask(Path(sys.argv[2]), sys.argv[3])))
    else:
        typer.run(main)
