"""The page on what holds of the papers on PiCoDes and DBC."""

from collections.abc import Mapping

from experiments._cells import RESULTS, Cells
from experiments._claims import MUCH, Claim, Measured
from experiments._pages import TITLES
from experiments._stated_claims import DBC, PICODES
from experiments._summary import markdown, seeds_of
from experiments._verdicts import (
    RULE,
    Gap,
    named,
    over_seeds,
    overall,
    signed,
    word,
)

EXPERIMENTS = ("novel_classes", "known_classes", "class_search", "discriminative")
PAPERS = {"PiCoDes": PICODES, "DBC": DBC}
NOT_MEASURED = "not measured"

INTRODUCTION = f"""# What holds of PiCoDes and DBC

Made by `python -m experiments.pages` from the measurements behind
[novel classes](novel_classes.md), [known classes](known_classes.md),
[search by example](class_search.md) and
[codes for known classes](discriminative.md). Each claim is a difference that should not
be below 0 (for "much worse", not below {MUCH}; the papers give no such margin), paired
by seed, mean ± standard error: its mean over all settings, and in the setting where the
claim fares worst. {RULE} What no chance is in, such as bytes, is judged as it is. Many
settings have their worst one by chance, so the number of settings in which the mean is
on the right side stands beside it. The reasons are our reading of how the methods work,
given for the mean over all settings, or the worst where no seed has all; no measurement
proves them."""

HEADER = [
    "",
    "claim",
    "compared",
    "mean",
    "where it fares worst",
    "right side in",
    "why",
]


def write() -> None:
    """Write the page, if anything was measured."""
    every = {name: list(Cells(name)) for name in EXPERIMENTS}
    parts = []
    for name, title in TITLES.items():
        measured = of_data(every, name)
        cells = [
            {"cell": {**cell["cell"], "experiment": experiment}}
            for experiment, found in measured.items()
            for cell in found
        ]
        if cells:
            parts += [f"## {title}", seeds_of(cells), *tables(measured, PAPERS)]
    if parts:
        text = "\n\n".join([INTRODUCTION, *parts])
        (RESULTS / "discriminative_claims.md").write_text(text + "\n", "utf-8")


def of_data(every: Measured, name: str) -> Measured:
    """Return the cells on one set of features, by experiment."""
    return {
        experiment: [cell for cell in cells if cell["cell"]["data"] == name]
        for experiment, cells in every.items()
    }


def tables(measured: Measured, papers: Mapping[str, list[Claim]]) -> list[str]:
    """Return a table of the claims of each paper."""
    return [
        f"**{paper}**\n\n"
        + markdown(HEADER, [row(claim, measured) for claim in claims])
        for paper, claims in papers.items()
    ]


def row(claim: Claim, measured: Measured) -> list[str]:
    """Return what is known of a claim, in the order of `HEADER`."""
    stated = [claim.code, claim.text, claim.compared]
    gaps = claim.gaps(measured)
    if not gaps:
        return [*stated, "", NOT_MEASURED, "", ""]
    found, average = over_seeds(gaps), overall(gaps)
    at = min(found, key=lambda at: found[at][0])
    explained = average or found[at]
    undecided = "one seed" if explained[2] == 1 else "seeds differ by as much"
    reasons = {"holds": claim.why, "not decided": undecided}
    return [
        *stated,
        f"{judged(claim, average)}: {signed(average)}" if average else "",
        f"{judged(claim, found[at])}: {signed(found[at])} at {named(at)}",
        f"{sum(gap[0] >= claim.margin for gap in found.values())} of {len(found)}",
        reasons.get(judged(claim, explained), claim.why_not),
    ]


def judged(claim: Claim, gap: Gap) -> str:
    """Return what a difference says of a claim."""
    return word(gap, claim.margin - gap[0], exact=claim.exact)
