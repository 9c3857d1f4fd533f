"""The page on sparse projections, and the README's picture."""

from typing import Any

from experiments._cells import RESULTS, Cell, Cells
from experiments._pages import IMAGES, TITLES
from experiments._plots import line_plot
from experiments._sparse_claims import claims
from experiments._summary import decimal, markdown, over_seeds, shortest, shown
from experiments.sparse_projections import DENSITIES, N_ITER

METHODS = ("LSH", "ITQ", *(f"SP {density:.0%}" for density in DENSITIES))
WIDTHS = {"icd10": 256, "caltech101-1280": 1280, "caltech101-5120": 5120}
Table = dict[tuple[str, int, str], tuple[float, float, int]]
Texts = dict[tuple[str, int, str], str]


def write() -> None:
    """Write the page and its plots."""
    cells = list(Cells("sparse_projections"))
    names = [name for name in TITLES if any(c["cell"]["data"] == name for c in cells)]
    parts = [INTRODUCTION.format(iterations=_iterations(names))]
    parts.append(claims(cells, {name: TITLES[name] for name in names}, WIDTHS))
    parts += [section(cells, name) for name in names]
    parts.append(iterative(cells, names))
    svm = list(Cells("table2"))
    if svm:
        parts.append(table2(svm))
    (RESULTS / "sparse_projections.md").write_text("\n\n".join(parts) + "\n", "utf-8")
    if "icd10" in names:
        readme_picture(figure_of(cells, "recall10"))


def section(cells: list[Cell], name: str) -> str:
    """Return tables and plots of one set of features (figures 2 and 4)."""
    table = figure_of(cells, "ann_map")
    bits = sorted({b for data, b, method in table if data == name and method == "LSH"})
    curves = {
        method: [
            (b, *table[name, b, method][:2]) for b in bits if (name, b, method) in table
        ]
        for method in METHODS
    }
    image = IMAGES / f"sparse_{name}.svg"
    line_plot(
        image, drawn(curves), x="bits", y="ANN mAP", title=TITLES[name], x_ticks=bits
    )
    lines = [f"## {TITLES[name]}", seeds_of(table, name, bits)]
    lines.append(f"![ANN mAP against bits](../images/{image.name})")
    lines.append(against_time(cells, name))
    captions = {
        "ann_map": "ANN mAP (figures 2a and 4)",
        "label_map": "mAP over labels",
        "batch_us": "Encoding in a batch, microseconds per vector on one thread",
        "single_us": "Encoding a single vector, microseconds on one thread",
        "fit_seconds": "Learning, seconds",
    }
    for figure, caption in captions.items():
        texts = texts_of(cells, figure)
        lines += [f"**{caption}**", grid_of(texts, name, bits)]
    return "\n\n".join(lines)


def against_time(cells: list[Cell], name: str) -> str:
    """Draw accuracy against the time to encode (figures 1 and 2b)."""
    table = figure_of(cells, "ann_map")
    times = {
        (bits, method): us
        for (bits, data, method), us in shortest(cells, "single_us").items()
        if data == name
    }
    curves = {
        method: [
            (us, *table[name, bits, method][:2])
            for (bits, m), us in sorted(times.items())
            if m == method
        ]
        for method in METHODS
    }
    image = IMAGES / f"sparse_{name}_time.svg"
    label = "microseconds to encode a vector, one thread"
    line_plot(image, drawn(curves), x=label, y="ANN mAP", title=TITLES[name])
    return f"![ANN mAP against the time to encode](../images/{image.name})"


def seeds_of(table: Table, name: str, bits: list[int]) -> str:
    """Say how many seeds there are, and where there are fewer."""
    least = {
        b: min(n for (data, at, _), (*_, n) in table.items() if (data, at) == (name, b))
        for b in bits
    }
    most = max(least.values())
    fewer = [f"{n} at {b} bits" for b, n in least.items() if n < most]
    return f"Seeds: {most}{' (' + ', '.join(fewer) + ')' if fewer else ''}."


def texts_of(cells: list[Cell], figure: str) -> Texts:
    """Return what a table shows: a mean and its error, or the shortest time."""
    if figure.endswith("map"):
        return {k: shown(*v[:2]) for k, v in figure_of(cells, figure).items()}
    return {
        (data, bits, method): decimal(v, 1)
        for (bits, data, method), v in shortest(cells, figure).items()
    }


def figure_of(cells: list[Cell], figure: str) -> Table:
    """Return mean, standard error and count by (data, bits, method)."""
    found: dict[Any, Any] = over_seeds(cells, figure)
    return {(data, bits, method): v for (bits, data, method), v in found.items()}


