"""Ranking a Hamming shortlist again by vectors, beside other ways to the same answer.

    python -m benchmarks.rerank [--quick] [--json FILE]

Each way answers the same queries from the same 384-d vectors (or the 256-d embeddings
of ICD-10-CM) and finds the 10 nearest by Euclidean distance: a shortlist by Hamming
distance that is then compared by stored float32, float16 or int8, or by a plain NumPy
loop that gathers rows; all vectors by one BLAS product and `argpartition`; and faiss,
`IndexRefineFlat` over `IndexLSH` with the same bits. One process, one thread, in turn;
figures are medians of processor time. The comparison alone (and that by asymmetric
distance) is given per row, as bytes per second, and as a share of what copying memory
reaches.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks._class_problems import without_a_word
from benchmarks.search import interleaved
from fewbits import _kernels, backbones, datasets
from fewbits.errors import MissingExtraError
from fewbits.index import FlatIndex, Int8Vectors
from fewbits.index._rerank import asymmetric, exact

K = 10
SHORTLISTS = (100, 1000)
_BLOCK = 20_000  # vectors of one product

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Problem:
    """Vectors and queries, both around zero: signs are the codes."""

    name: str
    X: Floats
    queries: Floats

    def codes(self, rows: Floats) -> NDArray[np.uint8]:
        return np.packbits(rows > 0, axis=1)


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the vectors.")] = False,
    repeats: Annotated[int, typer.Option()] = 5,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure every way and print a row for each."""
    rows: list[dict[str, Any]] = []
    _kernels.set_num_threads(1)
    print(f"instruction set {_kernels.active_isa()}, one thread, {K} nearest")
    with threadpool_limits(1):
        for problem in problems(quick):
            for shortlist in SHORTLISTS:
                for row in measure(problem, shortlist, repeats):
                    rows.append(row)
                    print(shown(row), flush=True)
    _kernels.set_num_threads(None)
    if json_path:
        report = {"machine": {"isa": _kernels.active_isa()}, "rows": rows}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def problems(quick: bool) -> Iterator[Problem]:
    """Yield vectors of 64 hidden features and noise, and embeddings of ICD-10-CM."""
    rng = np.random.default_rng(0)
    n, d = (50_000 if quick else 500_000), 384
    mix = rng.standard_normal((64, d), np.float32)
    hidden = rng.standard_normal((n, 64), np.float32)
    X = hidden @ mix + 2 * rng.standard_normal((n, d), np.float32)
    near = hidden[:500] + 0.3 * rng.standard_normal((500, 64), np.float32)
    yield Problem("random", X, near @ mix + 2 * rng.standard_normal((500, d), "f4"))
    try:
        yield icd10()
    except MissingExtraError as error:
        print(f"left out: {error}")


def icd10() -> Problem:
    """Return the embeddings of all texts; queries lack a word of theirs."""
    rng, data = np.random.default_rng(0), datasets.load_icd10()
    backbone = backbones.load("wordllama-256")
    X = backbone.extract(data.items)
    asked = [without_a_word(data.items[i], rng) for i in rng.integers(0, len(X), 500)]
    centre = X.mean(axis=0)
    return Problem("icd10", X - centre, backbone.extract(asked) - centre)


