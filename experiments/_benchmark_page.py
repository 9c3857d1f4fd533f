"""The page of benchmarks."""

import json
import math
from typing import Any

from experiments._cells import RESULTS
from experiments._summary import markdown

INTRODUCTION = """# Benchmarks

Made by `python -m experiments.pages` from the JSON that `make bench` writes. Ratios are
taken within one process, ours and the peer in turn, of medians of repeats unless a
section says otherwise; absolute times depend on the machine. Sections were measured at
different times, not all on the same one: where the instruction set and what the
processor and its memory can do were written down, the section has them. A target is the
ratio that was set for a machine with AVX-512. Ratios below their target are in bold."""

ENCODING = """## Encoding beside NumPy's BLAS product and SciPy's CSR product

Shapes are features -> bits, T threads. *Share* is the part of what the processor can
do: of its multiply-adds for batches, of its memory's bandwidth for a single vector.

"""

PROJECTIONS = """## Cheap projections beside BLAS, SciPy's CSR and SciPy's FFT

As many bits as features, one thread. Microseconds of processor time for one vector, the
best of several turns; the ratio is to BLAS with packing. CSR holds the matrix of
*sparse 10%*, FFT is a circulant product in float32. *Share* is the part of the
processor's multiply-adds; *memory* that of its bandwidth that reading the encoder and
the rows once would take, above 100% where the encoder stays in the caches. It counts
the arrays that are saved: eight bytes for a sparse weight, of which a single vector
reads six, and a sign for a number of Hadamard's, which reads four bytes. Goals were
set for 4,096 features. BLAS has less of its speed by batches of few rows, as the 32 of
16,384 features are, where ratios to it are the larger for that; sparse maps take so
few rows without what they prepare for larger batches, and have less of their speed,
too. *Dense* is what LSH, PCAH, ITQ, CCA-ITQ, linear BRE and NeighbourCodes encode by,
*sparse* SP, *blocks* and *diagonals* FastNeighbourCodes, *thresholds* Thresholding; the
other names tell their methods.

"""

NOVEL = """## Search by example

A class learnt from 5 codes of 2,048 bits and 1,000 random ones, and a million codes
ranked by it; NumPy unpacks the bits block by block and multiplies.

"""

DECODING = """## Finding the class beside a float classifier, one thread

Random classes of 64 bits, one in twenty of an item's bits is wrong. The float
classifier is a BLAS product of 1,280 features with a vector for each class. A ratio
counts the encoding of the same features as well; *right* is the share of items whose
class is found, of 20 that come alone and of 200 in a batch, which the float classifier
is not asked for there. The leaves of ICD-10
are the real thing: a class's vector is the WordLlama embedding of its text (256-d), its
code that vector's by ITQ, and items are texts of leaves without one of their words.
Some leaves have the same words, so that nothing finds all.

"""

TRAINING = """## Training deep codes

Seconds per epoch, and their ratio: the trainer over the plainest loop with the same
loss, without and with the look at codes after each epoch (bound, and mAP on items kept
aside; `eval_every` makes it rarer), and with the posterior control over without, for
a linear head on cached features and for a small convolutional network trained from
pixels. Here a ratio should be at most its target.

"""

RERANKING = """## Ranking a shortlist again

The ten nearest of 500 queries by Euclidean distance, one thread: a Hamming shortlist
that is compared by stored vectors, beside a NumPy loop that gathers rows, one BLAS
product with all vectors, and faiss's `IndexRefineFlat` over `IndexLSH` of the same
bits. Ratios are the other's time over the row's. Below them the comparison alone, its
rows read at random; the share is of the bytes per second that copying memory reaches.

"""

FITTING = """## Learning beside faiss's ITQ, one thread

Seconds of processor time on random rows of length 1, their spread falling from axis to
axis; the ratio is faiss's time over ours, for the same rows and number of iterations.
The loss is the mean squared distance of bits and scores, scaled to a mean square of 1;
of Gaussian scores, which random rotations tend to, it is 2 - 2 sqrt(2/pi) = .404.
Faiss's stays near that where bits are as many as features: its step is
[not the Procrustes solution](../decisions/learners-scale.md), so times are of as many
iterations, not of codes as good. Of 64 bits the axes (PCAH) take little of the
time, products over the rows the rest, which both leave to BLAS.

"""

