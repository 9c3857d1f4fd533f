"""The page on tuning."""

from collections.abc import Iterable, Iterator
from typing import Any

from experiments._cells import Cell, Cells
from experiments._features import UNSEEN
from experiments._pages import IMAGES, TITLES, sets_of, write_page
from experiments._plots import line_plot
from experiments._sparse_page import WIDTHS
from experiments._summary import (
    by_method,
    curves_of,
    figure,
    grid,
    machine_of,
    markdown,
    not_measured,
    shown,
)
from experiments._tune_targets import (
    bytes_of_default,
    chosen_for,
    fast_defaults,
    missed_time,
    promises,
    targets,
)
from experiments._verdicts import (
    RULE,
    VERDICTS,
    Values,
    minus,
    of_independent,
    over_seeds,
    overall,
    said,
    telling,
    values_of,
)
from experiments.tune import (
    BY_LABELS,
    FEWEST_BYTES,
    FIXED,
    GOALS,
    IN_TIME,
    LEAST_RECALL,
    LENGTHS,
    LONGEST,
    MINUTES,
    SHARE_OF_TIME,
    SHORTLIST,
    SUPERVISED,
    TUNED_AT,
    WITHIN_BYTES,
    K,
)

INTRODUCTION = f"""# Tuning against every fixed default

Made by `python -m experiments.pages` from `tune.jsonl`, which
`python -m experiments.tune` writes. Queries are held out before anything else; what is
left is the collection, which methods learn from and which `fewbits tune` sees.
Recall is the share of the {K} nearest vectors among the first {K} found, accuracy that
of the votes of the {K} found first; means over seeds ± one standard error; a seed draws
the queries and the starting points. Seed 0, whose queries were looked at when some
methods were made, is not among them.
{UNSEEN}
Every method comes with its default parameters, searched by Hamming distance, and with
the {SHORTLIST} nearest codes ranked again by scores, as `fewbits search --rerank` does,
or {LONGEST:,}, the most that tuning tries, and that only where it is no more than a
tenth of the items (300 on Caltech-101): what it gains there is by method and parameters
alone. Tuning begins nothing new after {MINUTES:g} minutes, half of what it has
unasked, on one core of a shared machine; how long it took in the end stands beside what
it chose. It is asked for the best recall within some bytes
(`--bytes`); also in {SHARE_OF_TIME:g} of the time that ITQ of as many bytes takes for a
vector that comes alone (`--encode-us`); for the fewest bytes that reach a recall of
{LEAST_RECALL:g} (`--recall`); and, where items have labels, for the most accurate votes
within some bytes; methods that learn from labels stand there only. A recall of .9 was
asked for first: of Caltech-101 no code of 1,024 bits or fewer has it, so that vectors
were kept beside codes, 2,592 bytes in place of 2,560 for vectors in half precision
alone. That is no contest between codes."""
_LONG = (
    f"of {LENGTHS[-1]} bits at most and without vectors, which tuning may keep to save "
    "time"
)
OVERVIEW = f"""## What holds

What tuning gains on every default, of all methods and lengths, paired by seed. Named is
a default that is better, if any is, else one beside which it is not decided, else the
nearest: as defaults come, by Hamming distance, and with shortlists that they do
not have unasked. With {LONGEST:,}, the most that tuning tries, or more, a default
differs from what is tuned by method and parameters only: nothing is gained where a
default is the best there is. {RULE} The margin is 0."""
LOOKED = """Of ICD-10 seeds 4 to 6 were added when three had left comparisons undecided,
which the intervals do not allow for. Of GloVe tuning was first asked on seeds 1 to 5,
among 200,000 rows, as many as it looks at unasked; at 64 bits it found less than a
default. So more queries choose where rows are many, the best of what is hardly learnt
is never left out, and all rows take part here (`--rows`)
([decided](../decisions/training-tuning.md)). Seeds 6 to 8 are new, and were measured
after that; the other targets are of before."""
BEFORE = "tuned, before"  #: What is kept of that.
ONE_FOR_ALL = """A fixed default is one choice for all data and all lengths. Beside each
of them as that choice, means over sets and lengths; sets are drawn independently, and
so their errors are combined."""
#: Mean, standard error and count, by method and bits.
Table = dict[str, dict[Any, tuple[float, float, int]]]
#: How methods are searched, and what that is called.
WAYS = {
    "as it comes": "by Hamming distance",
    "re-ranked": f"a shortlist of {SHORTLIST}",
    "re-ranked, most": f"a shortlist of {LONGEST:,}",
}


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("tune", [INTRODUCTION, *overview(list(Cells("tune")))], sections)


