"""Writes docs/benchmarks.md and its figure: ``python -m benchmarks._page``.

A selection of ``benchmarks/results``: all rows are in the JSON files.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import _growth
from benchmarks._frontier import draw
from benchmarks._markdown import wrapped

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MOST_WORDS = 1200

Row = Mapping[str, Any]

INTRODUCTION = """# Benchmarks

A selection of `benchmarks/results` (`make bench`). Ratios are of medians in
one process, in turn; above 1 fewbits is faster. Sections were measured at different
times, not all on one machine. A target is the ratio set for AVX-512; what misses it is
bold. One thread unless said otherwise."""


class Section(NamedTuple):
    """A table of the page.

    Attributes
    ----------
    name : str
        Of the file in `RESULTS`.
    title, text : str
    columns : mapping
        What shows a row, by the name of the column.
    wanted : callable
        Chooses rows.
    """

    name: str
    title: str
    text: str
    columns: Mapping[str, Callable[[Row], Any]]
    wanted: Callable[[Row], bool] = lambda _: True

    def __str__(self) -> str:
        """Return the section, with what was written down of the machine."""
        report = read(self.name)
        rows = [row for row in rows_of(report) if self.wanted(row)]
        cells = [[show(row) for show in self.columns.values()] for row in rows]
        parts = [f"## {self.title}", self.text, table([*self.columns], cells)]
        return "\n\n".join(filter(None, [*parts, machine(report)]))


def read(name: str) -> Any:
    """Return what a benchmark wrote."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def rows_of(report: Any) -> list[Row]:
    """Return the rows of a report; the names of projections are taken apart."""
    rows: list[Row] = report["rows"] if isinstance(report, dict) else report
    return [{**row, **_parts_of(str(row.get("name", "")))} for row in rows]


def _parts_of(name: str) -> dict[str, str]:
    """Return the parts of a name such as "bilinear batch 256 4096"."""
    found = re.fullmatch(r"(.+) (single|batch) ?(\d*) (\d+)", name)
    if found is None:
        return {}
    projection, _, count, features = found.groups()
    return {"name": projection, "count": count or "1", "features": features}


def table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table in Markdown."""
    names = [*header]
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def machine(report: Any) -> str:
    """Return what was written down of the machine of a section."""
    noted = report.get("machine", {}) if isinstance(report, dict) else {}
    texts = [noted[key] for key in ("cpu", "isa") if noted.get(key)]
    for key, unit in (
        ("gflops", "GFLOP/s"),
        ("gb_per_s", "GB/s of memory"),
        ("gwords_per_s", "Gword/s in registers"),
    ):
        if noted.get(key):
            texts.append(f"{noted[key]:.0f} {unit}")
    return f"The machine: {', '.join(texts)}." if texts else ""


def value(key: str, form: str = ",", scale: float = 1) -> Callable[[Row], str]:
    """Return what shows a value, or nothing where a row lacks it."""

    def show(row: Row) -> str:
        found = row.get(key)
        if found is None or isinstance(found, str):
            return found or ""
        return f"{scale * found:{form}}"

    return show


def plain(number: float) -> str:
    """Return three digits, or all of a larger number."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def milliseconds(key: str) -> Callable[[Row], str]:
    """Return what shows milliseconds."""
    return lambda row: "" if row.get(key) is None else plain(row[key])


def seconds(key: str) -> Callable[[Row], str]:
    """Return what shows a time with a unit that fits it."""

    def show(row: Row) -> str:
        found = row.get(key)
        if found is None:
            return ""
        unit, scale = next(
            (each for each in (("s", 1.0), ("ms", 1e3)) if found * each[1] >= 1),
            ("us", 1e6),
        )
        return f"{plain(found * scale)} {unit}"

    return show


def against_target(at_most: bool = False) -> Callable[[Row], str]:
    """Return what shows a ratio beside its target, in bold where it misses it."""

    def show(row: Row) -> str:
        ratio, target = row.get("ratio"), row.get("target")
        if ratio is None:
            return ""
        missed = target is not None and (ratio > target if at_most else ratio < target)
        text = f"**{ratio:.2f}**" if missed else f"{ratio:.2f}"
        return text if target is None else f"{text} ({target:g})"

    return show


def times_ours(key: str) -> Callable[[Row], str]:
    """Return what shows how many times as long as look-ups another way takes."""
    return lambda row: f"{row[key] / row['multi_index']:.1f}"


def per_row(key: str) -> Callable[[Row], str]:
    """Return what shows microseconds for a row of a batch."""
    return lambda row: plain(1e3 * row[key] / int(row["count"]))


def share(row: Row) -> str:
    """Return the share of a limit that a batch reaches; single queries have another."""
    return f"{row['share']:.0%}" if row["queries"] > 1 else ""


