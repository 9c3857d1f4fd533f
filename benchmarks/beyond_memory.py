"""Search of a collection that is four times as large as the memory.

    python -m benchmarks.beyond_memory [--quick] [--folder FOLDER] [--json FILE]

A process that may use 512 MiB, pages of files included, asks single queries of codes
of 2 GiB on the disk. Every query reads them all, so its time is that of the disk; what
counts is that no query takes much longer than the median. Needs the rights to make a
memory cgroup (version 1).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from fewbits import Collection

N_BITS, TIMES = 256, 4
CGROUPS = Path("/sys/fs/cgroup/memory")


def main(
    quick: Annotated[bool, typer.Option(help="A fourth of the memory.")] = False,
    queries: Annotated[int, typer.Option(help="Single queries to time.")] = 100,
    folder: Annotated[Path | None, typer.Option(help="Disk to measure.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure and print the latencies."""
    limit = (128 if quick else 512) << 20
    with tempfile.TemporaryDirectory(dir=folder) as name:
        n_items = fill(Path(name), TIMES * limit)
        with memory_group(limit) as group:
            command = [sys.executable, __file__, "--ask", name, group, str(queries)]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
    times = np.array(json.loads(run.stdout))
    p50, p99 = np.percentile(times, [50, 99])
    report = {
        "codes": n_items,
        "bits": N_BITS,
        "memory_bytes": limit,
        "queries": queries,
        "p50_seconds": p50,
        "p99_seconds": p99,
        "ratio": p99 / p50,
        "gb_per_s": TIMES * limit / p50 / 1e9,
    }
    print(json.dumps(report, indent=1))
    if json_path:
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def fill(folder: Path, n_bytes: int) -> int:
    """Write a collection whose codes take so many bytes, random ones."""
    rng = np.random.default_rng(0)
    n_items = n_bytes // (N_BITS // 8)
    rows = 1 << 22
    collection = Collection.create(folder, codes=codes_of(rng, rows))
    for start in range(rows, n_items, rows):
        collection.add(codes_of(rng, min(rows, n_items - start)))
    forget(folder)
    return n_items


def codes_of(rng: np.random.Generator, n: int) -> NDArray[np.uint8]:
    """Return random codes."""
    return rng.integers(0, 256, (n, N_BITS // 8), dtype=np.uint8)


def forget(folder: Path) -> None:
    """Have the system drop what it keeps of the files in memory."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def memory_group(limit: int) -> Iterator[str]:
    """Make a group of processes that have so much memory together."""
    own = Path("/proc/self/cgroup").read_text().splitlines()
    path = next(line.split(":")[2] for line in own if ":memory:" in line)
    group = CGROUPS / path.lstrip("/") / f"fewbits-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield str(group)
    finally:
        group.rmdir()


def ask(folder: str, group: str, n_queries: str) -> None:
    """Join the group, open the collection and print the time of each query."""
    (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    collection = Collection.open(folder)
    queries = codes_of(np.random.default_rng(1), int(n_queries))
    times = []
    for query in queries:
        start = time.perf_counter()
        collection.search(codes=query[None], k=10)
        times.append(time.perf_counter() - start)
    print(json.dumps(times))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        ask(*sys.argv[2:])
    else:
        typer.run(main)
