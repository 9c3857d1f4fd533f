"""The page on sparse projections."""

from collections.abc import Iterator
from statistics import fmean

from experiments._cells import RESULTS, Cell, Cells
from experiments._hyperplanes_page import hyperplanes
from experiments._pages import TITLES
from experiments._projections import (
    BETAS,
    FLOATS,
    ITERATIVE,
    ITERATIVE_AT,
    LONGER,
    LONGER_AT,
    METHODS,
    N_ITER,
    OTHER_WAYS,
    USUAL_ITER,
    left_out,
    lineup,
    matrix_bytes,
    measured,
)
from experiments._sparse_answer import answer
from experiments._sparse_claims import ONE_STEP, Paired, claims, difference, table_of
from experiments._sparse_maps_page import sparse_maps
from experiments._sparse_plots import PAPER, figure_of, plots
from experiments._structured_claims import structured_claims, structured_verdicts
from experiments._summary import (
    decimal,
    left_out_of,
    machine_of,
    markdown,
    not_measured,
    seeds_of,
    shortest,
    shown,
)
from experiments._verdicts import said, signed
from experiments._work import work
from experiments.sparse_projections import TABLE_2, TABLE_2_AT

WIDTHS = {
    "icd10": 256,
    "caltech101-1280": 1280,
    "caltech101-5120": 5120,
    "caltech101-11520": 11520,
    "caltech101+cifar10": 1280,
    "cifar10": 1280,
    "glove": 50,
    "fashion-mnist": 784,
    "digits": 64,
    "wordnet": 256,
}
ROWS = (*FLOATS, "threshold", *(name for name in METHODS if name not in OTHER_WAYS))
#: Of tables 1 and 2.
RETRIEVAL = "caltech101+cifar10"
CAPTIONS = {
    "ann_map": "ANN mAP (figures 2a and 4)",
    "label_map": "mAP over labels",
    "recall10": "Share of the 10 nearest among the first 10",
    "recall100": "Share of the 10 nearest among the first 100",
    "batch_us": "Encoding in a batch, microseconds per vector on one thread",
    "single_us": "Encoding a single vector, microseconds on one thread",
    "encoder_bytes": "The encoder, kilobytes",
    "fit_seconds": "Learning, seconds",
    "device_seconds": "Learning on a GPU, seconds; some were learnt there only",
    "dead_bits": "Constant bits: without a weight, or the same on all rows learnt from",
}
Texts = dict[tuple[str, int, str], str]


def write() -> None:
    """Write the page and its plots."""
    cells = list(Cells("sparse_projections"))
    names = [name for name in TITLES if any(c["cell"]["data"] == name for c in cells)]
    titles = {name: TITLES[name] for name in names}
    svm, times = list(Cells("table2")), list(Cells("encode_times"))
    structured = structured_verdicts(cells, svm, times, titles, WIDTHS)
    parts = [TITLE, answer(cells, structured, times, titles, WIDTHS)]
    introduction = INTRODUCTION.format(
        iterations=_iterations(names), machine=machine_of(times)
    )
    parts += [introduction, left_out(titles)]
    parts.append(claims(cells, titles, WIDTHS))
    parts.append(structured_claims(structured, titles, WIDTHS))
    parts.append(work(times, titles, WIDTHS))
    parts += [section(cells, times, name) for name in names]
    parts += [iterative(cells, names), betas(cells, names)]
    parts += [*sparse_maps(), *hyperplanes()]
    if RETRIEVAL in names:
        parts.append(table1(cells, times))
    if svm:
        parts.append(table2(svm))
    text = "\n\n".join(part for part in parts if part)
    (RESULTS / "sparse_projections.md").write_text(f"{text}\n", "utf-8")


