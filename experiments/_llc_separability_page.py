"""The page on what must be trained for LLC."""

from collections.abc import Iterator
from typing import Any

from experiments._cells import Cell
from experiments._pages import write_page
from experiments._summary import markdown, mean_and_error, shown
from experiments.llc_separability import CODEBOOK_EPOCHS, N_ITER, TRAINED, WIDTHS

INTRODUCTION = f"""# What must be trained for the codes of classes?

Made by `python -m experiments.pages` from `llc_separability.jsonl`, which
`python -m experiments.llc_separability` writes. The ablations of section 4.4 of LLC
(Kusupati et al., NeurIPS 2021), with hidden layers of {WIDTHS[0]} and {WIDTHS[1]} on
frozen features in the place of its ResNet50, no bias in the projection:
{CODEBOOK_EPOCHS} epochs for the codebook, {N_ITER} for items or classes. What is
trained of a network has the learning rate of the head. Of each the epoch is kept that
classifies a tenth of the items, held out, best: by real scores in phase 1 and of the
classifier itself, by the nearest code elsewhere. *Nearest* counts one of k classes that
are equally near as 1 / k. Phase 1 alone is that of LLC: network, codebook and all. The
paper has 75.5 % for a linear classifier on features that were trained for codes (their
nearest codes 74.6 %, an ordinary network 77 %), and for codes on top of an ordinary
network 21 % exact with the projection alone, 68 % with the last three layers. Means
over seeds ± one standard error."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("llc_separability", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of features."""
    runs = [cell["figures"] for cell in cells]
    yield f"{cells[0]['cell']['bits']} bits."
    ways = {
        "linear head, after phase 1": ["phases", "1"],
        "linear head, after phase 2": ["phases", "2"],
        "network trained for codes": ["trained for codes"],
        **{f"classifier's network, trained: {way}": [way] for way in TRAINED},
    }
    yield markdown(
        ["codes", "exact", "nearest"],
        [
            [title, *(_mean(runs, [*path, key]) for key in ("exact", "nearest"))]
            for title, path in ways.items()
        ],
    )
    yield markdown(
        ["linear classifiers", "accuracy"],
        [
            [title, _mean(runs, [key])]
            for title, key in (
                ("on the network trained for codes", "linear on its features"),
                (
                    "on the classifier's network",
                    "linear on the classifier's features",
                ),
                ("the classifier itself", "classifier"),
            )
        ],
    )


def _mean(runs: list[Cell], path: list[str]) -> str:
    return shown(*mean_and_error([_at(run, path) for run in runs])[:2])


def _at(found: Any, path: list[str]) -> float:
    for key in path:
        found = found[key]
    return float(found)