def two_threads() -> str:
    """Return what a second thread gives a single query."""
    (row,) = (row for row in read("search")["rows"] if "two" in row)
    ratio = against_target()(row)
    return (
        f"One query of {row['n']:,} {row['bits']}-bit codes, two threads beside one: "
        f"{ratio}; reading alone: {row['ratio_of_reading']:.2f}."
    )


def one_query() -> str:
    """Return what a collection adds to the kernel, if it was measured."""
    texts = []
    for row in read("search")["rows"]:
        for name, us in row.get("above_kernel_us", {}).items():
            target = row["above_kernel_targets"][name]
            shown = f"**{us:.0f}**" if us > target else f"{us:.0f}"
            texts.append(f"`{name}` {shown} ({target}), threads {row['threads']}")
    if not texts:
        return ""
    return (
        "Microseconds of the processor that a collection adds to one query of 10,000 "
        f"64-bit codes (target): {'; '.join(texts)}."
    )


def frontier() -> str:
    """Return the figure of recall beside faiss, whose table the README has."""
    return (
        "## Recall beside faiss\n\n"
        "![Recall against bytes and against queries per second](beside-faiss.svg)"
    )


def growing() -> str:
    """Return what it costs to fill, change and open a collection."""
    pairs = rows_of(read("multi_index"))
    lines = _growth.lines(read("store"), read("hundred_million"), pairs)
    return f"## A growing collection\n\n{table(['64-bit codes', ''], lines)}"


def filters() -> str:
    """Return the cost of searches among some of the rows only."""
    cells: dict[float, list[str]] = {}
    for row in rows_of(read("search")):
        if "allowed" in row:
            ratio = against_target(at_most=True)(row)
            cells.setdefault(row["allowed"], []).append(ratio)
    told = (
        "Share of the time of a search of all rows (target), by 1,000 queries and one."
    )
    lines = [[f"{share:.2%}", *each] for share, each in cells.items()]
    several = ["64 bits", "256 bits"]
    columns = [*several, *(f"{bits}, one query" for bits in several)]
    return f"## Filters\n\n{told}\n\n" + table(
        ["allowed of 1,000,000", *columns], lines
    )


def beyond_memory() -> str:
    """Return what a query takes whose codes do not fit into the memory."""
    report = read("beyond_memory")
    return (
        "## Beyond the memory\n\n"
        f"{report['codes']:,} codes of {report['bits']} bits on the disk, searched "
        f"with a fourth of their bytes of memory: {report['p50_seconds']:.1f} s a "
        f"query, {report['p99_seconds']:.1f} s at the 99th percentile."
    )


def imports() -> str:
    """Return what importing costs, and whole commands."""
    report = read("import_time")
    rows = [
        (f"`import {name}`", f"{ms:.0f} ms")
        for name, ms in report["imports"].items()
        if name != "numpy, fewbits"
    ]
    rows += [
        (f"`fewbits {name}`", f"{each['cpu_seconds']:.2f} s ({each['target']})")
        for name, each in report["commands"].items()
    ]
    told = "Commands: processor time, on the demo's collection."
    return f"## Import and commands\n\n{told}\n\n{table(['', 'median (target)'], rows)}"


def over_http() -> str:
    """Return the metrics of the service, beside those of a minimal one."""
    report, found = read("serve"), {}
    for row in report["rows"]:
        found[row["connections"], row["service"]] = row
    header, lines = ["connections"], []
    units = {
        "per_second": "a second",
        "p50_ms": "p50",
        "p99_ms": "p99",
        "cpu_ms": "CPU",
    }
    for service in ("fewbits", "faiss"):
        header += [f"{service}: {unit}" for unit in units.values()]
    for n in (1, 64):
        rows = (found[n, service] for service in ("fewbits", "faiss"))
        lines.append([n, *(plain(row[key]) for row in rows for key in units)])
    alone = report["search_alone_ms"]["fewbits"]
    return (
        "## Searches over HTTP\n\n"
        f"{report['codes']:,} codes of {report['bits']} bits, beside minimal FastAPI "
        f"over `IndexBinaryFlat`; milliseconds, of which a search is {plain(alone)}."
        f"\n\n{table(header, lines)}"
    )


def in_a_browser() -> str:
    """Return how soon the explorer can be used."""
    report = read("explorer")
    told = ", ".join(
        f"{row['name']} {plain(row['median_ms'])} ms ({row['target_ms']})"
        for row in report["rows"]
    )
    largest = read("explorer_map")["rows"][-1]
    frame, memory = plain(largest["frame_ms"]), plain(largest["memory_mb"])
    return (
        f"Explorer, {report['items']:,} items, medians (target): {told}. Map of "
        f"{largest['items']:,}: {frame} ms/frame, {memory} MB."
    )