def section(cells: list[Cell], times: list[Cell], name: str) -> str:
    """Return tables and plots of one set of features (figures 2 and 4 to 6)."""
    table = figure_of(cells, "ann_map")
    bits = sorted({b for data, b, _ in table if data == name})
    chosen = [c for c in cells if c["cell"]["data"] == name and c["cell"]["bits"]]
    counts = [
        seeds_of(chosen),
        left_out_of(chosen),
        own_signs(chosen, name),
        learnt_elsewhere(chosen),
        not_measured(chosen, plan(name)),
    ]
    parts = [f"## {TITLES[name]}", " ".join(filter(None, counts))]
    parts += plots(cells, times, name, WIDTHS[name])
    for figure, caption in CAPTIONS.items():
        source = times if figure.endswith("_us") else cells
        lines = grid_of(texts_of(source, figure), name, bits)
        if lines:
            parts += [f"**{caption}**", lines]
    return "\n\n".join(parts)


def learnt_elsewhere(cells: list[Cell]) -> str:
    """Say how many fits were done on a GPU, if any were."""
    devices = [cell["figures"].get("device") for cell in cells]
    known = sorted(set(filter(None, devices)))
    n = sum(map(bool, devices))
    return f"Learnt on a GPU ({', '.join(known)}): {n} of the fits." if known else ""


def plan(name: str) -> dict[str, list[int]]:
    """Return the lengths that each method is measured at on a set, without floats."""
    lengths: dict[str, list[int]] = {}
    for cell, learner in lineup(name, WIDTHS[name], 0):
        if learner is not None:
            lengths.setdefault(cell["method"], []).append(cell["bits"])
    return lengths


def texts_of(cells: list[Cell], figure: str) -> Texts:
    """Return what a table shows: a mean and its error, or the shortest time."""
    if figure == "encoder_bytes":
        return {key: decimal(size / 1000, 1) for key, size in sizes_of(cells).items()}
    if figure == "dead_bits":
        dead = figure_of(cells, figure)
        return {k: shown(*v[:2], digits=0) for k, v in dead.items() if v[0]}
    if not figure.endswith(("_us", "_seconds")):
        return {k: shown(*v[:2]) for k, v in figure_of(cells, figure).items()}
    return {
        (data, bits, method): decimal(v, 1)
        for (bits, data, method), v in shortest(cells, figure).items()
    }


def sizes_of(cells: list[Cell]) -> dict[tuple[str, int, str], float]:
    """Return the bytes of encoders, of matrices by their shape where not measured."""
    known = shortest(cells, "encoder_bytes")
    sizes = {(data, bits, method): size for (bits, data, method), size in known.items()}
    for data, bits, method in figure_of(cells, "ann_map"):
        size = matrix_bytes(method, bits, WIDTHS[data])
        if size is not None:
            sizes.setdefault((data, bits, method), size)
    return sizes


def grid_of(texts: Texts, name: str, bits: list[int]) -> str:
    """Return a Markdown table of methods by bits, or nothing."""
    if (name, 0, "float") in texts:
        bits = [0, *bits]
    rows = []
    for method in ROWS:
        values = [texts.get((name, b, method), "") for b in bits]
        if any(values):
            rows.append([method, *values])
    lengths = [f"{b} bits" if b else "float32" for b in bits]
    return markdown(["", *lengths], rows) if rows else ""


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
    header = ["features", "bits", "step", "one-step mAP", "iterative mAP"]
    header += ["one-step fit", "iterative fit"]
    at = ", ".join(f"{bits:,}" for bits in ITERATIVE_AT)
    compared = markdown(header, rows)
    return "\n\n".join([ITERATIVE_TEXT.format(at=at), compared, *costs(cells, names)])


def costs(cells: list[Cell], names: list[str]) -> list[str]:
    """Return how many times as long SP learns as ITQ, and thirty steps as one."""
    known = shortest(cells, "fit_seconds")
    rows = []
    for name in names:
        row = [TITLES[name]]
        for one, other in (
            (ONE_STEP, "ITQ"),
            *((each, ONE_STEP) for each in ITERATIVE),
        ):
            ratios = [
                seconds / known[bits, name, other]
                for (bits, data, method), seconds in known.items()
                if (data, method) == (name, one) and (bits, name, other) in known
            ]
            row.append(_span(ratios))
        rows.append(row)
    header = ["features", "one step / ITQ"]
    header += [f"{each.rpartition(' ')[2]} / one step" for each in ITERATIVE]
    return [COSTS_TEXT, markdown(header, rows)] if rows else []