def overview(cells: list[Cell]) -> list[str]:
    """Return whether what is tuned beats every fixed default, in each way to search."""
    rows = []
    for name, chosen in sets_of(cells):
        for quality, goal in (("recall", WITHIN_BYTES), ("accuracy", BY_LABELS)):
            each = [closest(chosen, quality, goal, way) for way in WAYS]
            if any(each):
                rows.append([TITLES[name], quality, *each])
    if not rows:
        return []
    header = ["features", "", *WAYS.values()]
    measured = [f"*{title}*" for title in dict.fromkeys(row[0] for row in rows)]
    count = f"{len(measured)} set{'s' * (len(measured) > 1)} of features"
    fixed, beaten = one_for_all(cells)
    return [
        OVERVIEW,
        LOOKED,
        f"Measured on {count}: {' and '.join(measured)}. Set by set it beats every "
        f"default in {tally(row[2:] for row in rows)}. Over all sets it beats each "
        f"default in {beaten}.",
        markdown(header, rows),
        *before(cells),
        *targets(cells),
        promises(cells),
        ONE_FOR_ALL,
        fixed,
    ]


def before(cells: list[Cell]) -> Iterator[str]:
    """Yield what was gained before tuning was changed, where that is kept."""
    for name, chosen in sets_of(cells):
        each = [closest(chosen, "recall", BEFORE, way) for way in WAYS]
        if any(each):
            told = "; ".join(map(": ".join, zip(WAYS.values(), each, strict=True)))
            yield f"Before tuning was changed, {TITLES[name]}, seeds 1 to 5: {told}."


def tally(rows: Iterable[list[str]]) -> str:
    """Return in how many of the comparisons a claim holds, and is not decided."""
    texts = [text for row in rows for text in row if text]
    holds, undecided, fails = (
        sum(text.startswith(word) for text in texts) for word in VERDICTS
    )
    return (
        f"{holds} of {len(texts)} comparisons; in {undecided} it is not decided, in "
        f"{fails} it does not hold"
    )


def one_for_all(cells: list[Cell]) -> tuple[str, str]:
    """Return what tuning gains on each default, a mean over all sets, and the tally."""
    asked = [
        (quality, goal, way)
        for quality, goal in (("recall", WITHIN_BYTES), ("accuracy", BY_LABELS))
        for way in ("as it comes", "re-ranked, most")
    ]
    rows = [
        [method, *(mean_gain(cells, method, *each) for each in asked)]
        for method in (*FIXED, *SUPERVISED)
    ]
    rows = [row for row in rows if any(row[1:])]
    header = ["beyond", *(f"{quality}, {WAYS[way]}" for quality, _, way in asked)]
    count = tally(row[1:] for row in rows)
    return markdown(header, rows), count


def mean_gain(cells: list[Cell], method: str, quality: str, goal: str, way: str) -> str:
    """Return the mean gain on a default over sets and lengths, if it has them all."""
    gaps = []
    for _, of_set in sets_of(cells):
        mine = values_of(of_set, goal, figure("quality"))
        theirs = values_of(of_set, method, figure(f"{quality}, {way}"))
        beyond = minus(mine, theirs)
        gap = overall(beyond) if beyond and len(beyond) == len(mine) else None
        if gap:
            gaps.append(gap)
        elif mine:
            return ""
    gap = of_independent(gaps) if gaps else None
    return said(gap, -gap[0]) if gap else ""


def closest(cells: list[Cell], quality: str, goal: str, way: str) -> str:
    """Return what tuning gains on the default that comes nearest, and where."""
    mine = values_of(cells, goal, figure("quality"))
    gaps = {
        (method, dict(at)["bits"]): gap
        for method in (*FIXED, *SUPERVISED)
        for at, gap in over_seeds(
            minus(mine, values_of(cells, method, figure(f"{quality}, {way}")))
        ).items()
    }
    if not gaps:
        return ""
    (method, bits), gap = telling(gaps.items(), lambda gap: -gap[0])
    return f"{said(gap, -gap[0])} beyond {method} at {bits} bits"


