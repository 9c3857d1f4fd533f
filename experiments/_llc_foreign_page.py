"""The page on unknown items and the codes of classes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from experiments._cells import Cell, Cells
from experiments._deep_claims import at_path
from experiments._pages import write_page
from experiments._summary import (
    by_method,
    figure,
    grid,
    markdown,
    mean_and_error,
    shown,
)
from experiments.llc_foreign import (
    BALANCED,
    CAREFUL,
    F1,
    FOREIGN,
    MET,
    NEARNESS,
    RADII,
)

INTRODUCTION = """# Is this of any class at all?

Made by `python -m experiments.pages` from `llc_foreign.jsonl`, which
`python -m experiments.llc_foreign` writes. Section 4.3 of LLC (Kusupati et al., NeurIPS
2021) on frozen features and a linear head without a bias: unknown are Caltech-101's
background images, or a quarter of the classes, which nobody trained on. A rule accepts
what lies near a class's code: within 0 bits (section 4.3 of the paper), within 1 (its
introduction), or within a radius at which the share of unknown items is predicted, from
the code space alone ("predicted"), from known classes, each left out in turn ("hidden
classes"), or by the more careful of both, the rule of `fewbits classify
--max-false-accept-rate`. The items that stand for unknown ones are a fifth that nothing
was learnt from or chosen by; the command has a tenth that its best epoch was chosen by.
Beside them stands the largest logit of a logistic regression on features, whose weight
of errors classifies a fifth of the training items, held out, best; with a threshold of
best F1 on 3,000 items of a mixture. So do radii around the centres of OrthoHash, and
around the signs of the mean scores of classes by PCA and a random rotation; a code of
the predicted class is always one of a class, and rejects nothing. Means over seeds ±
one standard error. A rule that cannot keep the rate it is asked for, not even with
radius 0 and not with every seed, is left out at that length. The rate that code space
alone predicts takes the codes of unknown items for random ones; they are not, and far
more are accepted, the more so the longer the codes: it tells what codes could do, not
what they will. Hidden classes tell more."""

THRESHOLD = "max logit,"
#: Those beside tuned thresholds: the paper's, and the two that expect some.
MIXED_RULES = (
    "radius 0",
    "radius 1",
    "predicted, 0.05",
    "hidden classes, 0.05",
    f"{CAREFUL}, 0.05",
)
MIXTURES = """**A threshold tuned on one mixture and used on another**

The thresholds are those of best F1 on 3,000 items of which a share is unknown, drawn
with replacement from a half of the test items and of the unknown ones (there are but
467 background images); the other halves are met in use. The rules have seen none."""
SCORES = "**AUROC of scores**, which need a threshold to decide"
FALSE_POSITIVES = "**Unknown items accepted where 95 % of the known ones are** (FPR95)"
RULES = "**Balanced accuracy of rules**, none of which was tuned on unknown items"


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("llc_foreign", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of features."""
    every = list(Cells("llc_foreign_peers"))
    for kind in FOREIGN:
        chosen = [cell for cell in cells if cell["cell"]["method"] == kind]
        peers = [
            cell
            for cell in every
            if (cell["cell"]["data"], cell["cell"]["unknown"]) == (name, kind)
        ]
        if chosen:
            yield f"### Unknown: {kind}"
            for title, key in ((SCORES, "auroc"), (FALSE_POSITIVES, "fpr95")):
                yield title
                near = renamed(by_method(peers, figure(key), "bits"), NEARNESS)
                yield grid(table(chosen, "scores", key) | near, "{} bits")
            yield RULES
            rules = table(chosen, "rules", "balanced")
            for radius in RADII:
                pick = at_path("rules", f"radius {radius}")
                rules |= renamed(by_method(peers, pick, "bits"), f"radius {radius}")
            yield grid(rules, "{} bits")
            yield "**Unknown items that the rules accept, and what was predicted**"
            yield accepted(chosen)
            yield MIXTURES
            for key in (F1, BALANCED):
                yield f"{key[0].upper()}{key[1:]}:"
                yield mixtures(chosen, key)


def renamed(found: dict[str, Any], what: str) -> dict[str, Any]:
    """Return what was found of other codes, told from what LLC's have."""
    return {f"{what}, {name}": each for name, each in found.items()}


def table(cells: list[Cell], part: str, key: str) -> dict[str, dict[Any, Any]]:
    """Return a figure of each score or rule, by length."""
    spread = [
        {
            "cell": {**cell["cell"], "method": name},
            "figures": {key: found[key]},
        }
        for cell in cells
        for name, found in cell["figures"][part].items()
        if part != "rules" or (name, cell["cell"]["bits"]) in allowed(cells)
    ]
    return by_method(spread, lambda found: found[key], "bits")


def allowed(cells: list[Cell]) -> set[tuple[str, int]]:
    """Return rules and lengths where every seed keeps the rate that is asked for."""
    n_seeds = Counter(cell["cell"]["bits"] for cell in cells)
    kept = Counter(
        (rule, cell["cell"]["bits"])
        for cell in cells
        for rule in cell["figures"]["rules"]
    )
    return {found for found, n in kept.items() if n == n_seeds[found[1]]}


def accepted(cells: list[Cell]) -> str:
    """Return the rates of false acceptance beside their predictions."""
    real = table(cells, "rules", "unknown_accepted")
    told = table(cells, "rules", "predicted_rate")
    lengths = sorted({bits for found in real.values() for bits in found})
    rows = [
        [
            rule,
            *(
                f"{shown(*found[bits][:2])} ({shown(*told[rule][bits][:2])})"
                if bits in found
                else ""
                for bits in lengths
            ),
        ]
        for rule, found in real.items()
    ]
    return markdown(["", *(f"{bits} bits" for bits in lengths)], rows)


def mixtures(cells: list[Cell], key: str) -> str:
    """Return a figure of tuned thresholds, and of rules by length.

    Balanced accuracy is the same whatever the share in use.
    """
    rows: dict[str, dict[float, list[float]]] = {}
    kept = allowed(cells)
    for cell in cells:
        found, bits = cell["figures"], cell["cell"]["bits"]
        if bits == cells[0]["cell"]["bits"]:
            for each in found["tuned"]:
                name = f"{THRESHOLD} tuned on {each['tuned_on']:.0%}"
                _add(rows, name, each["met"], each[key])
        for rule in (rule for rule in MIXED_RULES if (rule, bits) in kept):
            for each in found["rules"][rule]["mixtures"]:
                _add(rows, f"{rule}, {bits} bits", each["met"], each[key])
    order = sorted(rows, key=lambda name: (THRESHOLD not in name, name))
    table = {
        name: {met: mean_and_error(each) for met, each in rows[name].items()}
        for name in order
    }
    if key == BALANCED:
        first = min(MET)
        return grid({k: {0: at[first]} for k, at in table.items()}, "any share in use")
    return grid(table, "{:.0%} unknown in use")


def _add(
    rows: dict[str, dict[float, list[float]]], name: str, met: float, value: float
) -> None:
    rows.setdefault(name, {}).setdefault(met, []).append(value)