def _span(ratios: list[float]) -> str:
    if not ratios:
        return ""
    least, most = (decimal(pick(ratios), 1) for pick in (min, max))
    return least if least == most else f"{least} to {most}"


def betas(cells: list[Cell], names: list[str]) -> str:
    """Return the comparison of weights of eq. (3)."""
    table, one = figure_of(cells, "ann_map"), ONE_STEP
    settings = sorted({(data, bits) for data, bits, m in table if m in BETAS})
    rows = [
        [
            TITLES[data],
            bits,
            shown(*table[data, bits, one][:2]),
            *(beyond(cells, data, (bits, name), (bits, one)) for name in BETAS),
        ]
        for data, bits in settings
        if data in names
    ]
    header = ["features", "bits", "beta = 1", *(f"{b:g}" for b in BETAS.values())]
    return BETAS_TEXT + "\n\n" + markdown(header, rows) if rows else ""


def beyond(
    cells: list[Cell], name: str, one: tuple[int, str], other: tuple[int, str]
) -> str:
    """Return what bits of one method have beyond others in ANN mAP, paired by seed."""
    table = table_of(cells, name)
    both = one in table and other in table
    return signed(difference(table, one, other)) if both else ""


def own_signs(cells: list[Cell], name: str) -> str:
    """Say where the signs of features have the best mean of as many bits."""
    d, table = WIDTHS[name], table_of(cells, name)
    means = {m: fmean(v.values()) for (bits, m), v in table.items() if bits == d}
    signs = means.pop("threshold", 0.0)
    if not means or max(means.values()) >= signs:
        return ""
    best = max(means, key=lambda method: means[method])
    gap = difference(table, (d, "threshold"), (d, best))
    missing = [method for method in PAPER if method not in means]
    without = f" ({', '.join(missing)} are not)" if missing else ""
    return (
        f"Of what is measured at {d:,} bits{without}, the signs of the features as "
        f"they come have the most ANN mAP. That they rank better than {best}, which "
        f"comes next: {said(gap, -gap[0])}."
    )


def table1(cells: list[Cell], times: list[Cell]) -> str:
    """Return retrieval among distractors (table 1)."""
    known, width = shortest(times, "single_us"), 4 * WIDTHS[RETRIEVAL]
    rows = []
    for (data, bits, method), found in sorted(figure_of(cells, "label_map").items()):
        if data == RETRIEVAL:
            us = known.get((bits, data, method))
            share = f"1/{8 * width / bits:.0f}" if bits else "1"
            length = f"{bits} bits" if bits else "float32"
            time = "" if us is None else f"{us:.1f}"
            rows.append([length, method, share, shown(*found[:2]), time, found[2]])
    header = ["code", "method", "storage", "mAP", "microseconds", "seeds"]
    parts = [TABLE1, markdown(header, rows), *more_iterations(cells)]
    return "\n\n".join(parts)


def more_iterations(cells: list[Cell]) -> Iterator[str]:
    """Yield what as many iterations as in the paper bring, where others have fewer."""
    gains, gaps = [], []
    for name, lengths in LONGER_AT.items():
        tables = [table_of(cells, name, key, usual=False) for key in LONGER_BY]
        for bits in lengths:
            where = [TITLES[name], bits, N_ITER[name]]
            for base, more in LONGER.items():
                if (bits, more) in tables[0]:
                    found = _between(tables, bits, more, base)
                    gains.append([*where, base, *found])
            for one, other in LONGER_PAIRS:
                longer = LONGER[one], LONGER.get(other, other)
                if all((bits, each) in tables[0] for each in (one, other, *longer)):
                    few, many = (
                        _between(tables, bits, *pair) for pair in ((one, other), longer)
                    )
                    both = [f"{a}; {b}" for a, b in zip(few, many, strict=True)]
                    gaps.append([*where, f"{one} beyond {other}", *both])
    header = ["features", "bits", "few", "", *LONGER_BY.values()]
    if gains:
        yield MORE
        yield markdown(header, gains)
        yield GAPS
        yield markdown(header, gaps)