def sections(cells: list[Cell], name: str) -> list[str]:
    """Return a plot, tables of recall, what was gained, and what was chosen."""
    tables = {way: methods(cells, "recall", way, WITHIN_BYTES) for way in WAYS}
    path = IMAGES / f"tune_{name}.svg"
    line_plot(
        path,
        curves_of(tables["re-ranked"]),
        x="bits per item",
        y=f"recall@{K}, re-ranked",
        title=TITLES[name],
        x_ticks=LENGTHS,
        methods=True,
    )
    return [
        not_measured(cells, plan(WIDTHS[name], has_labels(cells))),
        f"![Recall against bits](../images/{path.name})",
        f"**Recall, {WAYS['re-ranked']}**\n\n{grid(tables['re-ranked'], '{} bits')}",
        f"**Recall, {WAYS['as it comes']}**\n\n"
        + grid(methods(cells, "recall", "as it comes"), "{} bits"),
        f"**Recall, {WAYS['re-ranked, most']}**\n\n"
        + grid(tables["re-ranked, most"], "{} bits"),
        *gains(cells, "recall", WITHIN_BYTES),
        in_time(cells),
        fewest_bytes(cells, WIDTHS[name]),
        accuracies(cells),
        *gains(cells, "accuracy", BY_LABELS),
        choices(cells),
    ]


def has_labels(cells: list[Cell]) -> bool:
    """Whether votes were counted."""
    return any("accuracy, as it comes" in cell["figures"] for cell in cells)


def plan(width: int, labelled: bool) -> dict[str, tuple[int, ...]]:
    """Return the lengths of each method and goal; axes are no more than features."""
    lengths = dict.fromkeys(FIXED, LENGTHS)
    lengths["pcah"] = tuple(bits for bits in LENGTHS if bits <= width)
    asked = {name: goal.lengths for name, goal in GOALS.items()}
    if not labelled:
        del asked[BY_LABELS]
    return lengths | asked


def methods(cells: list[Cell], quality: str, way: str, goal: str = "") -> Table:
    """Return a quality by method and bits, and that of a goal, searched as it says."""

    def pick(found: Cell) -> float | None:
        return found.get(f"{quality}, {way}")

    table = by_method(cells, pick, "bits")
    asked = [cell for cell in cells if cell["cell"]["method"] == goal]
    return table | by_method(asked, figure("quality"), "bits")


def accuracies(cells: list[Cell]) -> str:
    """Return the accuracies of defaults in each way, and of what was tuned."""
    each = {way: by_method(cells, figure(f"accuracy, {way}"), "bits") for way in WAYS}
    asked = [cell for cell in cells if cell["cell"]["method"] == BY_LABELS]
    tuned = by_method(asked, figure("quality"), "bits").get(BY_LABELS, {})
    parts = []
    for bits, value in tuned.items():
        rows = [
            [
                method,
                *(
                    shown(*found[method][bits][:2]) if bits in found[method] else ""
                    for found in each.values()
                ),
            ]
            for method in each["as it comes"]
            if bits in each["as it comes"][method]
        ]
        best = ["tuned, as it says", *[shown(*value[:2])] * len(WAYS)]
        table = markdown(["", *WAYS.values()], [*rows, best])
        parts.append(f"**Accuracy, {bits} bits**\n\n{table}")
    return "\n\n".join(parts)


def gains(cells: list[Cell], quality: str, goal: str) -> Iterator[str]:
    """Yield what tuning has beyond each method in each way, paired by seed."""
    mine = values_of(cells, goal, figure("quality"))
    at_bits = GOALS[goal].lengths
    for way, words in WAYS.items():
        rows = []
        for method in (*FIXED, *SUPERVISED):
            theirs = values_of(cells, method, figure(f"{quality}, {way}"))
            gaps = over_seeds(minus(mine, theirs))
            found = {dict(at)["bits"]: gap for at, gap in gaps.items()}
            if found:
                each = [shown(*found[n][:2]) if n in found else "" for n in at_bits]
                rows.append([method, *each])
        if rows:
            header = ["beyond", *(f"{bits} bits" for bits in at_bits)]
            title = f"**What tuning gains in {quality} beyond defaults, {words}**"
            yield f"{title}\n\n{markdown(header, rows)}"


