"""Multi-index hashing beside the exhaustive scan and faiss, on one thread.

    python -m benchmarks.multi_index [--quick] [--large] [--json FILE]

Random codes; codes in clusters: 2,000 centres, each bit of a code differs from that of
its centre with probability 0.05, or 0.12 where they are called noisy; and codes that
ITQ learns for the texts of ICD-10, the words of GloVe and, where it is on this machine,
WordNet. Queries are drawn like the codes. Searches are answered in one
process, in turn; each figure is a median of processor time. Exact answers must be
equal. For batches of 1, 10 and 1,000 queries the time of what the index chooses, a scan
or look-ups, is given as a ratio to the better of the two. faiss's multi-index hash is
not exact: it flips more bits until it finds .98 of the neighbours. Duplicates are all
pairs within a radius; the scan is timed for a few of the codes and what it would take
for all is given.
"""

import copy
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.search import interleaved
from fewbits import _kernels, backbones
from fewbits.errors import MissingDataError, MissingExtraError
from fewbits.index import FlatIndex, MultiIndexHashing
from fewbits.index.table_files import LazyTables, build_tables
from fewbits.learners import ITQ
from research.common import datasets

_CENTRES, _RECALL = 2000, 0.98
_FLIPPED = {"clustered": 0.05, "noisy": 0.12}
_QUERIES, _FAISS_QUERIES = 1000, 50
_BATCHES = {1: 50, 10: 20, 1000: 1}  # queries, and how many times
_MILLION = 1_000_000
_SEARCHES = (("k", 1), ("k", 10), ("k", 100), ("radius", 3), ("radius", 7))
_DUPLICATES = ((64, 0), (64, 3), (64, 5), (256, 3), (256, 31))


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the codes.")] = False,
    large: Annotated[bool, typer.Option(help="Ten million codes, too.")] = False,
    repeats: Annotated[int, typer.Option()] = 3,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every case and print a row for each."""
    import faiss

    faiss.omp_set_num_threads(1)
    _kernels.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    print(f"instruction set {_kernels.active_isa()}, one thread; us a query")
    for data, codes, queries in problems(quick, large):
        rows += measured(data, codes, queries, repeats)
    n = _MILLION // 10 if quick else _MILLION
    for bits, radius in _DUPLICATES:
        for data in ("random", "clustered"):
            rows.append(duplicates(drawn(n, bits, data), data, radius))
    if json_path:
        report = {"machine": {"isa": _kernels.active_isa()}, "rows": rows}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def problems(quick: bool, large: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield a name, codes and queries."""
    for n in (_MILLION, 10 * _MILLION) if large else (_MILLION,):
        for data in (*_FLIPPED, "random"):
            for bits in (64, 128) if n == _MILLION else (64,):
                codes = drawn(n // (10 if quick else 1) + _QUERIES, bits, data)
                yield data, codes[:-_QUERIES].copy(), codes[-_QUERIES:].copy()
    for name, load in (("icd10", _icd10), ("wordnet", _wordnet), ("glove", _glove)):
        try:
            X = load()
        except (MissingDataError, MissingExtraError) as error:
            print(f"left out: {error}")
            continue
        X = X[np.random.default_rng(0).permutation(len(X))]
        for bits in (32, 64, 128) if X.shape[1] >= 128 else (32,):
            codes = ITQ(bits, random_state=0).fit(X[:50_000]).encoder_.encode(X)
            yield name, codes[:-_QUERIES].copy(), codes[-_QUERIES:].copy()


def measured(data: str, codes: Any, queries: Any, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each kind of search among the same codes."""
    start = time.thread_time()
    tables = build_tables(codes)
    common = {
        "data": data,
        "n": len(codes),
        "bits": 8 * codes.shape[1],
        "build_seconds": time.thread_time() - start,
        "memory_ratio": tables.n_bytes / codes.nbytes,
    }
    flat, fast, peer = FlatIndex(codes), indexed(tables), _flat_peer(codes)
    print(f"{common}")
    rows = []
    for name, number in _SEARCHES:
        ways = {
            "scan": partial(_asked, flat, name, number, queries),
            "multi_index": partial(_asked, fast, name, number, queries),
        }
        for one, other in zip(ways["multi_index"](), ways["scan"](), strict=True):
            np.testing.assert_array_equal(one, other)
        n_queries = {"scan": len(queries), "multi_index": len(queries)}
        if name == "k":
            some = queries[:_FAISS_QUERIES]
            ways["faiss_flat"] = partial(peer.search, some, number)
            n_queries["faiss_flat"] = len(some)
        figures = _times(ways, n_queries, repeats)
        rows.append({**common, "search": f"{name}={number}", **figures})
        if (name, number) == ("k", 10):
            found = flat.search(queries, number).distances
            rows[-1] |= _multi_hash(codes, queries, found)
        rows[-1] |= choices(flat, fast, (name, number), queries, repeats)
        print(shown(rows[-1]), flush=True)
    return rows


def choices(
    flat: Any, fast: Any, search: tuple[str, int], queries: Any, repeats: int
) -> dict[str, float]:
    """Return the time of what is chosen as a ratio to the better of both ways.

    That is for batches of several sizes, of each the quickest of some times; each way
    comes after a scan, which takes what the one before has left in the caches.
    """
    looked_up = copy.copy(fast)
    looked_up.use_scan = False
    ratios = {}
    for size, n_batches in _BATCHES.items():
        batches = [queries[i * size : (i + 1) * size] for i in range(n_batches)]
        ways, some = {"chosen": fast, "looked_up": looked_up}, batches[0]
        if _seconds(looked_up, search, some) > 5 * _seconds(flat, search, some):
            del ways["looked_up"]
        best = dict.fromkeys(("scan", *ways), 0.0)
        for batch in batches:
            times: dict[str, list[float]] = {name: [] for name in best}
            for _ in range(repeats if size * len(flat) > 10**9 else 4 * repeats):
                for name, index in ways.items():
                    scan = _seconds(flat, search, batch)
                    times[name].append(_seconds(index, search, batch))
                    times["scan"] += [scan] * (name == "chosen")  # as often as these
            for name, each in times.items():
                best[name] += min(each)
        better = min(best["scan"], best.get("looked_up", np.inf))
        ratios[f"chosen_of_{size}"] = best["chosen"] / better
    return ratios


def _seconds(index: Any, search: tuple[str, int], queries: Any) -> float:
    start = time.thread_time()
    _asked(index, *search, queries)
    return time.thread_time() - start


def indexed(tables: Any) -> MultiIndexHashing:
    """Return an index over the codes of tables, which it takes once they pay."""
    codes, cache = tables.codes, LazyTables(tables.codes, lambda _: tables)
    parts = [(codes, np.arange(len(codes)), None, cache)]
    return MultiIndexHashing.from_chunks(parts)


def _times(ways: Any, n_queries: dict[str, int], repeats: int) -> dict[str, float]:
    """Return the microseconds of a query each way."""
    turns = dict.fromkeys(ways, repeats) | {"faiss_flat": 1}
    times = interleaved(ways, turns, clock=time.thread_time)
    return {name: 1e6 * times[name] / n_queries[name] for name in ways}


def _asked(index: Any, name: str, number: int, queries: Any) -> Any:
    if name == "k":
        return index.search(queries, number)
    return index.range_search(queries, number)


def _flat_peer(codes: Any) -> Any:
    import faiss

    peer = faiss.IndexBinaryFlat(8 * codes.shape[1])
    peer.add(codes)
    return peer


def _multi_hash(codes: Any, queries: Any, expected: Any) -> dict[str, float]:
    """Return what faiss takes with as few flips as find enough neighbours.

    Its fewest tables are as many as ours, each of as many bits.
    """
    import faiss

    n_bits = 8 * codes.shape[1]
    length = min(20, max(8, int(np.log2(len(codes)))))
    n_tables = n_bits // length
    peer = faiss.IndexBinaryMultiHash(n_bits, n_tables, length)
    peer.add(codes)
    for flips in range(4):
        peer.nflip = flips
        some = queries[: max(20, _QUERIES // 10**flips)]
        start = time.thread_time()
        found, _ = peer.search(some, expected.shape[1])
        taken = 1e6 * (time.thread_time() - start) / len(some)
        wanted = expected[: len(some), -1:]
        recall = float(((found >= 0) & (found <= wanted)).mean())
        if recall >= _RECALL:
            break
    return {"multi_hash": taken, "multi_hash_recall": recall, "multi_hash_flips": flips}


def duplicates(codes: Any, data: str, radius: int) -> dict[str, Any]:
    """Return the time of finding all pairs within a radius."""
    index = FlatIndex(codes)
    start = time.thread_time()
    n_pairs = sum(len(each.distances) for each in index.pairs_within(radius))
    taken = time.thread_time() - start
    some = codes[:100]
    start = time.thread_time()
    index.range_search(some, radius)
    scan = (time.thread_time() - start) / len(some) * len(codes)
    row = {
        "data": data,
        "n": len(codes),
        "bits": 8 * codes.shape[1],
        "search": f"duplicates={radius}",
        "pairs": n_pairs,
        "pairs_seconds": taken,
        "scan_seconds": scan,
    }
    print(
        f"{row['n']:9d} {row['bits']:4d} {data:>9} duplicates={radius}: {n_pairs} "
        f"pairs in {taken:.2f} s, scan {scan:.0f} s: {scan / taken:.0f}x",
        flush=True,
    )
    return row


def drawn(n: int, bits: int, data: str) -> Any:
    """Return `n` packed codes."""
    rng = np.random.default_rng(0)
    if data == "random":
        return rng.integers(0, 256, (n, bits // 8), dtype=np.uint8)
    centres = rng.integers(0, 256, (_CENTRES, bits // 8), dtype=np.uint8)
    codes = centres[rng.integers(0, _CENTRES, n)]
    for span in range(0, n, 100_000):
        part = codes[span : span + 100_000]
        part ^= np.packbits(rng.random((len(part), bits)) < _FLIPPED[data], axis=1)
    return codes


def _icd10() -> Any:
    return backbones.load("wordllama-256").extract(datasets.load_icd10().items)


def _wordnet() -> Any:
    return backbones.load("wordllama-256").extract(datasets.load_wordnet().items)


def _glove() -> Any:
    return np.asarray(datasets.load_glove().items, np.float32)


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table."""
    line = (
        f"{row['n']:9d} {row['bits']:4d} {row['data']:>9} {row['search']:>9} "
        f"{row['multi_index']:9.1f}"
    )
    for name in ("scan", "faiss_flat", "multi_hash"):
        if name in row:
            ratio = row[name] / row["multi_index"]
            line += f"  {name} {row[name]:9.1f} ({ratio:.1f}x)"
    chosen = [row[f"chosen_of_{size}"] for size in _BATCHES]
    line += "  chosen " + " ".join(f"{each:.2f}" for each in chosen)
    if "multi_hash" in row:
        line += f" at recall {row['multi_hash_recall']:.3f}"
    return line


if __name__ == "__main__":
    typer.run(main)
