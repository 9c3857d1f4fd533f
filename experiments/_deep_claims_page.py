"""The page on what holds of the papers on LLC and LBHash."""

import json
from collections.abc import Iterator

from experiments._cells import RESULTS, Cells
from experiments._claims import Measured
from experiments._claims_page import of_data, tables
from experiments._deep_claims import timed
from experiments._pages import TITLES
from experiments._stated_lbhash_claims import (
    ACCURATE,
    LBHASH,
    TIME,
    TOY,
)
from experiments._stated_llc_claims import LITTLE, LLC, NEARLY, NOISE, POINTS
from experiments._verdicts import RULE

EXPERIMENTS = (
    "llc",
    "llc_retrieval",
    "llc_foreign",
    "llc_taxonomy",
    "llc_separability",
    "posterior_control",
    "posterior_epochs",
    "bernoulli_toy",
)
PAPERS = {
    "LLC": LLC,
    "LBHash": LBHASH,
    "LBHash, its toy": TOY,
    "LBHash, time": TIME,
}
MORE_TITLES = {
    "softmax of normals": "Toy: probabilities whose logarithms are normal",
    "Dirichlet": "Toy: probabilities from a Dirichlet distribution",
    "normalised uniforms": "Toy: normalised uniform probabilities",
    "training": "Time per epoch, random features and images",
}

INTRODUCTION = f"""# What holds of LLC and LBHash

Made by `python -m experiments.pages` from the measurements behind
[codes for classes](llc.md), [retrieval](llc_retrieval.md),
[unknown items](llc_foreign.md), [the taxonomy of codes](llc_taxonomy.md),
[what must be trained](llc_separability.md),
[posterior control](posterior_control.md), [its toy](bernoulli_toy.md) and the
[benchmark of training](benchmarks.md). Each claim is a difference that should not be
below its margin, paired by seed, mean ± standard error: its mean over all settings, and
in the setting where the claim fares worst. {RULE} Many settings have their worst one by
chance, so the number of settings in which the mean is on the right side stands beside
it. The papers give no margins; ours are {POINTS} for "a few points",
{NEARLY} for "nearly equal", {LITTLE} for "at most 1 %", {NOISE} for "as accurate" and
"2 % lower", and a divergence of {ACCURATE} for an estimate that is accurate. The
reasons are our reading of how the methods work, given for the mean over all settings,
or the worst where no seed has all; no measurement proves them."""


def write() -> None:
    """Write the page, if anything was measured."""
    every = {name: list(Cells(name)) for name in EXPERIMENTS}
    path = RESULTS / "benchmark_training.json"
    rows = json.loads(path.read_text("utf-8")) if path.exists() else []
    every["training"] = list(timed(rows))
    parts = [
        part
        for name, title in {**TITLES, **MORE_TITLES}.items()
        for part in section(of_data(every, name), title)
    ]
    if parts:
        text = "\n\n".join([INTRODUCTION, *parts])
        (RESULTS / "deep_claims.md").write_text(text + "\n", "utf-8")


def section(measured: Measured, title: str) -> Iterator[str]:
    """Yield the claims of the papers that anything measured says something about.

    Of items with several labels only those: many claims are of one label.
    """
    voted = any("accuracy" in c["figures"] for c in measured["posterior_control"])
    papers = {
        paper: [claim for claim in claims if voted or claim.gaps(measured)]
        for paper, claims in PAPERS.items()
        if any(claim.gaps(measured) for claim in claims)
    }
    if papers:
        yield f"## {title}"
        yield from tables(measured, papers)