def in_time(cells: list[Cell]) -> str:
    """Return what tuning has beyond the methods that are fast enough, seed by seed."""
    rows = []
    for cell in chosen_for(cells, IN_TIME):
        seed, mine = cell["cell"]["seed"], cell["figures"]
        took = f"{mine['encode_us']:.1f}{' (missed)' * missed_time(cell)}"
        recall = f"{mine['quality']:.3f}"
        rows.append(
            [seed, f"{mine['itq_us']:.1f}", took, recall, best_fast(cells, seed)]
        )
    if not rows:
        return ""
    fixed = [cell for cell in cells if cell["cell"]["method"] in FIXED]
    least = min(cell["figures"]["encode_us"] for cell in fixed)
    title = f"**In {SHARE_OF_TIME:g} of the time of ITQ, {TUNED_AT[-1]} bits**"
    note = (
        "What was tuned is timed in turn with ITQ, since the machine is slower at "
        "times; defaults were timed one after the other, and the fastest takes "
        f"{least:.1f} μs for a vector that comes alone. Where nothing is fast enough "
        "tuning takes what comes nearest, and `fewbits tune` "
        "says so and writes nothing."
    )
    header = ["seed", "ITQ, μs", "tuned, μs", "recall"]
    header.append("best default within the time")
    return f"{title}\n\n{note}\n\n{markdown(header, rows)}"


def best_fast(cells: list[Cell], seed: int) -> str:
    """Return the best default that is fast enough, by the times of defaults."""
    recall = fast_defaults(cells, seed)
    best = max(recall, key=lambda method: recall[method], default="")
    return f"{best} {recall[best]:.3f}" if best else "none"


def fewest_bytes(cells: list[Cell], width: int) -> str:
    """Return the bytes that reach the recall, tuned, with each default, and as vectors.

    Defaults are judged by the unseen queries themselves; what was tuned to reach it on
    others may miss it here, which is said.
    """
    bytes_of: Values = values_of(cells, FEWEST_BYTES, figure("bytes"))
    found = {seed: n for seeds in bytes_of.values() for seed, n in seeds.items()}
    if not found:
        return ""
    seeds = sorted(found)
    recall = values_of(cells, FEWEST_BYTES, figure("quality"))
    missed = {
        seed
        for of in recall.values()
        for seed, quality in of.items()
        if quality < LEAST_RECALL
    }
    rows = [["tuned", *(f"{found[n]:g}{' (missed)' * (n in missed)}" for n in seeds)]]
    rows.append(["no code, vectors as float16", *(str(2 * width) for _ in seeds)])
    for method in FIXED:
        least = [bytes_of_default(cells, method, seed) for seed in seeds]
        most = f"more than {LENGTHS[-1] // 8}"
        rows.append([method, *(str(n or most) for n in least)])
    way = WAYS["re-ranked, most"]
    title = f"**Bytes for a recall of {LEAST_RECALL:g}**, defaults with {way}, {_LONG}"
    return f"{title}\n\n{markdown(['', *(f'seed {n}' for n in seeds)], rows)}"


def choices(cells: list[Cell]) -> str:
    """Return what was chosen, what it promised and what it gave."""
    rows = [
        [
            goal,
            cell["figures"]["bytes"],
            cell["cell"]["seed"],
            cell["figures"]["chosen"],
            f"{cell['figures']['promised']:.3f}",
            f"{cell['figures']['quality']:.3f}",
            f"{cell['figures']['tune_seconds'] / 60:.1f}",
            cell["figures"]["untried"],
        ]
        for goal in GOALS
        for cell in chosen_for(cells, goal)
    ]
    header = ["goal", "bytes", "seed", "chosen", "promised", "on unseen queries"]
    header += ["minutes", "not tried for lack of time"]
    if not rows:
        return ""
    where = machine_of(cell for goal in GOALS for cell in chosen_for(cells, goal))
    return f"**What was chosen**{where}\n\n{markdown(header, rows)}"
