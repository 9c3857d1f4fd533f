"""The page on tuning."""

from experiments._cells import Cell
from experiments._features import UNSEEN
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._summary import by_method, curves_of, figure, grid, markdown, shown
from experiments._verdicts import minus, over_seeds, values_of
from experiments.tune import FIXED, LENGTHS, LONGEST, MINUTES, SHORTLIST, TUNED, K

INTRODUCTION = f"""# Tuning against every fixed default

Made by `python -m experiments.pages` from `tune.jsonl`, which
`python -m experiments.tune` writes. Queries are held out before anything else; what is
left is the collection, which methods learn from and which `fewbits tune --bytes` sees.
Recall is the share of the {K} nearest vectors among the first {K} found; means over
seeds ± one standard error; a seed draws the queries and the starting points. Seed 0,
whose queries were looked at when some methods were made, is not among them.
{UNSEEN}
Every method comes with its default parameters, searched by Hamming distance, and with
the {SHORTLIST} nearest codes ranked again by scores, as `fewbits search --rerank` does,
or {LONGEST:,}, the most that tuning tries: what it gains there is by method and
parameters alone. Tuning may take {MINUTES:g} minutes, three times as long as it does
unasked."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("tune", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> list[str]:
    """Return a plot, tables of recall, what was gained, and what was chosen."""
    # The tuned one has a single way to be searched, its own.
    again = by_method(cells, figure("reranked"), "bits")
    plain = by_method(
        [cell for cell in cells if cell["cell"]["method"] != TUNED],
        figure("recall"),
        "bits",
    )
    path = IMAGES / f"tune_{name}.svg"
    line_plot(
        path,
        curves_of(again),
        x="bits per item",
        y=f"recall@{K}, re-ranked",
        title=TITLES[name],
        x_ticks=LENGTHS,
    )
    return [
        f"![Recall against bits](../images/{path.name})",
        f"**Re-ranked**\n\n{grid(again, '{} bits')}",
        f"**By Hamming distance**\n\n{grid(plain, '{} bits')}",
        gains(cells, "reranked", SHORTLIST),
        gains(cells, "reranked, most", LONGEST),
        choices(cells),
    ]


def gains(cells: list[Cell], key: str, shortlist: int) -> str:
    """Return what tuning has beyond each method re-ranked so far, paired by seed."""
    mine = values_of(cells, TUNED, figure("reranked"))
    rows = []
    for method in FIXED:
        gaps = minus(mine, values_of(cells, method, figure(key)))
        found = {dict(at)["bits"]: gap for at, gap in over_seeds(gaps).items()}
        shown_gaps = [
            shown(*found[bits][:2]) if bits in found else "" for bits in LENGTHS
        ]
        if found:
            rows.append([method, *shown_gaps])
    header = ["beyond", *(f"{bits} bits" for bits in LENGTHS)]
    title = f"**What tuning gains over a shortlist of {shortlist:,}**"
    return f"{title}\n\n{markdown(header, rows)}"


def choices(cells: list[Cell]) -> str:
    """Return what was chosen, what it promised and what it gave."""
    rows = [
        [
            cell["cell"]["bits"] // 8,
            cell["cell"]["seed"],
            cell["figures"]["chosen"],
            f"{cell['figures']['promised']:.3f}",
            f"{cell['figures']['reranked']:.3f}",
            f"{cell['figures']['tune_seconds'] / 60:.1f}",
        ]
        for cell in cells
        if cell["cell"]["method"] == TUNED
    ]
    header = ["bytes", "seed", "chosen", "promised", "on unseen queries", "minutes"]
    return f"**What was chosen**\n\n{markdown(header, rows)}" if rows else ""