def is_measured(name: str) -> bool:
    """Return whether there are results of a benchmark."""
    return (RESULTS / f"{name}.json").exists()


LATER_ROWS = """## Rows that come after learning

Recall of every method and length, with bytes, speed and learning times:
[neighbour codes](papers/neighbour_codes.md#every-way-and-length)."""

#: What is written of a benchmark once it has been measured.
SERVED = {"serve": over_http, "explorer": in_a_browser}
RATIO = {"ratio (target)": against_target()}
SIZE = {"rows": value("n"), "features": value("d"), "bits": value("bits")}
LOOKED_UP = {("icd10", 64), ("wordnet", 64), ("glove", 32)}
DECODERS = (
    "float",
    "nearest",
    "soft",
)

SECTIONS = (
    Section(
        "search",
        "Exact search beside faiss",
        "`IndexBinaryFlat`, the 10 nearest; *share* of what registers allow.",
        {
            "codes": value("n"),
            "bits": value("bits"),
            "queries": value("queries"),
            "fewbits": seconds("ours_seconds"),
            "faiss": seconds("faiss_seconds"),
            **RATIO,
            "share": share,
        },
        lambda row: (
            row["k"] == 10
            and "faiss_seconds" in row
            and row["bits"] not in (40, 72, 96, 200, 384, 768)
            and (row["queries"] > 1 or row["bits"] == 64)
        ),
    ),
    Section(
        "search",
        "Range search",
        "All codes within a radius of 100 queries.",
        {
            "codes": value("n"),
            "bits": value("bits"),
            "radius": value("radius"),
            "fewbits": seconds("ours_seconds"),
            "faiss": seconds("faiss_range_seconds"),
            **RATIO,
        },
        lambda row: row.get("radius") in (8, 80),
    ),
    Section(
        "multi_index",
        "Search in less than linear time",
        "Multi-index hashing, or a scan where that should cost less; the 10 nearest of "
        "a thousand queries: microseconds each, then how many times as long another "
        "way takes. MultiHash finds 98 %.",
        {
            "codes": lambda row: f"{row['n']:,} {row['data']}",
            "bits": value("bits"),
            "ours": value("multi_index", ".1f"),
            "scan": times_ours("scan"),
            "faiss Flat": times_ours("faiss_flat"),
            "MultiHash": times_ours("multi_hash"),
        },
        lambda row: (
            row["search"] == "k=10"
            and (row["n"] > 10**6 or (row["data"], row["bits"]) in LOOKED_UP)
        ),
    ),
    Section(
        "binary_hnsw",
        "Beside a graph",
        "A million codes of 64 bits; `IndexBinaryHNSW` visits as many as find .967 for "
        "other queries.",
        {
            "codes": value("data"),
            "ours": value("multi_index", ".1f"),
            "scan": times_ours("scan"),
            "HNSW": times_ours("hnsw"),
            "recall": value("hnsw_recall", ".3f"),
            "its build": seconds("hnsw_build_seconds"),
            "our tables": seconds("build_seconds"),
        },
        lambda row: row["bits"] == 64,
    ),
    Section(
        "rerank",
        "Ranking a shortlist again",
        "The 10 nearest vectors of 500 queries among 74,724 texts of ICD-10: a Hamming "
        "shortlist compared by stored vectors; ratios to one BLAS product with all "
        "vectors and to faiss's `IndexRefineFlat`.",
        {
            "shortlist": value("shortlist"),
            "time": seconds("seconds"),
            "full product": value("ratio_to_product", ".1f"),
            "faiss": value("ratio_to_faiss", ".1f"),
            "recall@10": value("recall", ".3f"),
        },
        lambda row: (
            row["data"] == "icd10" and row["way"] == "float32" and "recall" in row
        ),
    ),
    Section(
        "encode",
        "Encoding beside BLAS and SciPy's sparse product",
        "4,096 features to as many bits; ratios are to BLAS.",
        {
            "": lambda row: row["name"].removesuffix(" 4096 -> 4096, 1 T"),
            "fewbits, ms": milliseconds("ms"),
            "BLAS, ms": milliseconds("blas_ms"),
            "SciPy, ms": milliseconds("scipy_ms"),
            **RATIO,
        },
        lambda row: (
            row["name"].startswith(("dense", "sparse 10%"))
            and row["name"].endswith("4096 -> 4096, 1 T")
            and " 16 " not in row["name"]
        ),
    ),
    Section(
        "encode_projections",
        "Cheap projections beside BLAS, SciPy's CSR and FFT",
        "4,096 features to as many bits, in batches of 256, microseconds of processor "
        "time for a vector; *share* is of the processor's multiply-adds.",
        {
            "projection": value("name"),
            "fewbits": per_row("ms"),
            "BLAS": per_row("blas_ms"),
            "CSR": per_row("csr_ms"),
            "FFT": per_row("fft_ms"),
            **RATIO,
            "share": value("share", ".0%"),
        },
        lambda row: (
            row["features"] == "4096"
            and row["name"] in ("hadamard 3 rounds", "circulant", "sparse 10%")
            and row["count"] != "1"
        ),
    ),
    Section(
        "novel",
        "Search by example",
        "A class learnt from 5 codes of 2,048 bits and 1,000 random ones; a million "
        "codes ranked, on two threads.",
        {
            "step": value("name"),
            "time": seconds("seconds"),
            "target": seconds("target"),
        },
        lambda row: (
            row["threads"] == 2 and row["name"] in ("learn and rank", "rank with NumPy")
        ),
    ),
    Section(
        "decode",
        "Finding the class beside a float classifier",
        "100,000 random classes of 64 bits, one in twenty of an item's bits wrong, and "
        "leaves of ICD-10, 200 items at a time. The ratio to a BLAS product counts "
        "encoding, too.",
        {
            "classes": lambda row: f"{row['classes']:,} {row['data']}",
            "way": value("way"),
            "microseconds": value("microseconds", ",.0f"),
            "ratio": value("ratio", ".1f"),
            "right": value("right", ".3f"),
        },
        lambda row: (
            row["way"] in DECODERS
            and (row["classes"] == 100_000 or row["data"] == "icd10")
            and row["batch"] > 1
        ),
    ),
    Section(
        "fit",
        "Learning beside faiss's ITQ",
        "Processor time of 10 iterations; the loss is the mean squared distance of "
        "bits and scores. Faiss's step is [not the Procrustes "
        "solution](decisions/learners-scale.md).",
        {
            **SIZE,
            "": value("method"),
            "time": seconds("seconds"),
            "ratio": value("ratio", ".2f"),
            "loss": value("loss", ".4f"),
        },
        lambda row: (
            row["part"] == "time"
            and row["method"] in ("ITQ", "faiss")
            and (row["d"], row["bits"]) in ((128, 64), (1024, 1024))
        ),
    ),
    Section(
        "fit",
        "Learning from a file",
        "Memory at the peak without the pages of the file.",
        {
            **SIZE,
            "": value("method"),
            "time": seconds("seconds"),
            "file, MiB": value("file_bytes", ",.0f", 2**-20),
            "peak, MiB": value("peak_bytes", ",.0f", 2**-20),
        },
        lambda row: (
            row["part"] == "memory" and row["n"] >= 10_000 and row["method"] == "ITQ"
        ),
    ),
    Section(
        "gpu",
        "Learning on a GPU",
        "An H100 beside NumPy on 16 cores; 10,000 rows, 1,024 features, as many bits.",
        {
            "": value("method"),
            "NumPy": seconds("seconds"),
            "GPU": seconds("device_seconds"),
            "ratio": value("ratio", ".1f"),
            "bits that differ": value("flipped", ".2%"),
        },
        lambda row: (
            row["part"] == "alike"
            and row["bits"] == 1024
            and row["method"] in ("ITQ", "NeighbourCodes")
        ),
    ),
)