def _between(tables: list[Paired], bits: int, one: str, other: str) -> list[str]:
    """Return what a method has beyond another of as many bits, by each figure."""
    pair = (bits, one), (bits, other)
    return [signed(difference(table, *pair)) for table in tables]


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
    return "\n\n".join([TABLE2 + _svm_lengths(cells), markdown(header, rows)])


def _svm_lengths(cells: list[Cell]) -> str:
    """Say at which lengths table 2 is measured, and where it is not."""
    at: dict[str, set[float]] = {}
    for each in cells:
        name, bits = each["cell"]["data"], each["cell"]["bits"]
        if bits:
            at.setdefault(name, set()).add(bits / WIDTHS[name])
    texts = [
        f"{TITLES[name]}: {', '.join(f'{share:g}' for share in sorted(shares))}"
        for name, shares in at.items()
    ]
    return (
        f" Bits for each feature, of some methods at least: {'; '.join(texts)}. It is "
        "left out on 11,520 features, where SVMs for all classes take hours of one "
        "thread, among distractors, which have no classes of their own, and on GloVe, "
        "which has none." + "".join(_svms_missing(cells))
    )


def _svms_missing(cells: list[Cell]) -> Iterator[str]:
    """Say what table 2 shall have and has not yet."""
    done = {
        tuple(each["cell"][k] for k in ("data", "bits", "method")) for each in cells
    }
    for name, shares in TABLE_2_AT.items():
        asked = [
            (round(share * WIDTHS[name]), method)
            for share in shares
            for method in TABLE_2
            if share and method not in FLOATS and method != "threshold"
        ]
        missing = [
            f"{method} ({bits:,} bits)"
            for bits, method in asked
            if measured(name, method, bits) and (name, bits, method) not in done
        ]
        if missing:
            yield f" Not measured yet of {TITLES[name]}: {', '.join(missing)}."


def _iterations(names: list[str]) -> str:
    on: dict[int, list[str]] = {}
    for name in names:
        if name in N_ITER:
            on.setdefault(N_ITER[name], []).append(f"*{TITLES[name]}*")
    fewer = "; ".join(f"{n} on {' and '.join(sets)}" for n, sets in on.items())
    return f"{USUAL_ITER} iterations" + f", but fewer of large sets ({fewer})" * bool(
        on
    )


TITLE = "# Sparse projections on real features"
INTRODUCTION = """## How it is measured

Made by `python -m experiments.pages` from `sparse_projections-*.jsonl`, which
`python -m experiments.sparse_projections` writes. Xia, He, Kohli and Sun (CVPR 2015)
compare codes by ANN mAP: the true neighbours of a query are the points nearer than
the mean distance to the 50th neighbour, and the database is ranked by Hamming
distance. Here that distance is the mean over 1,000 rows, ties count with their exact
expectation, queries without a true neighbour are left out, and learning sees the
database only. ITQ and SP do {iterations}. SP is the one-step solution unless said, of
rows that are scaled so that dense scores have a mean square of 1 (`normalize=True`;
the paper is [silent](../decisions/learners-sparse-projections.md) on units). CBE and BP
are circulant and bilinear projections, random or learned, with the 10 and 5 iterations
that they have as they come; Hadamard has one to three rounds, PCAH is the signs of
principal components, SH spectral hashing, BRE binary reconstructive embeddings (by the
linear kernel of its paper's experiments, and by a Gaussian one, whose bits are weighted
sums over anchors), and NeighbourCodes our own.
Accuracies are means over seeds ± one standard error; a seed draws the 1,000 queries and
the starting point. Of test images, which are 2,748 of Caltech-101, seeds draw in part
the same queries, beside the same database: errors there are those of the queries and of
the learner's seed only. Seeds are 0 to 2, and 1 to 3 of neighbour codes, which were
made with queries of seed 0 in view; [their page](neighbour_codes.md) has queries that
are no other seed's.
Learning takes the shortest of the seeds' times, on two cores that other work shared:
these are magnitudes. Recall among the first 100 was added later, is there for some
methods of some sets, and is drawn where LSH and ITQ have it at half of their lengths
or more; [the page of neighbour codes](neighbour_codes.md) has it of all methods on five
sets. Times to encode are of `encode_times.jsonl`, by `python -m
experiments.encode_times`: processor time on one thread, all methods of a length in
turn, of a single vector and of a batch of 512, by encoders of these shapes that learned
one step{machine}. Encoders take the bytes of their files, less the header.

The paper's features are 4096-d of a network (figures 2 to 4), 960-d GIST (figure 5) and
25600-d VLAD (figure 6), a million of each and 100,000 of VLAD; ours are fewer, and
where they are of another kind than network features, they are vectors of words or
texts. Features that are structured by hand, as GIST and VLAD are, are not measured; of
ours the nearest are 5120-d and 11520-d, where parts of an image lie side by side. The
databases have 5,494 rows (Caltech-101), 55,494 (with CIFAR-10's), 73,724
(ICD-10-CM) and 399,000 (GloVe): 50 neighbours are 1 % of the first and .005 % of a
million. Among distractors, most rows that settle the distance are CIFAR-10's, and
queries are Caltech-101's. *float* ranks by the Euclidean distance of the features as
they come, *float, centred* by the angle between features less their mean, which makes
nothing of how far from the mean a row is. The latter is what the signs of more and more
random projections tend to; where it ranks classes better than the former, codes do so,
too."""