def measure(problem: Problem, shortlist: int, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each way, and for each comparison alone."""
    ways = {**ours(problem, shortlist), **others(problem, shortlist)}
    found = {name: way() for name, way in ways.items()}
    times = interleaved(ways, dict.fromkeys(ways, repeats), clock=time.process_time)
    common = {"data": problem.name, "vectors": len(problem.X), "shortlist": shortlist}
    answers = [
        {
            **common,
            "way": name,
            "seconds": seconds,
            "ratio_to_product": times["full product"] / seconds,
            "ratio_to_faiss": times["faiss refine"] / seconds,
            "recall": recall(found[name], found["full product"]),
        }
        for name, seconds in times.items()
    ]
    return answers + [
        {**common, **row} for row in comparisons(problem, shortlist, repeats)
    ]


def stored(problem: Problem) -> dict[str, Any]:
    return {
        "float32": problem.X,
        "float16": problem.X.astype(np.float16),
        "int8": Int8Vectors.from_vectors(problem.X),
    }


def ours(problem: Problem, shortlist: int) -> dict[str, Callable[[], Any]]:
    """Return the searches of an index, by each kind of stored vectors and by scores."""
    index, codes = FlatIndex(problem.codes(problem.X)), problem.codes(problem.queries)

    def by(**options: Any) -> Callable[[], Any]:
        return lambda: (
            index.search_reranked(codes, K, shortlist=shortlist, **options).ids
        )

    return {
        **{
            name: by(vectors=vectors, query_vectors=problem.queries)
            for name, vectors in stored(problem).items()
        },
        "asymmetric": by(scores=problem.queries),
        "Hamming alone": lambda: index.search(codes, shortlist).ids[:, :K],
    }


def others(problem: Problem, shortlist: int) -> dict[str, Callable[[], Any]]:
    """Return the peers."""
    import faiss

    X, queries = problem.X, problem.queries
    index, codes = FlatIndex(problem.codes(X)), problem.codes(queries)
    faiss.omp_set_num_threads(1)
    signs = faiss.IndexLSH(X.shape[1], X.shape[1], False, False)
    refined = faiss.IndexRefineFlat(signs)
    refined.add(X)
    refined.k_factor = shortlist / K

    def gathering() -> Any:
        rows = index.search(codes, shortlist).ids
        return np.stack([nearest(q, X, r) for q, r in zip(queries, rows, strict=True)])

    return {
        "NumPy gather": gathering,
        "full product": lambda: by_product(X, queries),
        "faiss refine": lambda: refined.search(queries, K)[1],
    }


def nearest(query: Floats, X: Floats, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order some rows by their distance to a query."""
    apart = X[rows] - query
    order = np.argsort(np.einsum("ij,ij->i", apart, apart), kind="stable")
    return rows[order[:K]]


def by_product(X: Floats, queries: Floats) -> NDArray[np.int64]:
    """Find the nearest of all vectors, block by block."""
    ids, values = [], []
    for start in range(0, len(X), _BLOCK):
        part = X[start : start + _BLOCK]
        keys = np.einsum("ij,ij->i", part, part) - 2 * (queries @ part.T)
        first = np.argpartition(keys, K, axis=1)[:, :K]
        values.append(np.take_along_axis(keys, first, axis=1))
        ids.append(first + start)
    order = np.argsort(np.hstack(values), axis=1)[:, :K]
    return np.take_along_axis(np.hstack(ids), order, axis=1)


def comparisons(
    problem: Problem, shortlist: int, repeats: int
) -> Iterator[dict[str, Any]]:
    """Yield the time of each comparison alone, for rows that are there."""
    codes, queries = problem.codes(problem.X), problem.queries
    rows = FlatIndex(codes).search(problem.codes(queries), shortlist).ids
    asked, d = queries.astype(np.float64), problem.X.shape[1]

    def by(vectors: Any) -> Callable[[], Any]:
        return lambda: exact(asked, vectors, rows, "euclidean")

    ways = {name: by(vectors) for name, vectors in stored(problem).items()}
    ways["asymmetric"] = lambda: asymmetric(queries, codes, rows)
    n_bytes = {"float32": 4 * d, "float16": 2 * d, "int8": d, "asymmetric": d // 8}
    copy, whole = np.empty_like(problem.X), problem.X
    ways["copy"] = lambda: np.copyto(copy, whole)
    times = interleaved(ways, dict.fromkeys(ways, repeats), clock=time.process_time)
    copied = 2 * whole.nbytes / times.pop("copy")
    for name, seconds in times.items():
        rate = n_bytes[name] * rows.size / seconds
        yield {
            "way": f"{name}, comparison alone",
            "seconds": seconds,
            "nanoseconds_per_row": 1e9 * seconds / rows.size,
            "gigabytes_per_second": rate / 1e9,
            "share_of_copying": rate / copied,
        }


def recall(found: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Return the share of the true neighbours that was found."""
    shared = [len(np.intersect1d(a, b)) for a, b in zip(found, truth, strict=True)]
    return float(np.mean(shared)) / K


def shown(row: dict[str, Any]) -> str:
    """Return one line of the table."""
    start = (
        f"{row['data']:7} {row['vectors']:8,} {row['shortlist']:5} {row['way']:29} "
        f"{1e3 * row['seconds']:8.1f}ms"
    )
    if "recall" in row:
        return (
            f"{start} {row['ratio_to_product']:6.1f}x product "
            f"{row['ratio_to_faiss']:5.1f}x faiss, recall {row['recall']:.4f}"
        )
    return (
        f"{start} {row['nanoseconds_per_row']:6.1f} ns a row, "
        f"{row['gigabytes_per_second']:5.1f} GB/s, "
        f"{row['share_of_copying']:.0%} of copying"
    )


if __name__ == "__main__":
    typer.run(main)