FILES = """

Fits from a file, in a process of their own: memory at the peak without the pages of the
file, all libraries in it. A fit turns as many directions as it has rows less one, if
these are fewer than features and bits: of 10,000 rows 9,999. By what their arrays take,
the iterative sparse step needs 18.8 GiB at the widest size and codes that keep
neighbours 22.6 GiB ([estimated](../decisions/learners-scale.md)), more than the 16 GiB
that others keep within.

"""

GPU = """## Learning on a GPU

The passes over the rows, the principal axes and the polar factors on a GPU, beside
NumPy on all cores of the same machine: wall-clock seconds on random rows as above, and
what the results differ by. The ratio is NumPy's time over the GPU's. Rounding flips a
bit here and there, and alternations carry that on: *by torch* is the share of bits that
differ where torch does the same on a processor, of another machine. Neighbour codes are
trained there whole, in 50 steps for each iteration; a sign that rounding flips changes
all steps behind it, so that bits differ and objectives agree to three digits.

"""

WIDE = """

The widest maps, fitted from a file on the GPU; memory at the peak on either side, that
of the processor without the pages of the file. With more rows than bits, as many
directions are turned as there are bits.

"""

DEEP = """

A small convolutional network with batch normalisation, trained from {n:,} random images
of {side} x {side} pixels, {bits} bits: an epoch takes {seconds:.2f} s on the processor
and {device_seconds:.2f} s on the GPU, {ratio:.1f} times less; the losses of the last
epoch are {objective:.6f} and {device_objective:.6f}."""

MODELS = """## Encoders in ONNX Runtime

1,280 random features to 64 bits, one thread. An exact model needs a slow chain of
additions for the rows with a bit that a fast product leaves open; the share of such
rows is in brackets.

"""