TABLE1 = """## Retrieval among distractors (table 1)

Test images of Caltech-101 ask for their class among its training images and the 50,000
training images of CIFAR-10, none of which counts as an answer, not even an airplane.
Storage is that of a code beside a float vector. The paper asks in Holidays among a
million photographs; there SP of 4d bits reaches the features (67.0 of 67.1). Here most
codes rank above the features as they come, and below the angles of centred ones or
near them."""

MORE = f"""**{USUAL_ITER} iterations**

What {USUAL_ITER} iterations, as in the paper, bring beyond as few as large sets have
here, to codes of lengths that they were tried with:"""
GAPS = f"""What one method has beyond another by few iterations; by {USUAL_ITER} of
those that iterate:"""
LONGER_BY = {
    "ann_map": "ANN mAP",
    "label_map": "mAP over labels",
    "recall10": "recall@10",
}
LONGER_PAIRS = (
    ("SP 10%", "ITQ"),
    ("SP 5%", "BP-opt"),
    ("SP 10%", "BP-opt"),
    ("SP 10%", "CBE-opt"),
)

ITERATIVE_TEXT = """## One step or thirty (figure 3)

The sparse step thresholds once (eq. 11) or thirty times (eq. 10), with the paper's step
size 1/||X||_F^2 or with the largest safe one, 1/lambda_max(XX'). They are compared at
{at} bits only, of sets that have such lengths: GloVe has none, and what is left
out is said above."""
COSTS_TEXT = """In the paper one step has ITQ's complexity of learning, and the
iterative solution takes 30 times as long; ours multiplies with a scatter matrix that is
made once, so that rows cost what they cost in one step. Here learning takes so many
times as long, over all lengths that have both; the times are magnitudes, since other
work shared the cores:"""

BETAS_TEXT = """### The weight of the sparse map (eq. 3)

Section 4.4 finds accuracy insensitive to the weight beta of the sparse map's distance
from the dense one, from 0.1 to 100, and fixes 1. What a weight is worth depends on the
units of the rows, which are scaled here as said above, so that the same numbers need
not be the same weights. ANN mAP with 10 % of the weights, one step, and what others
have beyond it, paired by seed:"""

TABLE2 = """## Linear classification on codes (table 2)

One-versus-rest linear SVMs on codes: the mean over ten random clusters of the classes,
and all classes at once. The weight of errors is chosen on a third of the training part;
of ICD-10 at most 30 items of a block are trained on. That weight is chosen for all
classes at once and serves the clusters, too, which hold a tenth of the classes: 10 of
Caltech-101 and 28 of ICD-10, 100 in the paper. Left out are PCAH, which ends at d bits,
sparse maps but those with 5 %, and CBE with the rest free. In the paper learnt codes
are above thresholding, SP above BP and CBE, and accuracy rises with the length up to
the features' own at 4d bits; which of it holds here is in the second table of
claims."""
