"""Codes for rows that come later, ranked by Hamming distance and again by scores.

    python -m benchmarks.later_rows [--json FILE] [--data icd10 ...] [--bits 64 ...]
        [--method AdditiveCodes ...] [--seed 0 ...]

What FILE has of other cells stays.

A collection grows after its encoder was learnt. Here 20,000 rows are learnt from (of
Caltech-101 5,000), 60,000 more at most are searched, and 1,000 more are the queries. A
right answer is one of the 10 nearest by Euclidean distance. Three seeds draw all three.
Shortlists of 100 by Hamming distance are ranked again by scores; of `NeighbourCodes`
and of additive codes those of 400, too. With `--bits 50` GloVe has a
bit for each feature, with `--bits 1280` images. Beside them are faiss's RaBitQ, of one
bit a feature, and PQ fast scan of at most as many bytes, of the features and of leading
components, which rank all rows by their estimates. One process, one thread; times are
processor time.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.rerank import recall
from fewbits import _kernels, backbones
from fewbits.encoders import Encoder
from fewbits.errors import MissingDataError, MissingExtraError
from fewbits.evaluation import exact_neighbours
from fewbits.index import FlatIndex
from fewbits.learners import (
    ITQ,
    AdditiveCodes,
    FastNeighbourCodes,
    Learner,
    NeighbourCodes,
)
from research.common import datasets

Floats = NDArray[np.float32]
Row = dict[str, Any]

#: Features of data sets; GloVe's are vectors already.
BACKBONES = {
    "icd10": "wordllama-256",
    "wordnet": "wordllama-256",
    "glove": None,
    "caltech101": "efficientnet-lite0-128",
    "cifar10": "efficientnet-lite0-96",
}
#: Leading components that faiss's PQ finds most with, of 24 to 1,280 tried on the draw
#: of seed 1000, by bits.
COMPONENTS = {
    "icd10": {64: 96, 128: 128, 256: 192},
    "wordnet": {64: 96, 128: 192, 256: 192},
    "glove": {50: 36, 64: 32, 128: 50, 256: 50},
    "caltech101": {64: 64, 128: 64, 256: 128, 1280: 320},
    "cifar10": {64: 32, 128: 64, 256: 128, 1280: 320},
}
DATA, LENGTHS, SEEDS, K = tuple(BACKBONES), (64, 128, 256), (0, 1, 2), 10
_LEARNT, _LEARNT_OF_FEW, _SEARCHED, _QUERIES = 20_000, 5000, 60_000, 1000
LEARNERS: dict[str, Callable[[int, int], Learner]] = {
    "random rotation": lambda b, seed: ITQ(b, n_iter=0, random_state=seed),
    "ITQ": lambda b, seed: ITQ(b, random_state=seed),
    "NeighbourCodes": lambda b, seed: NeighbourCodes(b, random_state=seed),
    "FastNeighbourCodes": lambda b, seed: FastNeighbourCodes(b, random_state=seed),
    "AdditiveCodes": lambda b, seed: AdditiveCodes(b, random_state=seed),
    "AdditiveCodes + 2 bytes": lambda b, seed: AdditiveCodes(
        b, correction=True, random_state=seed
    ),
}
RABITQ, PQ, PCA_PQ = "faiss RaBitQ", "faiss PQ, 4-bit fast scan", "faiss PCA + PQ"
METHODS = (*LEARNERS, RABITQ, PQ, PCA_PQ)
SHORTLIST = 100
#: How long shortlists are besides.
LONGER = {"NeighbourCodes": 400, "AdditiveCodes": 400, "AdditiveCodes + 2 bytes": 400}


def main(
    data: Annotated[list[str], typer.Option()] = list(DATA),  # noqa: B006
    bits: Annotated[list[int], typer.Option()] = list(LENGTHS),  # noqa: B006
    method: Annotated[list[str], typer.Option()] = list(METHODS),  # noqa: B006
    seeds: Annotated[list[int], typer.Option("--seed")] = list(SEEDS),  # noqa: B006
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Measure cells and print a row for each."""
    _kernels.set_num_threads(1)
    rows = {}
    if json_path and json_path.exists():
        rows = {cell_of(row): row for row in json.loads(json_path.read_text())["rows"]}
    with threadpool_limits(1):
        for name in data:
            try:
                X = vectors(name)
            except (MissingDataError, MissingExtraError) as missing:
                print(f"{name} is left out: {missing}")
                continue
            for seed in seeds:
                for found in measured(name, X, bits, seed, method):
                    row = {"data": name, "seed": seed, **found}
                    rows[cell_of(row)] = row
                    print(row, flush=True)
    ordered = [rows[cell] for cell in sorted(rows)]
    report = {"machine": {"isa": _kernels.active_isa()}, "rows": ordered}
    print(as_table(report))
    if json_path:
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def cell_of(row: Row) -> tuple[int, int, int, str]:
    """Return what tells a row from all other ones; cells are written in their order."""
    return DATA.index(row["data"]), row["seed"], row["bits"], row["method"]


def vectors(name: str) -> Floats:
    """Return the features of a data set; those of images are kept on the disk."""
    data, backbone = datasets.load(name), BACKBONES[name]
    if backbone is None:
        found: Floats = data.items
        return found
    model = backbones.load(backbone)
    if model.kind == "texts":
        return model.extract(data.items)
    key = hashlib.sha256("\n".join(data.keys).encode()).hexdigest()[:16]
    return np.asarray(backbones.cached_features(model, data.items, key))


