"""Ten nearest neighbours by fewbits and by faiss, from the same real embeddings.

    python -m benchmarks.compare_faiss [--quick] [--json FILE]
    python -m benchmarks.compare_faiss --table FILE

The database holds the WordLlama embeddings (256 floats) of the diagnoses of ICD-10-CM
but 1,000, which are the queries. A right answer is one of the 10 nearest vectors by
Euclidean distance. One process, one thread; times are processor time. Everything that
is random is drawn anew for each of three seeds, and figures are medians over the seeds.
A search starts at the float query and ends at ids, so encoding the query is part of it;
searches are timed in turn. Building is learning, encoding and adding. HNSW is the one
approximate index: its bytes hold the vectors and the links of its lowest level. The
second command prints the table of the README.
"""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks._page import RESULTS
from benchmarks.rerank import recall
from benchmarks.search import interleaved
from fewbits import _kernels, backbones, datasets
from fewbits.index import FlatIndex, Int8Vectors
from fewbits.learners import ITQ, AdditiveCodes, Learner, NeighbourCodes, Thresholding

MEASURED = RESULTS / "compare_faiss.json"
K, SHORTLIST, N_BITS, N_QUERIES = 10, 100, 256, 1000
SEEDS = (0, 1, 2)
HNSW_LINKS, HNSW_SEARCH = 32, 64
#: Left out of the README's table; the page of benchmarks has all rows.
LEFT_OUT = (
    "faiss SQ8",
    "faiss PQ, 8-bit",
    "fewbits sign",
    "fewbits ITQ",
    "fewbits ITQ, re-ranked by int8",
    "fewbits additive",
    "fewbits additive, re-ranked by int8",
    "fewbits neighbours",
)

Floats = NDArray[np.float32]
Search = Callable[[Floats], NDArray[np.int64]]


class Way(NamedTuple):
    """One way to store and search, and the processor time until it can be asked."""

    name: str
    n_bytes: int
    build_seconds: float
    search: Search


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the vectors.")] = False,
    repeats: Annotated[int, typer.Option(help="Searches of each way.")] = 5,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
    table: Annotated[
        Path | None, typer.Option(help="Print the table of this file.")
    ] = None,
) -> None:
    """Measure every way and print the table."""
    if table:
        print(as_table(json.loads(table.read_text("utf-8"))))
        return
    X, queries = embeddings(quick)
    with threadpool_limits(1):
        _kernels.set_num_threads(1)
        rows = measured(X, queries, SEEDS, repeats)
        _kernels.set_num_threads(None)
    report = {
        "machine": {"isa": _kernels.active_isa()},
        "vectors": len(X),
        "queries": len(queries),
        "rows": rows,
    }
    print(as_table(report))
    if json_path:
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def embeddings(quick: bool) -> tuple[Floats, Floats]:
    """Return the vectors of the database and those of the queries."""
    texts = datasets.load_icd10().items
    X = backbones.load("wordllama-256").extract(texts[:: 10 if quick else 1])
    order = np.random.default_rng(0).permutation(len(X))
    return X[order[N_QUERIES:]], X[order[:N_QUERIES]]


def measured(
    X: Floats, queries: Floats, seeds: tuple[int, ...], repeats: int
) -> list[dict[str, Any]]:
    """Return a row of medians over seeds for each way."""
    import faiss

    faiss.omp_set_num_threads(1)
    truth = exact(X).search(queries)
    by_name: dict[str, list[dict[str, float]]] = {}
    for seed in seeds:
        built = list(ways(X, seed))
        searches = {way.name: partial(way.search, queries) for way in built}
        times = interleaved(
            searches, dict.fromkeys(searches, repeats), clock=time.process_time
        )
        for way in built:
            figures = {
                "bytes": way.n_bytes,
                "recall": recall(way.search(queries), truth),
                "queries_per_second": len(queries) / times[way.name],
                "build_seconds": way.build_seconds,
            }
            by_name.setdefault(way.name, []).append(figures)
            print(f"seed {seed}: {way.name}: {figures}", flush=True)
    return [
        {"way": name, **{x: float(np.median([f[x] for f in each])) for x in each[0]}}
        for name, each in by_name.items()
    ]


def ways(X: Floats, seed: int) -> Iterator[Way]:
    """Yield the ways of faiss, then ours."""
    yield exact(X)
    yield from by_faiss(X, seed)
    yield from by_fewbits("sign", Thresholding(), X)
    yield from by_fewbits("ITQ", ITQ(N_BITS, random_state=seed), X)
    yield from by_fewbits("additive", AdditiveCodes(N_BITS, random_state=seed), X)
    corrected = AdditiveCodes(N_BITS, correction=True, random_state=seed)
    # Corrections change no other ranking.
    _, by_scores, _ = by_fewbits("additive + 2 bytes", corrected, X)
    yield by_scores
    learner = NeighbourCodes(N_BITS, random_state=seed)
    yield from by_fewbits("neighbours", learner, X)


