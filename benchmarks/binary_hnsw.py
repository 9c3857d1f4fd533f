"""Multi-index hashing and the scan beside faiss's graph of binary codes, on one thread.

    python -m benchmarks.binary_hnsw [--quick] [--only "random 128"] [--json FILE]

The codes are those of `benchmarks.multi_index`, the 10 nearest are asked for. A graph
(HNSW) is not exact: it visits as many codes as find .967 of the neighbours of the first
half of the queries, and is timed on the second half. All ways answer in one process, in
turn; figures are medians of processor time in microseconds a query.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.multi_index import drawn, indexed
from benchmarks.search import interleaved
from fewbits import _kernels
from fewbits.index import FlatIndex
from fewbits.index.table_files import build_tables

K, QUERIES, LINKS, RECALL, MOST_VISITED = 10, 1000, 16, 0.967, 2048


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the codes.")] = False,
    only: Annotated[str, typer.Option(help="One kind of codes, and its bits.")] = "",
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every kind of codes, or one, and print a row for each."""
    import faiss

    faiss.omp_set_num_threads(1)
    _kernels.set_num_threads(1)
    n, rows = 100_000 if quick else 1_000_000, []
    for bits in (64, 128):
        for data in ("clustered", "noisy", "random"):
            if only not in ("", f"{data} {bits}"):
                continue
            rows.append(measured(drawn(n + 2 * QUERIES, bits, data)))
            rows[-1] |= {"data": data, "n": n, "bits": bits}
            print(rows[-1], flush=True)
    if json_path:
        report = {"machine": {"isa": _kernels.active_isa()}, "rows": rows}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def measured(drawn_codes: Any) -> dict[str, Any]:
    """Return what each way takes, among all codes but the last."""
    parts = np.split(drawn_codes, [-2 * QUERIES, -QUERIES])
    codes, tuned_on, timed = (part.copy() for part in parts)
    tables, making = seconds(partial(build_tables, codes))
    flat, fast = FlatIndex(codes), indexed(tables)
    graph, building = built(codes)

    def recall(queries: Any) -> float:
        farthest = flat.search(queries, K).distances[:, -1:]
        found, _ = graph.search(queries, K)
        return float(((found >= 0) & (found <= farthest)).mean())

    def enough(visited: int) -> bool:
        graph.hnsw.efSearch = visited
        return recall(tuned_on) >= RECALL

    visited = graph.hnsw.efSearch = fewest(enough)
    ways: dict[str, Callable[[], Any]] = {
        "scan": partial(flat.search, timed, K),
        "multi_index": partial(fast.search, timed, K),
        "hnsw": partial(graph.search, timed, K),
    }
    times = interleaved(ways, dict.fromkeys(ways, 3), clock=time.thread_time)
    return {name: 1e6 * each / len(timed) for name, each in times.items()} | {
        "build_seconds": making,
        "hnsw_build_seconds": building,
        "hnsw_visited": visited,
        "hnsw_recall": recall(timed),
    }


def built(codes: Any) -> tuple[Any, float]:
    """Return the graph of codes and the seconds that building it took."""
    import faiss

    graph = faiss.IndexBinaryHNSW(8 * codes.shape[1], LINKS)
    _, building = seconds(lambda: graph.add(codes))
    return graph, building


def fewest(enough: Callable[[int], bool]) -> int:
    """Return the least number that is enough, or the most that is tried."""
    least, most = K, K
    while most < MOST_VISITED and not enough(most):
        least, most = most + 1, 2 * most
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle + 1, most)
    return most


def seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call gives, and its processor time."""
    start = time.thread_time()
    return call(), time.thread_time() - start


if __name__ == "__main__":
    typer.run(main)