def write() -> None:
    """Write the page from whatever was measured."""
    parts = [INTRODUCTION]
    for name, section in (
        ("import_time", imports),
        ("search", search),
        ("rerank", reranking),
        ("encode", encode),
        ("encode_projections", projections),
        ("novel", novel),
        ("decode", decode),
        ("training", training),
        ("fit", fitting),
        ("gpu", on_gpu),
        ("onnx", models),
    ):
        path = RESULTS / f"benchmark_{name}.json"
        if path.exists():
            report = json.loads(path.read_text("utf-8"))
            parts += [section(report), *machine(report)]
    (RESULTS / "benchmarks.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def machine(report: Any) -> list[str]:
    """Return what was written down of the machine of a section."""
    if not isinstance(report, dict):
        return []
    noted = {"gb_per_s": report.get("bandwidth"), **report.get("machine", {})}
    texts = [noted[key] for key in ("cpu", "isa") if noted.get(key)]
    for key, unit in (("gflops", "GFLOP/s"), ("gb_per_s", "GB/s of memory")):
        if noted.get(key):
            texts.append(f"{noted[key]:.0f} {unit}")
    return [f"The machine, one thread: {', '.join(texts)}."] if texts else []


def imports(report: dict[str, Any]) -> str:
    """Return what importing costs, and whole commands."""
    medians = report["imports"]
    rows = [
        [f"`import {name}`", f"{each:.0f} ms", f"{each - medians['numpy']:+.0f} ms"]
        for name, each in medians.items()
    ]
    commands = [
        [f"`fewbits {name}`", f"{each['cpu_seconds']:.2f} s", f"{each['target']} s"]
        for name, each in report["commands"].items()
    ]
    parts = [
        "## Import",
        markdown(["", "median", "over NumPy"], rows),
        "Whole commands, on the bundle of `fewbits demo`, in seconds of the processor:",
        markdown(["", "median", "target"], commands),
    ]
    return "\n\n".join(parts)


def search(report: dict[str, Any]) -> str:
    """Return the table of searches."""
    rows = report["rows"]
    cells = [
        [
            f"{row['n']:,}",
            row["bits"],
            row["queries"],
            row["k"],
            f"{1e3 * row['ours_seconds']:.2f} ms",
            f"{1e3 * row['faiss_seconds']:.2f} ms",
            _ratio(row),
            "" if row["target"] is None else row["target"],
            f"{row['gigawords_per_second']:.1f}",
        ]
        for row in rows
        if "faiss_seconds" in row
    ]
    header = ["codes", "bits", "queries", "k", "fewbits", "faiss", "ratio", "target"]
    text = "## Exact search beside faiss (IndexBinaryFlat), one thread\n\n"
    text += markdown([*header, "Gword/s"], cells)
    for row in rows:
        if "two" in row:
            text += (
                f"\n\nA single query on {row['n']:,} codes of {row['bits']} bits: two "
                f"threads are {row['ratio']:.2f} times as fast as one (target "
                f"{row['target']})."
            )
    return text


def encode(report: Any) -> str:
    """Return the table of encoders."""
    rows = report["rows"] if isinstance(report, dict) else report
    header = list(rows[0])
    cells = [
        [_ratio(row) if name == "ratio" else _cell(row.get(name)) for name in header]
        for row in rows
    ]
    return ENCODING + markdown([h.replace("_", " ") for h in header], cells)


def projections(report: dict[str, Any]) -> str:
    """Return a table of projections for each number of features, and the goals."""
    rows = [_projection(row) for row in report["rows"]]
    header = ["projection", "rows", "fewbits", "BLAS", "CSR", "FFT", "ratio", "share"]
    header.append("memory")
    parts = []
    for d in dict.fromkeys(row["features"] for row in rows):
        cells = [
            [row["projection"], row["rows"], *_times(row), *_shares(row)]
            for row in rows
            if row["features"] == d
        ]
        parts.append(f"**{int(d):,} features**\n\n{markdown(header, cells)}")
    return PROJECTIONS + "\n\n".join([*parts, _goals(rows)])


def _projection(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the parts of its name, such as "bilinear batch 256 4096"."""
    name, n_features = row["name"].rsplit(" ", 1)
    kind = " single" if name.endswith(" single") else " batch "
    projection, _, count = name.rpartition(kind)
    parts = {"projection": projection, "rows": count or "1", "features": n_features}
    return {**row, **parts}


def _times(row: dict[str, Any]) -> list[str]:
    n_rows = int(row["rows"])
    found = (row[key] for key in ("ms", "blas_ms", "csr_ms", "fft_ms"))
    return [f"{_plain(1e3 * ms / n_rows)} us" for ms in found]


def _plain(value: float, digits: int = 4) -> str:
    """Return so many digits or more, without an exponent."""
    first = math.floor(math.log10(abs(value))) if value else 0
    digits = max(0, digits - 1 - first)
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shares(row: dict[str, Any]) -> list[str]:
    share, least = row["share"], row.get("share_target")
    text = f"{share:.0%}"
    share_text = f"**{text}**" if least and share < least else text
    return [_ratio(row), share_text, f"{row['memory']:.0%}"]


def _goals(rows: list[dict[str, Any]]) -> str:
    """Say which goals are met."""
    cells = []
    for row in rows:
        kind = "single" if row["rows"] == "1" else "batch"
        for key, shown in (("ratio", "{:.3g}x"), ("share", "{:.0%}")):
            goal = row["target" if key == "ratio" else "share_target"]
            if goal:
                met = "yes" if row[key] >= goal else "**no**"
                texts = [shown.format(value) for value in (goal, row[key])]
                cells.append([row["projection"], kind, key, *texts, met])
    return markdown(["goal", "", "of", "at least", "found", "met"], cells)


def reranking(report: dict[str, Any]) -> str:
    """Return a table of whole searches, and one of comparisons alone."""
    searches = [
        [
            *_shortlist(row),
            f"x {row['ratio_to_product']:.1f}",
            f"x {row['ratio_to_faiss']:.1f}",
            f"{row['recall']:.3f}",
        ]
        for row in report["rows"]
        if "recall" in row
    ]
    alone = [
        [
            *_shortlist(row),
            f"{row['nanoseconds_per_row']:.0f} ns",
            f"{row['share_of_copying']:.0%}",
        ]
        for row in report["rows"]
        if "recall" not in row
    ]
    size = ["vectors", "shortlist", "way", "time"]
    whole = markdown([*size, "full product", "faiss", "recall@10"], searches)
    parts = markdown([*size, "a row", "share of copying"], alone)
    return f"{RERANKING}{whole}\n\n{parts}"


def _shortlist(row: dict[str, Any]) -> list[str]:
    size = f"{row['vectors']:,} {row['data']}"
    return [size, str(row["shortlist"]), row["way"], f"{1e3 * row['seconds']:.0f} ms"]


def novel(report: dict[str, Any]) -> str:
    """Return what search by example takes."""
    rows = [
        [
            row["name"],
            row["threads"],
            f"{1e3 * row['seconds']:.0f} ms",
            "" if row["target"] is None else f"{1e3 * row['target']:.0f} ms",
            "" if row["share"] is None else f"{row['share']:.0%}",
        ]
        for row in report["rows"]
    ]
    header = ["step", "threads", "time", "target", "share of bandwidth"]
    return NOVEL + markdown(header, rows)


def decode(rows: list[dict[str, Any]]) -> str:
    """Return a table of decoders for single items and one for batches."""
    sets = sorted({_classes(row) for row in rows})
    parts = []
    for batch in sorted({row["batch"] for row in rows}):
        chosen = [row for row in rows if row["batch"] == batch]
        found = {(row["way"], _classes(row)): row for row in chosen}
        cells = [
            [way, *(_decoder(found[way, each]) for each in sets)]
            for way in dict.fromkeys(row["way"] for row in chosen)
        ]
        items = "item" if batch == 1 else "items"
        header = [f"{batch} {items} at a time", *(_class_title(*each) for each in sets)]
        parts.append(markdown(header, cells))
    return DECODING + "\n\n".join(parts)


def _classes(row: dict[str, Any]) -> tuple[bool, int]:
    """Return whether classes are real ones, and how many."""
    return row["data"] == "icd10", row["classes"]


def _class_title(real: bool, n: int) -> str:
    return f"{n:,} leaves of ICD-10" if real else f"{n:,} classes"


def _decoder(row: dict[str, Any]) -> str:
    if row["way"] == "float":
        right = "" if row["right"] is None else f", right {row['right']:.3f}"
        return f"{row['microseconds']:,.0f} us{right}"
    total = row["microseconds"] + row["encode_microseconds"]
    return f"{total:,.1f} us, x {row['ratio']:,.1f}, right {row['right']:.3f}"


def training(rows: list[dict[str, Any]]) -> str:
    """Return what the trainer and the posterior cost."""
    cells = [
        [
            *(row[key] for key in ("name", "loss", "bits")),
            f"{row['seconds']:.3f} s",
            _at_most(row),
            "" if row["target"] is None else row["target"],
        ]
        for row in rows
        if row["name"] != "memory"
    ]
    header = ["", "loss", "bits", "epoch", "ratio", "target"]
    text = TRAINING + markdown(header, cells)
    peaks = [
        f"{row['way']} {row['peak_bytes'] / 2**20:.0f} MiB"
        for row in rows
        if row["name"] == "memory"
    ]
    return f"{text}\n\nMemory at the peak, all of torch in it: {', '.join(peaks)}."


def fitting(rows: list[dict[str, Any]]) -> str:
    """Return what fits take in time and memory."""
    times = [row for row in rows if row["part"] == "time"]
    cells = [
        [*_size(row), row["method"], f"{row['seconds']:.2f} s", *_beside_faiss(row)]
        for row in times
    ]
    sizes = ["rows", "features", "bits", "iterations"]
    text = FITTING + markdown([*sizes, "", "time", "ratio", "loss"], cells)
    cells = [
        [
            *_size(row),
            row["method"],
            f"{row['seconds']:.0f} s",
            f"{row['file_bytes'] / 2**20:,.0f} MiB",
            f"{row['peak_bytes'] / 2**20:,.0f} MiB",
        ]
        for row in rows
        if row["part"] == "memory"
    ]
    if not cells:
        return text
    return text + FILES + markdown([*sizes, "", "time", "file", "peak"], cells)


def on_gpu(rows: list[dict[str, Any]]) -> str:
    """Return how fast fits on a GPU are, and how alike."""
    there = [row for row in rows if row["part"] == "alike"]
    shares = {
        (row["method"], *_size(row)): row["flipped"]
        for row in rows
        if row["part"] == "alike, by torch"
    }
    cells = [[*_size(row), row["method"], *_on_device(row, shares)] for row in there]
    sizes = ["rows", "features", "bits", "iterations"]
    header = [*sizes, "", "NumPy", "GPU", "ratio", "objective", "GPU's"]
    text = GPU + markdown([*header, "bits that differ", "by torch"], cells)
    if there:
        text += f"\n\nThe GPU: {there[0]['device']}; {there[0]['cores']} cores."
    text += recalls_of(rows)
    cells = [
        [
            *_size(row),
            row["method"],
            f"{row['device_seconds']:.0f} s",
            f"{row['peak_bytes'] / 2**30:.1f} GiB",
            f"{row['device_peak_bytes'] / 2**30:.1f} GiB",
            f"{row['device_objective']:.4f}",
        ]
        for row in rows
        if row["part"] == "wide"
    ]
    if cells:
        header = [*sizes, "", "time", "peak", "GPU's peak", "objective"]
        text += WIDE + markdown(header, cells)
    for row in rows:
        if row["part"] == "deep":
            text += DEEP.format(**row, side=round((row["d"] / 3) ** 0.5))
    return text


def recalls_of(rows: list[dict[str, Any]]) -> str:
    """Say what share of their ten nearest the rows held out find, on either side."""
    sides = {"alike": "on the GPU", "alike, by torch": "by torch on a processor"}
    found = [
        f"{row['method']} of {row['bits']:,} bits {row['recall']:.3f} by NumPy and "
        f"{row['device_recall']:.3f} {sides[row['part']]}"
        for row in rows
        if row["part"] in sides and "recall" in row
    ]
    if not found:
        return ""
    return f"\n\nOf the ten nearest, rows held out find: {'; '.join(found)}."


def _on_device(row: dict[str, Any], shares: dict[tuple[str, ...], float]) -> list[str]:
    seconds = f"{row['seconds']:.2f} s"
    if "device_seconds" not in row:
        return [seconds, *[""] * 6]
    share = shares.get((row["method"], *_size(row)))
    return [
        seconds,
        f"{row['device_seconds']:.2f} s",
        f"{row['ratio']:.1f}",
        f"{row['objective']:.6f}",
        f"{row['device_objective']:.6f}",
        f"{row['flipped']:.2%}",
        "" if share is None else f"{share:.2%}",
    ]


def _size(row: dict[str, Any]) -> list[str]:
    return [f"{row[key]:,}" for key in ("n", "d", "bits", "iterations")]


def _beside_faiss(row: dict[str, Any]) -> list[str]:
    ratio, loss = row["ratio"], row["loss"]
    return [
        "" if ratio is None else f"{ratio:.2f}",
        "" if loss is None else f"{loss:.4f}",
    ]


def models(rows: list[dict[str, Any]]) -> str:
    """Return what encoders take in ONNX Runtime."""
    cells = [
        [
            f"{row['way']}, {row['head']}",
            _row_of_model(row),
            f"{1e3 * row['batch_seconds']:.1f} ms",
            row["wrong_bits"],
        ]
        for row in rows
    ]
    return MODELS + markdown(["", "one row", "100 rows", "wrong bits"], cells)


def _row_of_model(row: dict[str, Any]) -> str:
    text = f"{1e3 * row['row_seconds']:.2f} ms"
    if not row["open"]:
        return text
    return f"{text}, or {1e3 * row['open_seconds']:.0f} ms ({row['open']:.0%})"


def _ratio(row: dict[str, Any]) -> str:
    text = f"{row['ratio']:.2f}"
    target = row.get("target")
    return f"**{text}**" if target is not None and row["ratio"] < target else text


def _at_most(row: dict[str, Any]) -> str:
    text, target = f"{row['ratio']:.2f}", row["target"]
    return f"**{text}**" if target is not None and row["ratio"] > target else text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _plain(value, 3) if isinstance(value, float) else str(value)