def grid_of(texts: Texts, name: str, bits: list[int]) -> str:
    """Return a Markdown table of methods by bits."""
    rows = []
    for method in ("threshold", *METHODS):
        values = [texts.get((name, b, method), "") for b in bits]
        if any(values):
            rows.append([method, *values])
    return markdown(["", *(f"{b} bits" for b in bits)], rows)


def iterative(cells: list[Cell], names: list[str]) -> str:
    """Return the comparison of the two sparse steps (figure 3)."""
    table, seconds = figure_of(cells, "ann_map"), texts_of(cells, "fit_seconds")
    rows = []
    for data, bits, method in sorted(table):
        if data in names and "iterative" in method:
            one = (data, bits, "SP 10%")
            rows.append(
                [TITLES[data], bits, method.removeprefix("SP 10%, ")]
                + [shown(*table[key][:2]) for key in (one, (data, bits, method))]
                + [f"{seconds[key]} s" for key in (one, (data, bits, method))]
            )
    header = ["features", "bits", "step", "one-step mAP", "iterative mAP", "fit", "fit"]
    return ITERATIVE + "\n\n" + markdown(header, rows)


def table2(cells: list[Cell]) -> str:
    """Return the accuracies of linear SVMs on codes (table 2), and their storage."""
    every, clusters = figure_of(cells, "accuracy"), figure_of(cells, "clusters")
    rows = []
    for (data, bits, method), (mean, error, n_seeds) in sorted(every.items()):
        length = f"{bits} bits" if bits else "float32"
        storage = bits // 8 or 4 * WIDTHS[data]
        found = [shown(*clusters[data, bits, method][:2]), shown(mean, error)]
        rows.append([TITLES[data], length, method, storage, *found, n_seeds])
    header = ["features", "code", "method", "bytes", "10 clusters", "all", "seeds"]
    return TABLE2 + "\n\n" + markdown(header, rows)


def readme_picture(table: Table) -> None:
    """Draw recall against bytes on ICD-10."""
    chosen = {
        "random (LSH)": "LSH",
        "learnt (ITQ)": "ITQ",
        "sparse (SP 10 %)": "SP 10%",
    }
    chosen["signs of the vector"] = "threshold"
    curves = {
        label: [
            (bits / 8, *value[:2])
            for (data, bits, method), value in table.items()
            if data == "icd10" and method == wanted
        ]
        for label, wanted in chosen.items()
    }
    curves["float vectors"] = [(1024, 1.0, 0.0)]
    line_plot(
        IMAGES / "recall_bytes.svg",
        drawn(curves),
        x="bytes per item",
        y="recall of the 10 nearest",
        x_ticks=[8, 16, 32, 64, 1024],
    )


def drawn(curves: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not measured, and the error bars of single seeds."""
    return {
        name: [(x, mean, 0.0 if error != error else error) for x, mean, error in curve]
        for name, curve in curves.items()
        if curve
    }


def _iterations(names: list[str]) -> str:
    fewer = [f"{N_ITER[name]} on {TITLES[name]}" for name in names if name in N_ITER]
    return f"50 iterations{', ' + ', '.join(fewer) if fewer else ''}"


INTRODUCTION = """# Sparse projections on real features

Made by `python -m experiments.pages` from `sparse_projections.jsonl`, which
`python -m experiments.sparse_projections` writes. Xia, He, Kohli and Sun (CVPR 2015)
compare codes by ANN mAP: the true neighbours of a query are the points nearer than
the mean distance to the 50th neighbour, and the database is ranked by Hamming
distance. Here ties count with their exact expectation, queries without a true
neighbour are left out, and learning sees the database only. ITQ and SP do
{iterations}; SP is the one-step solution unless said. Accuracies are means over seeds
± one standard error; a seed draws the 1,000 queries and the starting point. Times are
the shortest of the seeds', taken on two shared cores: they compare methods and are no
benchmark."""

ITERATIVE = """## One step or thirty (figure 3)

The sparse step thresholds once (eq. 11) or thirty times (eq. 10), with the paper's step
size 1/||X||_F^2 or with the largest safe one, 1/lambda_max(XX')."""

TABLE2 = """## Linear classification on codes (table 2)

One-versus-rest linear SVMs on codes: the mean over ten random clusters of the classes,
and all 100 classes at once. The weight of errors is chosen on a third of the training
part. In the paper learnt codes are above thresholding, and accuracy rises with the
length up to the features' own; here thresholding is not below any code of as many
bits, and none reaches the features."""
