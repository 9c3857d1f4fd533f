"""Codes trained to keep neighbours, among rows that no encoder was learnt from.

Cells of single lengths are those of `benchmarks.later_rows`; nested codes, prefixes of
a single fit, are measured here in the same way.
"""

import json
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.later_rows import RABITQ, SEEDS, drawn, searched, vectors
from fewbits.learners import NeighbourCodes
from research.common import datasets
from research.core.claims import Claim, findings
from research.core.record import RESULTS, Metrics, Record
from research.core.runner import Task
from research.core.table import decimal, interval, markdown

if TYPE_CHECKING:
    from research.core.study import Study

#: By data, bits and method.
Cells = dict[tuple[str, int, str], list[dict[str, Any]]]

BENCHMARK = RESULTS.parents[1] / "benchmarks" / "results" / "later_rows.json"
OURS = "NeighbourCodes"
DATA, NESTED_DATA = ("icd10", "wordnet", "glove", "caltech101", "cifar10"), 3
LENGTHS, SHOWN, TINY_LENGTHS = (64, 128, 256), (64, 256), (8, 16)
#: A bit for each feature of images.
WIDE = ("caltech101", 1280)
#: Shortlists of 100 are ranked again by scores.
METRICS = {"hamming": "Hamming", "reranked": "re-ranked"}


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield nested codes of each seed; a tiny run takes seconds."""
    lengths = TINY_LENGTHS if tiny else LENGTHS
    for data in ("digits",) if tiny else DATA[:NESTED_DATA]:
        for seed in SEEDS[:1] if tiny else SEEDS:
            at = {"data": data, "method": f"{OURS}, nested", "seed": seed}
            cells = [{**at, "bits": n_bits} for n_bits in lengths]
            yield Task("later", cells, partial(nested, data, seed, lengths))


def nested(data: str, seed: int, lengths: tuple[int, ...]) -> list[Metrics]:
    """Return what prefixes of one encoder find."""
    X = datasets.load_digits().items[:400] if data == "digits" else vectors(data)
    learnt, *sides = drawn(X, seed)
    *shorter, longest = lengths
    learner = NeighbourCodes(longest, nested_bits=shorter, random_state=seed)
    start = time.process_time()
    encoder = learner.fit(learnt).encoder_
    seconds = time.process_time() - start
    found = (searched(encoder.prefix(n_bits), *sides) for n_bits in lengths)
    return [{**_metrics(each), "learning_seconds": seconds} for each in found]


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Return the records with those of the benchmark."""
    rows = json.loads(BENCHMARK.read_text("utf-8"))["rows"]
    return [*records, *map(_record, rows)]


def _record(row: dict[str, Any]) -> Record:
    settings = {name: row[name] for name in ("data", "method", "bits")}
    return Record("later", settings, row["seed"], _metrics(row))


def _metrics(row: dict[str, Any]) -> Metrics:
    names = (*METRICS, "bytes", "learning_seconds")
    return {name: row[name] for name in names if name in row}


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""

    def beyond(method: str, data: str) -> str:
        sides = {"method": OURS}, {"method": method}
        return study.gap("later", "reranked", *sides, data=data, bits=LENGTHS[-1])

    cells = measured()
    return {
        "gaps": gaps(study),
        "beyond": beyond,
        "every_length": every_length(study, cells),
        "costs": costs(study, cells),
    }


def measured() -> Cells:
    """Return the cells of the benchmark, with a row for each seed."""
    cells: Cells = {}
    for row in json.loads(BENCHMARK.read_text("utf-8"))["rows"]:
        at = row["data"], row["bits"], row["method"]
        cells.setdefault(at, []).append(row)
    # RaBitQ has a bit for each feature, whatever the length of codes beside it.
    return {
        (*at, way): rows
        for (*at, way), rows in cells.items()
        if way != RABITQ or 8 * rows[0]["bytes"] >= at[-1]
    }


def every_length(study: "Study", cells: Cells) -> str:
    """Return what each way finds, ranked again; an asterisk where seeds are missing."""
    ways = list(dict.fromkeys(way for _, _, way in cells))
    lines = [
        [
            study.titles[data],
            n_bits,
            *(_found(cells.get((data, n_bits, w))) for w in ways),
        ]
        for data in DATA
        for n_bits in sorted({bits for of, bits, _ in cells if of == data})
    ]
    return markdown(["data", "bits", *ways], lines)


def _found(rows: list[dict[str, Any]] | None) -> str:
    if not rows:
        return ""
    return decimal(_mean(rows, "reranked")) + " *" * (len(rows) < len(SEEDS))


def costs(study: "Study", cells: Cells) -> str:
    """Return bytes, speed and time to learn of each way where codes are long."""
    places = [(data, LENGTHS[-1]) for data in DATA] + [WIDE]
    ways = list(
        dict.fromkeys(way for data, n_bits, way in cells if n_bits >= LENGTHS[-1])
    )
    lines = []
    for way in ways:
        found = [cells.get((*place, way)) for place in places]
        sizes = [f"{_mean(rows, 'bytes'):.0f}" for rows in found if rows]
        lines.append([way, sizes[0], *map(_cost, found)])
    titles = [f"{study.titles[data]}, {n_bits:,}" for data, n_bits in places]
    return markdown(["way", "bytes", *titles], lines)


def _cost(rows: list[dict[str, Any]] | None) -> str:
    if not rows:
        return ""
    thousands = _mean(rows, "queries_per_second") / 1000
    return f"{thousands:.1f} ({_mean(rows, 'learning_seconds'):.1f})"


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def gaps(study: "Study") -> str:
    """Return what ours has beyond ITQ of each length, with its interval."""
    sides = {"method": OURS}, {"method": "ITQ"}
    found: dict[tuple[str, int, str], str] = {}
    for metric in METRICS:
        claim = Claim("", "", "later", metric, *sides)
        for each in findings(claim, study.records, lambda _: ""):
            at = dict(each.setting)
            found[at["data"], at["bits"], metric] = interval(each.effect)
    columns = [(n_bits, metric) for metric in METRICS for n_bits in SHOWN]
    rows = [
        [study.titles[data], *(found[data, *column] for column in columns)]
        for data in DATA
    ]
    header = [f"{n_bits} bits, {METRICS[metric]}" for n_bits, metric in columns]
    return markdown(["data", *header], rows)
