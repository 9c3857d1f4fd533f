"""Searches over HTTP, beside a minimal FastAPI service over faiss.

    python -m benchmarks.serve [--quick] [--json FILE]

Both serve the same random codes (1M of 256 bits) on loopback; each request asks for the
10 nearest of one code, as JSON. Servers and load generator are processes of their own;
services are asked in turn, and search with one thread each. *Not search* is the share
of a request, one at a time, that is not the scan of the codes, timed alone here.
Processor time of a service, over its answers, is steadier than their time on a busy
machine.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer

from fewbits import Collection, _kernels
from fewbits.encoders import LinearEncoder
from fewbits.index import FlatIndex

N, N_BITS, K = 1_000_000, 256, 10
CONNECTIONS = (1, 8, 64)
PORTS = {"fewbits": 8791, "faiss": 8792}
PATHS = {"fewbits": "/v1/search", "faiss": "/search"}
N_QUERIES = 500


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the codes, briefly.")] = False,
    as_json: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    n, rounds, seconds = (N // 10, 1, 1.0) if quick else (N, 3, 4.0)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n, N_BITS // 8), dtype=np.uint8)
    queries = rng.integers(0, 256, (N_QUERIES, N_BITS // 8), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        with services(codes, Path(folder)) as processes:
            rows = measured(processes, queries, rounds, seconds)
        report = {"codes": n, "bits": N_BITS, "k": K, "rows": rows}
        report["search_alone_ms"] = search_alone(codes, queries)
    alone = report["search_alone_ms"]
    for row in rows:
        row["search_ms"] = alone[row["service"]]
        if row["connections"] == 1:
            row["not_search"] = 1 - alone[row["service"]] / row["p50_ms"]
        print(row_text(row))
    print(f"one search alone: {alone['fewbits']:.2f} ms, faiss {alone['faiss']:.2f} ms")
    if as_json is not None:
        as_json.write_text(json.dumps(report, indent=1) + "\n")


def row_text(row: Mapping[str, Any]) -> str:
    text = (
        f"{row['service']:8} {row['connections']:3} connections: "
        f"{row['per_second']:7.0f} queries/s, p50 {row['p50_ms']:7.2f} ms, "
        f"p99 {row['p99_ms']:7.2f} ms, processor {row['cpu_ms']:6.2f} ms"
    )
    share = row.get("not_search")
    return text if share is None else f"{text}, not search {share:.0%}"


def measured(
    processes: Mapping[str, int], queries: Any, rounds: int, seconds: float
) -> list[dict[str, Any]]:
    """Return medians over rounds, in each of which both services are asked in turn."""
    found: dict[tuple[str, int], list[tuple[float, ...]]] = {}
    for _ in range(rounds):
        for n_connections in CONNECTIONS:
            for name in PORTS:
                load(name, queries, n_connections, seconds / 4)  # warm
                before = processor_seconds(processes[name])
                times = load(name, queries, n_connections, seconds)
                used = processor_seconds(processes[name]) - before
                p50, p99 = np.percentile(times, [50, 99]) * 1000
                cpu_ms = 1000 * used / len(times)
                one = len(times) / seconds, float(p50), float(p99), cpu_ms
                found.setdefault((name, n_connections), []).append(one)
    names = ("per_second", "p50_ms", "p99_ms", "cpu_ms")
    return [
        {
            "service": name,
            "connections": n_connections,
            **dict(zip(names, map(median, zip(*each, strict=True)), strict=True)),
        }
        for (name, n_connections), each in found.items()
    ]


def load(name: str, queries: Any, n_connections: int, seconds: float) -> list[float]:
    """Return the latencies of the answers to a load on one service."""
    more = {"columns": []} if name == "fewbits" else {}
    bodies = [{"codes": [q.tobytes().hex()], "k": K, **more} for q in queries]
    run = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks._load", f"127.0.0.1:{PORTS[name]}"),
            *(str(n_connections), str(seconds)),
        ],
        input=json.dumps([(PATHS[name], json.dumps(body)) for body in bodies]),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    times: list[float] = json.loads(run.stdout)
    return times


def search_alone(codes: Any, queries: Any) -> dict[str, float]:
    """Return the median milliseconds of a search for one code, without a service."""
    import faiss

    faiss.omp_set_num_threads(1)
    flat = faiss.IndexBinaryFlat(N_BITS)
    flat.add(codes)
    _kernels.set_num_threads(1)
    ways = {"fewbits": FlatIndex(codes).search, "faiss": flat.search}
    found: dict[str, list[float]] = {name: [] for name in ways}
    for query in queries[:100]:
        for name, search in ways.items():
            began = time.perf_counter()
            search(query[None], K)
            found[name].append(time.perf_counter() - began)
    return {name: 1000 * median(times) for name, times in found.items()}


@contextlib.contextmanager
def services(codes: Any, folder: Path) -> Iterator[dict[str, int]]:
    """Run both services until the block ends; gives the numbers of their processes."""
    encoder = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))
    Collection.create(folder / "collection", codes=codes, encoder=encoder)
    np.save(folder / "codes.npy", codes)
    ours = [sys.executable, "-c", "from fewbits.cli import main; main()", "serve"]
    theirs = [sys.executable, "-m", "uvicorn", "benchmarks._faiss_service:app"]
    quiet = ["--log-level", "error", "--no-access-log"]
    commands = {
        "fewbits": [*ours, str(folder / "collection"), "--port", str(PORTS["fewbits"])],
        "faiss": [*theirs, *quiet, "--port", str(PORTS["faiss"])],
    }
    one_thread = {
        "OMP_NUM_THREADS": "1",
        "FEWBITS_NUM_THREADS": "1",
    }  # each: the load needs a core as well
    environment = {**os.environ, **one_thread, "CODES": str(folder / "codes.npy")}
    processes = {}
    with contextlib.ExitStack() as stack:
        for name, command in commands.items():
            run = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            processes[name] = run.pid
            stack.callback(run.wait, 60)
            stack.callback(run.terminate)
            await_answer(f"http://127.0.0.1:{PORTS[name]}/{health(name)}")
        yield processes


def processor_seconds(pid: int) -> float:
    """Return what a process has used of processors."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def health(name: str) -> str:
    return "v1/health" if name == "fewbits" else "health"


def await_answer(url: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(url)


if __name__ == "__main__":
    typer.run(main)
