"""Exact Hamming search beside faiss, on random codes.

    python -m benchmarks.search [--quick] [--json FILE]

Both sides answer in the same process, in turn; each figure is the median of several
repeats, in processor time of the thread. faiss is given the better of its two ways (a
heap, or counting) for every case. The distances that both return must be equal.
Shares are of what the registers of one core give (`_roofline`), in the same run.

``--only collection`` measures what a collection adds to the kernel for one query.
"""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks._roofline import gigawords_per_second
from fewbits import Collection, _kernels
from fewbits.codes import hamming_range_search, hamming_topk
from fewbits.encoders import LinearEncoder

MILLION = 1_000_000
SHARES_ALLOWED = (0.5, 0.1, 0.01, 0.0001)
RANGES = ((64, 8, 4.0), (64, 16, 4.0), (256, 80, 4.0))
#: Microseconds of the processor above the kernel that one query may take.
ABOVE_KERNEL = {"search": 40, "to_list": 100}


@dataclass(frozen=True)
class Case:
    """One search: `target` is the ratio to reach, None where none was set."""

    n: int
    bits: int
    queries: int
    k: int
    target: float | None = None


BATCH = [
    *(
        Case(MILLION, bits, 1000, 10, target)
        for bits, target in (
            (40, 20.0),
            (64, 10.0),
            (72, 15.0),
            (96, 15.0),
            (128, 7.0),
            (200, 8.0),
            (256, 4.5),
            (384, 7.0),
            (512, 3.5),
            (768, 5.0),
            (1024, 4.6),
        )
    ),
    *(Case(MILLION, bits, 1000, 1000, 3.0) for bits in (64, 128, 256, 512, 1024)),
]
SINGLE = [
    Case(MILLION, 64, 1, 10, 6.0),
    Case(10 * MILLION, 64, 1, 10, 2.5),
    Case(MILLION, 96, 1, 10),
    Case(MILLION, 200, 1, 10),
    Case(MILLION, 512, 1, 10, 0.95),
    Case(MILLION, 1024, 1, 10, 0.95),
]


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the codes.")] = False,
    only: Annotated[
        str, typer.Option(help="batch, single, collection or all.")
    ] = "all",
    repeats: Annotated[int, typer.Option()] = 5,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every case and print a row for each."""
    rows: list[dict[str, Any]] = []
    roofline = gigawords_per_second()
    print(f"instruction set {_kernels.active_isa()}, one thread unless said")
    print(
        f"{'codes':>9} {'bits':>5} {'queries':>7} {'k':>5} {'ours':>10} {'faiss':>10}"
    )
    for case in [
        *(BATCH if only in ("all", "batch") else []),
        *(SINGLE if only in ("all", "single") else []),
    ]:
        if quick:
            case = Case(case.n // 10, case.bits, max(1, case.queries // 10), case.k)
        row = measure(case, repeats if case.queries > 1 else 5 * repeats)
        rows.append(row)
        print(shown(row), flush=True)
    if only in ("all", "batch"):
        n = MILLION // 10 if quick else MILLION
        for bits, queries in ((64, 1000), (256, 1000), (64, 1), (256, 1)):
            rows.extend(filtered(Case(n, bits, queries, 10), repeats))
        for bits, radius, target in RANGES:
            rows.append(ranges(Case(n, bits, 100, 0, target), radius, repeats))
    if only in ("all", "single"):
        rows.append(two_threads(MILLION if quick else 10 * MILLION, 5 * repeats))
        print(
            f"two threads on one query: {rows[-1]['ratio']:.2f}x one thread (1.6), "
            f"reading its codes {rows[-1]['ratio_of_reading']:.2f}x"
        )
    if only in ("all", "collection"):
        for threads in (1, None):
            rows.append(one_query(200 * repeats, threads))
            print(shown_query(rows[-1]))
    # Once more: at the start another process may have had the core.
    roofline = max(roofline, gigawords_per_second() or 0) if roofline else None
    for row in rows:
        if roofline and "gigawords_per_second" in row:
            row["share"] = row["gigawords_per_second"] / roofline
    if json_path:
        report = {
            "machine": {"isa": _kernels.active_isa(), "gwords_per_s": roofline},
            "rows": rows,
        }
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Return the median times and their ratio."""
    import faiss

    faiss.omp_set_num_threads(1)
    database, queries = random_codes(case)
    peer = faiss.IndexBinaryFlat(case.bits)
    peer.add(database)

    def by(use_heap: bool) -> Any:
        peer.use_heap = use_heap
        return peer.search(queries, case.k)

    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: hamming_topk(queries, database, case.k),
        "heap": lambda: by(True),
        "counting": lambda: by(False),
    }
    _kernels.set_num_threads(1)
    answers = {name: way() for name, way in ways.items()}
    np.testing.assert_array_equal(answers["ours"][0], np.sort(answers["heap"][0]))
    peer_repeats = max(2, repeats // 2) if case.queries > 1 else repeats
    turns = {"ours": repeats, "heap": peer_repeats, "counting": peer_repeats}
    times = interleaved(
        ways, turns, runs=1 if case.queries > 1 else 10, clock=time.thread_time
    )
    _kernels.set_num_threads(None)
    best = min(times["heap"], times["counting"])
    words = case.n * case.queries * -(-case.bits // 64)
    return {
        **asdict(case),
        "ours_seconds": times["ours"],
        "faiss_seconds": best,
        "ratio": best / times["ours"],
        "gigawords_per_second": words / times["ours"] / 1e9,
    }


def filtered(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Return what a filter costs: the ratio of times with and without it."""
    database, queries = random_codes(case)
    rng = np.random.default_rng(1)
    masks = {share: rng.random(case.n) < share for share in SHARES_ALLOWED}

    def among(mask: Any) -> Callable[[], Any]:
        return lambda: hamming_topk(queries, database, case.k, allowed=mask)

    ways = {"all": among(None)}
    ways |= {str(share): among(mask) for share, mask in masks.items()}
    _kernels.set_num_threads(1)
    times = interleaved(ways, dict.fromkeys(ways, repeats), clock=time.thread_time)
    _kernels.set_num_threads(None)
    rows = []
    for share in SHARES_ALLOWED:
        ratio = times[str(share)] / times["all"]
        target = 1.15 if share == max(SHARES_ALLOWED) else None
        rows.append({**asdict(case), "allowed": share, "ratio": ratio})
        rows[-1] |= {"seconds": times[str(share)], "target": target}
        print(f"{case.bits} bits, {share:.2%} allowed: {ratio:.2f} of the time without")
    return rows


def ranges(case: Case, radius: int, repeats: int) -> dict[str, Any]:
    """Return the times of a range search; both must find the same."""
    import faiss

    faiss.omp_set_num_threads(1)
    database, queries = random_codes(case)
    peer = faiss.IndexBinaryFlat(case.bits)
    peer.add(database)
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: hamming_range_search(queries, database, radius),
        "faiss": lambda: peer.range_search(queries, radius + 1),
    }
    _kernels.set_num_threads(1)
    np.testing.assert_array_equal(ways["ours"]().offsets, ways["faiss"]()[0])
    times = interleaved(ways, dict.fromkeys(ways, repeats), clock=time.thread_time)
    _kernels.set_num_threads(None)
    ratio = times["faiss"] / times["ours"]
    print(f"{case.bits} bits, radius {radius}: {ratio:.1f} times faiss")
    return {
        **asdict(case),
        "radius": radius,
        "ours_seconds": times["ours"],
        "faiss_range_seconds": times["faiss"],
        "ratio": ratio,
    }


def two_threads(n: int, repeats: int) -> dict[str, Any]:
    """Return how much faster two threads answer a single query, and read the codes.

    By the quickest of all times: another process may have a core at any other.
    """
    case = Case(n, 64, 1, 10, 1.6)
    database, queries = random_codes(case)
    words = database.reshape(-1).view(np.uint64)

    def on(threads: int) -> Any:
        _kernels.set_num_threads(threads)
        return hamming_topk(queries, database, case.k)

    with ThreadPoolExecutor(2) as pool:
        halves = np.array_split(words, 2)
        ways = {
            "one": lambda: on(1),
            "two": lambda: on(2),
            "read_by_one": lambda: list(pool.map(np.bitwise_or.reduce, [words])),
            "read_by_two": lambda: list(pool.map(np.bitwise_or.reduce, halves)),
        }
        times = interleaved(ways, dict.fromkeys(ways, 20 * repeats), of_times=min)
    _kernels.set_num_threads(None)
    return {
        **asdict(case),
        **times,
        "ratio": times["one"] / times["two"],
        "ratio_of_reading": times["read_by_one"] / times["read_by_two"],
    }


def one_query(repeats: int, threads: int | None) -> dict[str, Any]:
    """Return what the kernel takes for one query, and what a collection adds to it.

    Microseconds of the process, medians; all cores without `threads`. `search` is by a
    vector, which is encoded; `to_list` also reads two columns of the hits.
    """
    case = Case(10_000, 64, 1, 10)
    vectors, query = (
        np.unpackbits(codes, axis=1) - np.float32(0.5) for codes in random_codes(case)
    )
    encoder = LinearEncoder(np.eye(case.bits), np.zeros(case.bits))
    columns = {
        "text": [f"item number {i}" for i in range(case.n)],
        "year": [1990 + i % 35 for i in range(case.n)],
    }
    collection = Collection.create(None, vectors, encoder=encoder, columns=columns)
    database, code = collection.codes, encoder.encode(query)
    distances, rows = np.empty((1, case.k), np.int32), np.empty((1, case.k), np.int64)
    _kernels.set_num_threads(threads)
    used = _kernels.num_threads()
    ways: dict[str, Callable[[], Any]] = {
        "kernel": lambda: _kernels.hamming_topk(
            code, database, None, distances, rows, used
        ),
        "search": lambda: collection.search(query, case.k),
        "to_list": lambda: collection.search(query, case.k).to_list(),
    }
    hits = [way() for way in ways.values()][1]
    np.testing.assert_array_equal(hits.ids, rows)
    turns = dict.fromkeys(ways, repeats)
    times = interleaved(ways, turns, runs=2, clock=time.process_time)
    _kernels.set_num_threads(None)
    above = {name: 1e6 * (times[name] - times["kernel"]) for name in ABOVE_KERNEL}
    return {
        **asdict(case),
        "threads": used,
        "kernel_us": 1e6 * times["kernel"],
        "above_kernel_us": above,
        "above_kernel_targets": ABOVE_KERNEL,
    }


def shown_query(row: dict[str, Any]) -> str:
    """Return what one query takes beside the targets."""
    above = ", ".join(
        f"{name} {us:.1f} us above (target {row['above_kernel_targets'][name]})"
        for name, us in row["above_kernel_us"].items()
    )
    return (
        f"one query of {row['n']:,} codes, {row['threads']} threads: kernel "
        f"{row['kernel_us']:.1f} us of the processor, {above}"
    )


def random_codes(case: Case) -> tuple[Any, Any]:
    """Return a database and queries of uniformly random codes."""
    rng = np.random.default_rng(0)
    width = -(-case.bits // 8)
    return (
        rng.integers(0, 256, (case.n, width), dtype=np.uint8),
        rng.integers(0, 256, (case.queries, width), dtype=np.uint8),
    )


def interleaved(
    ways: dict[str, Callable[[], Any]],
    repeats: dict[str, int],
    runs: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    of_times: Callable[[list[float]], Any] = np.median,
) -> dict[str, float]:
    """Return the median time of each way, all of them measured in turn.

    With several `runs` a turn is that many calls, of which the last is timed: a way
    then finds the cache as it left it, not full of another library's database.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(max(repeats.values())):
        for name, way in ways.items():
            if turn < repeats[name]:
                for _ in range(runs):
                    start = clock()
                    way()
                    seconds = clock() - start
                times[name].append(seconds)
    return {name: float(of_times(each)) for name, each in times.items()}


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table."""
    target = "" if row["target"] is None else f"(target {row['target']:g})"
    return (
        f"{row['n']:9d} {row['bits']:5d} {row['queries']:7d} {row['k']:5d} "
        f"{1e3 * row['ours_seconds']:8.2f}ms {1e3 * row['faiss_seconds']:8.2f}ms "
        f"{row['ratio']:6.2f}x {target:13s} {row['gigawords_per_second']:6.2f} Gword/s"
    )


if __name__ == "__main__":
    typer.run(main)