def measured(
    data: str, X: Floats, lengths: list[int], seed: int, methods: list[str]
) -> Iterator[Row]:
    """Yield a row for each way of one seed."""
    sides = drawn(X, seed)
    for n_bits in lengths:
        for name, make in LEARNERS.items():
            if name in methods:
                yield from by_fewbits(name, make(n_bits, seed), *sides)
        if {RABITQ, PQ, PCA_PQ} & set(methods):
            for name, index in faiss_indexes(data, X.shape[1], n_bits, seed).items():
                if name in methods:
                    yield by_faiss(name, index, n_bits, *sides)


def drawn(X: Floats, seed: int) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Return rows to learn from, rows to search, queries, and the right answers."""
    order = np.random.default_rng(seed).permutation(len(X))
    few = min(_LEARNT_OF_FEW, 2 * len(X) // 3)
    n_learnt = _LEARNT if len(X) > 2 * _LEARNT else few
    n_queries = min(_QUERIES, len(X) // 6)
    learnt, queries = X[order[:n_learnt]], X[order[-n_queries:]]
    base = X[order[n_learnt:-n_queries][:_SEARCHED]]
    return learnt, base, queries, exact_neighbours(queries, base, K).ids


def by_fewbits(
    name: str,
    learner: Learner,
    learnt: Floats,
    base: Floats,
    queries: Floats,
    truth: NDArray[np.int64],
) -> Iterator[Row]:
    start = time.process_time()
    encoder = learner.fit(learnt).encoder_
    seconds = time.process_time() - start
    for shortlist in (SHORTLIST, *((LONGER[name],) if name in LONGER else ())):
        method = name if shortlist == SHORTLIST else f"{name}, of {shortlist}"
        found = searched(encoder, base, queries, truth, shortlist)
        yield {"method": method, **found, "learning_seconds": seconds}


def searched(
    encoder: Encoder,
    base: Floats,
    queries: Floats,
    truth: NDArray[np.int64],
    shortlist: int = SHORTLIST,
) -> Row:
    """Return what an encoder finds by Hamming distance, and ranked again."""
    index = FlatIndex(encoder.encode(base))
    beside = encoder.corrections(base, index.codes)
    first = index.search(encoder.encode(queries), K).ids
    start = time.process_time()
    found = index.search_reranked(
        encoder.encode(queries),
        K,
        scores=encoder.query_scores(queries),
        offsets=beside or encoder.offsets,
        shortlist=shortlist,
    ).ids
    took = time.process_time() - start
    return {
        "bits": encoder.n_bits,
        "bytes": index.codes.shape[1] + (0 if beside is None else beside.n_bytes),
        "hamming": recall(first, truth),
        "reranked": recall(found, truth),
        "queries_per_second": len(queries) / took,
    }


def faiss_indexes(data: str, d: int, n_bits: int, seed: int) -> dict[str, Any]:
    """Return indexes of at most so many bits, RaBitQ aside, not yet trained."""
    import faiss

    faiss.omp_set_num_threads(1)
    made = {PQ: fast_scan(d, n_bits, seed)}
    if n_bits >= d:
        rotation = faiss.RandomRotationMatrix(d, d)
        rotation.init(seed)
        rabitq = faiss.IndexRaBitQFastScan(d, faiss.METRIC_L2)
        made[RABITQ] = faiss.IndexPreTransform(rotation, rabitq)
    if n_bits in COMPONENTS[data]:
        k = COMPONENTS[data][n_bits]
        fast, leading = fast_scan(k, n_bits, seed), faiss.PCAMatrix(d, k, 0, True)
        made[PCA_PQ] = faiss.IndexPreTransform(leading, fast)
    return made


def fast_scan(d: int, n_bits: int, seed: int) -> Any:
    """Return PQ of as many sub-quantisers of 4 bits as divide the features."""
    import faiss

    n_parts = max(m for m in range(1, n_bits // 4 + 1) if d % m == 0)
    index = faiss.IndexPQFastScan(d, n_parts, 4)
    index.pq.cp.seed = seed + 1
    return index


def by_faiss(
    name: str,
    index: Any,
    n_bits: int,
    learnt: Floats,
    base: Floats,
    queries: Floats,
    truth: NDArray[np.int64],
) -> Row:
    start = time.process_time()
    index.train(learnt)
    seconds = time.process_time() - start
    index.add(base)
    start = time.process_time()
    found = index.search(queries, K)[1]
    took = time.process_time() - start
    return {
        "method": name,
        "bits": n_bits,
        "bytes": index.sa_code_size(),
        "reranked": recall(found, truth),
        "queries_per_second": len(queries) / took,
        "learning_seconds": seconds,
    }


def as_table(report: dict[str, Any]) -> str:
    """Return means over the seeds, with the standard error of what is re-ranked."""
    lines = [
        "| data | bits | method | bytes | recall@10, Hamming | re-ranked by scores "
        "| queries/s | learning, s |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    cells: dict[tuple[str, int, str], list[Row]] = {}
    for row in report["rows"]:
        cells.setdefault((row["data"], row["bits"], row["method"]), []).append(row)
    for (data, bits, method), rows in cells.items():
        mean = {
            x: float(np.mean([row[x] for row in rows])) for x in rows[0] if x in _SHOWN
        }
        again = [row["reranked"] for row in rows]
        error = np.std(again, ddof=1) / len(again) ** 0.5 if len(again) > 1 else np.nan
        first = f"{mean['hamming']:.3f}" if "hamming" in mean else ""
        lines.append(
            f"| {data} | {bits} | {method} | {mean['bytes']:.0f} | {first} "
            f"| {mean['reranked']:.3f} ± {error:.3f} "
            f"| {mean['queries_per_second']:,.0f} | {mean['learning_seconds']:.1f} |"
        )
    return "\n".join(lines)


_SHOWN = ("bytes", "hamming", "reranked", "queries_per_second", "learning_seconds")

if __name__ == "__main__":
    typer.run(main)