def write(path: Path = PAGE) -> None:
    """Write the page, if it is not too long."""
    search, ranges, tables, *rest = map(str, SECTIONS)
    parts = [
        INTRODUCTION,
        frontier(),
        imports(),
        search,
        two_threads(),
        one_query(),
        filters(),
        ranges,
        tables,
        _growth.choices(rows_of(read("multi_index"))),
        *rest,
        growing(),
        LATER_ROWS,
        beyond_memory(),
        *(make() for name, make in SERVED.items() if is_measured(name)),
    ]
    text = _once("\n\n".join(filter(None, parts))) + "\n"
    n_words = len(re.findall(r"\S*\w\S*", text))
    if n_words > MOST_WORDS:
        raise SystemExit(f"benchmarks: {n_words} words, {MOST_WORDS} fit")
    path.write_text(wrapped(text), "utf-8")
    draw(read("compare_faiss")["rows"], path.with_name("beside-faiss.svg"))


def _once(text: str) -> str:
    """Leave out what was said of the machine where it is what was said before."""
    parts, said = [], ""
    for part in text.split("\n\n"):
        if not part.startswith("The machine: "):
            parts.append(part)
        elif part != said:
            parts.append(part)
            said = part
    return "\n\n".join(parts)


if __name__ == "__main__":
    write()