def exact(X: Floats) -> Way:
    import faiss

    return trained("faiss Flat, float32", faiss.IndexFlatL2(X.shape[1]), X)


def by_faiss(X: Floats, seed: int) -> Iterator[Way]:
    """Yield what faiss has for few bytes; rotations and clusters by the seed."""
    import faiss

    d = X.shape[1]
    yield trained("faiss SQ8", faiss.IndexScalarQuantizer(d, 0), X)
    rotation = faiss.RandomRotationMatrix(d, d)
    rotation.init(seed)
    rabitq = faiss.IndexRaBitQFastScan(d, faiss.METRIC_L2)
    yield trained("faiss RaBitQ", faiss.IndexPreTransform(rotation, rabitq), X)
    finer = faiss.IndexRaBitQFastScan(d, faiss.METRIC_L2, 32, 4)
    yield trained("faiss RaBitQ, 4 bits", faiss.IndexPreTransform(rotation, finer), X)
    exhaustive = faiss.IndexPQ(d, N_BITS // 8, 8)
    exhaustive.pq.cp.seed = seed + 1
    yield trained("faiss PQ, 8-bit", exhaustive, X)
    fast = faiss.IndexPQFastScan(d, N_BITS // 4, 4)
    fast.pq.cp.seed = seed + 1
    yield trained("faiss PQ, 4-bit fast scan", fast, X)
    base = faiss.IndexPQFastScan(d, N_BITS // 4, 4)
    base.pq.cp.seed = seed + 1
    refined = faiss.IndexRefine(base, faiss.IndexScalarQuantizer(d, 0))
    refined.k_factor = SHORTLIST / K
    yield trained("faiss PQ, re-ranked by SQ8", refined, X)
    graph = faiss.IndexHNSWFlat(d, HNSW_LINKS)
    graph.hnsw.efSearch = HNSW_SEARCH
    graph.hnsw.rng = faiss.RandomGenerator(seed)
    links = 2 * HNSW_LINKS * np.dtype(np.int32).itemsize
    yield trained("faiss HNSW, float32", graph, X, X.itemsize * d + links)


def trained(name: str, index: Any, X: Floats, n_bytes: int = 0) -> Way:
    """Return an index of faiss that was trained on the vectors and holds them."""
    start = time.process_time()
    index.train(X)
    index.add(X)
    seconds = time.process_time() - start

    def search(queries: Floats) -> NDArray[np.int64]:
        found: NDArray[np.int64] = index.search(queries, K)[1]
        return found

    return Way(name, n_bytes or index.sa_code_size(), seconds, search)


def by_fewbits(name: str, learner: Learner, X: Floats) -> Iterator[Way]:
    """Yield a learner's codes alone, re-ranked by scores, and by stored bytes."""
    start = time.process_time()
    encoder = learner.fit(X).encoder_
    codes = encoder.encode(X)
    index = FlatIndex(codes)
    beside = encoder.corrections(X, codes)
    seconds = time.process_time() - start
    vectors = Int8Vectors.from_vectors(X)
    again: dict[str, Any] = {"k": K, "shortlist": SHORTLIST}

    def alone(queries: Floats) -> NDArray[np.int64]:
        return index.search(encoder.encode(queries), K).ids

    def by_scores(queries: Floats) -> NDArray[np.int64]:
        scores = encoder.query_scores(queries)
        asked = encoder.encode(queries)
        offsets = beside or encoder.offsets
        return index.search_reranked(asked, scores=scores, offsets=offsets, **again).ids

    def by_vectors(queries: Floats) -> NDArray[np.int64]:
        asked = encoder.encode(queries)
        kept: dict[str, Any] = {"vectors": vectors, "query_vectors": queries}
        return index.search_reranked(asked, **kept, **again).ids

    width = codes.shape[1]
    corrected = width + (beside.n_bytes if beside else 0)
    stored = (vectors.values.nbytes + vectors.blocks.nbytes) // len(X)
    yield Way(f"fewbits {name}", width, seconds, alone)
    yield Way(f"fewbits {name}, re-ranked by scores", corrected, seconds, by_scores)
    name = f"fewbits {name}, re-ranked by int8"
    yield Way(name, width + stored, seconds, by_vectors)


def as_table(report: dict[str, Any]) -> str:
    """Return the table of the README."""
    lines = [
        "| method | bytes/vector | recall@10 | queries/s | building |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in report["rows"]:
        if row["way"] in LEFT_OUT:
            continue
        lines.append(
            f"| {row['way']} | {row['bytes']:,.0f} | {row['recall']:.2f} "
            f"| {to_two_digits(row['queries_per_second'])} "
            f"| {duration(row['build_seconds'])} |"
        )
    return "\n".join(lines)


def to_two_digits(value: float) -> str:
    digits = 1 - int(np.floor(np.log10(value)))
    return f"{round(value, digits):,.0f}"


def duration(seconds: float) -> str:
    if seconds < 0.05:
        return "< 0.1 s"
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{to_two_digits(seconds)} s"


if __name__ == "__main__":
    typer.run(main)
