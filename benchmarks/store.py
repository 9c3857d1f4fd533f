"""A store that takes rows: throughput, small commits, and bytes on the disk.

    python -m benchmarks.store [--quick] [--folder FOLDER] [--json FILE]

The same bytes are written with NumPy and synced once, as a limit. Ratios count: both
ways run in turn, in one process, on one disk.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import pyarrow as pa
import typer

from fewbits import Collection
from fewbits.store import Store, _sums

SCHEMA = pa.schema({"_id": pa.int64(), "_code": pa.binary(8)})


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the rows.")] = False,
    n: Annotated[int, typer.Option(help="Rows of the ingest.")] = 10_000_000,
    folder: Annotated[Path | None, typer.Option(help="Disk to measure.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure each case and print what it took."""
    n = n // 10 if quick else n
    with tempfile.TemporaryDirectory(dir=folder) as name:
        base = Path(name)
        report = {
            "checksums": checksums(),
            "ingest": ingest(base, n) | collections(base, n),
            "upserts": upserts(base, 1000 if quick else 10_000),
            "cycles": cycles(base, 50, 2_000 if quick else 20_000),
        }
    for case, figures in report.items():
        print(case)
        for key, value in figures.items():
            print(f"  {key:28} {value:,.4g}")
    if json_path:
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def checksums() -> dict[str, float]:
    """Return GB/s of CRC-32C over 64 KiB blocks of 256 MiB."""
    data = np.random.default_rng(0).integers(0, 256, 1 << 28, dtype=np.uint8)
    best = min(seconds(lambda: _sums.block_sums(data)) for _ in range(5))
    return {"GB/s": len(data) / best / 1e9}


def table(ids: Any, seed: int = 0) -> Any:
    """Return rows of random codes."""
    codes = np.random.default_rng(seed).integers(0, 256, 8 * len(ids), dtype=np.uint8)
    buffers = [None, pa.py_buffer(codes.tobytes())]
    codes = pa.Array.from_buffers(pa.binary(8), len(ids), buffers)
    return pa.table({"_id": pa.array(ids, pa.int64()), "_code": codes})


def ingest(base: Path, n: int) -> dict[str, float]:
    """Return rows/s of one append and commit, and what takes the time."""
    rising = table(np.arange(n))
    shuffled = table(np.random.default_rng(1).permutation(n))
    numbers = np.arange(n)
    arrays = [numbers, rising["_id"].to_numpy(), codes_of(rising)]
    ways: dict[str, Callable[[Path], Any]] = {
        "numpy": lambda path: write_arrays(path, arrays),
        "store": lambda path: fill(path, rising),
        "shuffled ids": lambda path: fill(path, shuffled),
        "no checksums": lambda path: without_sums(path, rising),
        "no syncs": lambda path: without_syncs(path, rising),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(3):
        for name, way in ways.items():
            path = base / "ingest"
            path.mkdir()
            times[name].append(seconds(lambda w=way, p=path: w(p)))
            shutil.rmtree(path)
    best = {name: min(each) for name, each in times.items()}
    figures = {f"{name}, rows/s": n / value for name, value in best.items()}
    figures |= {f"{name} / numpy": v / best["numpy"] for name, v in best.items()}
    fill(base / "kept", rising)
    figures["open, s"] = seconds(lambda: Store(base / "kept").snapshot())
    snapshot = Store(base / "kept").snapshot()
    figures["first touch of codes, s"] = seconds(
        lambda: [p.codes for p in snapshot.segments]
    )
    return figures


def collections(base: Path, n: int) -> dict[str, float]:
    """Return rows/s of a collection that is made of codes, or takes them later."""
    shape = n, 8
    codes = np.random.default_rng(2).integers(0, 256, shape, dtype=np.uint8)
    times: dict[str, list[float]] = {"build": [], "add": []}
    folder = base / "collection"
    for _ in range(3):
        times["build"].append(seconds(lambda: Collection.create(folder, codes=codes)))
        shutil.rmtree(folder)
        small = Collection.create(folder, codes=codes[:1000])
        times["add"].append(seconds(lambda small=small: small.add(codes)))
        shutil.rmtree(folder)
    return {f"{name}, rows/s": n / min(each) for name, each in times.items()}


def codes_of(rows: Any) -> Any:
    """Return the bytes of the codes."""
    return np.frombuffer(rows["_code"].chunk(0).buffers()[1], np.uint8)


def write_arrays(folder: Path, arrays: list[Any]) -> None:
    """Write and sync the bytes of a store with NumPy."""
    with open(folder / "all", "wb") as file:
        for array in arrays:
            array.tofile(file)
        file.flush()
        os.fsync(file.fileno())


def fill(folder: Path, rows: Any) -> None:
    """Make a store of rows, in one commit."""
    store = Store.create(folder, SCHEMA, n_bits=64, fingerprint="of a benchmark")
    with store.writer() as writer:
        writer.append(rows)
        writer.commit()


def without_sums(folder: Path, rows: Any) -> None:
    """Fill a store whose blocks are not summed."""

    def none(data: Any) -> Any:
        return np.zeros(-(-len(memoryview(data)) // _sums.BLOCK), np.uint32)

    with mock.patch.object(_sums, "block_sums", none):
        fill(folder, rows)


def without_syncs(folder: Path, rows: Any) -> None:
    """Fill a store without fsync, which is not durable."""
    with mock.patch.object(os, "fsync", return_value=None):
        fill(folder, rows)


def upserts(base: Path, n: int) -> dict[str, float]:
    """Return what `n` commits of one row take, and leave."""
    store = Store.create(base / "one", SCHEMA, n_bits=64, fingerprint="of a benchmark")
    times = []
    for i in range(n):
        begin = time.perf_counter()
        with store.writer() as writer:
            writer.upsert(table([i * 7919 % n], i))
            writer.commit()
        times.append(time.perf_counter() - begin)
    opened = [seconds(lambda: Store(base / "one").snapshot()) for _ in range(9)]
    return {
        "rows": store.snapshot().n_live,
        "ms each, median": 1e3 * float(np.median(times)),
        "ms each, 99th percentile": 1e3 * float(np.percentile(times, 99)),
        "last 10 % / first 10 %": float(
            np.median(times[-n // 10 :]) / np.median(times[: n // 10])
        ),
        "files": store.n_files(),
        "bytes": sum(store.bytes_by_kind().values()),
        "open, ms": 1e3 * float(np.median(opened)),
    }


def cycles(base: Path, n: int, n_rows: int) -> dict[str, float]:
    """Return what replacing all rows `n` times takes, and leaves."""
    store = Store.create(base / "all", SCHEMA, n_bits=64, fingerprint="of a benchmark")
    times, sizes = [], []
    for seed in range(n):
        rows = table(np.arange(n_rows), seed)
        begin = time.perf_counter()
        with store.writer() as writer:
            writer.upsert(rows)
            writer.commit()
        times.append(time.perf_counter() - begin)
        sizes.append(sum(store.bytes_by_kind().values()))
    return {
        "ms each, median": 1e3 * float(np.median(times)),
        "last ten / second ten": float(
            np.median(times[-10:]) / np.median(times[10:20])
        ),
        "bytes, largest / smallest": max(sizes[1:]) / min(sizes[1:]),
        "files": store.n_files(),
    }


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    typer.run(main)
