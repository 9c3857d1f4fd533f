"""The page on posterior control."""

import math
from collections.abc import Iterator

import numpy as np

from experiments._cells import Cell, Cells
from experiments._deep_claims import controlled, over_epochs, over_networks
from experiments._pages import TITLES, write_page
from experiments._plots import line_plot
from experiments._posterior_peers import (
    against_bound,
    beside_public_code,
    epochs_against_bound,
    maps,
    picture,
)
from experiments._stated_lbhash_claims import LEAST, LOSSES
from experiments._summary import (
    by_method,
    decimal,
    figure,
    grid,
    markdown,
    mean_and_error,
    shown,
)
from experiments._verdicts import (
    Setting,
    Values,
    minus,
    only,
    over_seeds,
    values_of,
    without,
)
from experiments.posterior_control import (
    CHOSEN_SEED,
    CONTROLS,
    FOLLOWED,
    LENGTHS,
    N_ASKED,
    N_ITER,
    USUAL_EPOCHS,
    Settings,
    choice_of,
    drawn,
)
from fewbits.learners.deep._trainer import N_SMOOTHED

INTRODUCTION = f"""# What is the posterior worth, and what are the centres?

Made by `python -m experiments.pages` from `posterior_control-*.jsonl`, which
`python -m experiments.posterior_control` writes. Tables 2 and 3 and figures 1, 2, 4
and 5 of LBHash (Zhu et al., NeurIPS 2022) on frozen features: a head is trained by each
loss alone, with the posterior control ("D"), with the targets of its centres but
without the posterior ("centres"), and with a surrogate that stays as it was drawn
("frozen"; with D's weight, rate and epochs, and without dropout, which would make
another one of it at each step).
The paper does not say whether the control is added to a loss or takes its place: "D
alone" is the control in place of any, "centres alone" the targets in place of any, by
binary cross-entropy or with a Cauchy likelihood: the variants that the paper replaces
its surrogate with. Where nothing else is said, centres are CSQ's, which know nothing
of the classes: rows of a Hadamard matrix and balanced ones, but for Caltech-101 at 16
bits, whose classes are too many for that, and have *separated* ones; "semantic" ones
are near each other where the means of their classes are, "learnt" ones come from phase
1 of LLC, and "predictable" ones are learnt on what features foretell of each item by
the others. Losses on pairs come in variants: pairs of a batch, as in the papers, or of
a batch with up to 5,000 items and their scores as they were last seen ("memory"), as in
public code, other weights than their authors', and for DCH distances of the scores
themselves and pairs of items with themselves, as in public code; the latter two are
tried since a look at queries had shown that ours was below it. Variants, learning rates
and weights were chosen at 32 bits on a tenth of the training items of another seed,
among which is no query of those that are reported (of ICD-10 that leaves 11 to 60 of a
block's items instead of 60); weights by decades, then half a decade beside the best of
these. There, with {N_ITER} epochs at each length, it also shows
after how many they rank best, in the mean over {N_SMOOTHED} epochs beside each other
(of heads that are not of public code in the median of three seeds); so many are then
done with all training items, and the learning rate falling to 0 by the last. That
counts the rank of items that are trained on, of which half the base of Caltech-101
consists, and a twelfth of that of ICD-10's words. CIFAR-10's base has none of them, and
there all is chosen by how well items held out rank one another: variants, rates and
weights after {USUAL_EPOCHS} epochs, then as many epochs, of 5, 10, 20, 40 or 80, as do
best in the mean of {N_ASKED} seeds. Settings are chosen once and are the same for all
seeds, so standard errors tell nothing of what others would have done, and differences
below {LEAST} are not made much of. "MLP" is a hidden layer of 1,024, as in public code.
The bound is that of the codes that are ranked, over the epochs that of the training
items; it is 0 where two classes have a centre or an item's code in common, as with
short codes, and all such networks tie in correlations with it. mAP with expected ties,
divided by what can be found; means over seeds ± one standard error, and differences
paired by seed, over the seeds that both have.

Where losses stand alone at more lengths (ICD-10-CM, WordNet), they were trained for the
[comparison with LLC](llc_retrieval.md).

What the posterior is worth is the row "D less the targets" of each table *What
posterior and centres are worth*: where it is below 0, what the control adds comes from
its centres and not from its surrogate."""

TABLES = {
    "map": "mAP",
    "accuracy": "accuracy of 100 votes",
    "classifier": "accuracy of the loss's own classifier of codes",
}
#: How settings were chosen before, where some of them are left.
FORMERLY = {
    "caltech101": "when the centres at 32 bits were *separated* ones",
    "cifar10": "by how items held out rank those that are trained on",
}
#: What is compared, beside a loss and in place of one.
PARTS = (
    ("D less nothing, mean over the losses", "D", ""),
    ("targets at its centres less nothing, likewise", "centres", ""),
    ("D less the targets", "D", "centres"),
    ("D less a surrogate as it was drawn", "D", "frozen"),
)
PARTS_ALONE = (
    ("in place of a loss: D less the targets", "D alone", "centres alone"),
    (
        "in place of a loss: D less a surrogate as it was drawn",
        "D alone",
        "D alone, frozen",
    ),
)
N_DRAWN = 50  #: Epochs of a curve.
SHOWN = {"": "alone", "D": "+ D", "centres": "+ centres", "frozen": "+ frozen D"}


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("posterior_control", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of features."""
    for head in sorted({cell["cell"]["head"] for cell in cells}):
        chosen = [cell for cell in cells if cell["cell"]["head"] == head]
        yield f"### {head} head"
        for key, title in TABLES.items():
            table = by_method(labelled(chosen), figure(key), "bits")
            if table:
                yield f"**{title}**"
                yield grid(table, "{} bits")
        epochs = [
            cell
            for cell in Cells("posterior_epochs")
            if (cell["cell"]["data"], cell["cell"]["head"]) == (name, head)
        ]
        both = labelled(chosen), labelled(epochs)
        yield from beside_public_code(*both, name, head)
        if any(cell["cell"]["control"] for cell in chosen):
            yield from worth(chosen)
            yield "**What each control adds to the mAP**"
            yield added(chosen)
        yield "**Variants, learning rates, and weights of controls, as chosen**"
        yield settings_of(chosen)
        yield from chosen_before(chosen, name)
        yield from convergence(chosen, epochs, name, head)
        yield regression(chosen, epochs)
        yield from epochs_against_bound(epochs, name, head)
        yield from against_bound(chosen, name, head)
        yield from weights_of(chosen, name, head)
    yield from maps(name)


def labelled(cells: list[Cell]) -> list[Cell]:
    """Return the cells with the control in the name of the method."""
    return [
        {**cell, "cell": {**cell["cell"], "method": label(cell), "control": ""}}
        for cell in sorted(cells, key=_order)
    ]


def label(cell: Cell) -> str:
    """Return ``csq + D``."""
    method, control = cell["cell"]["method"], cell["cell"]["control"]
    return f"{method} {SHOWN[control]}" if control else method


def _order(cell: Cell) -> tuple[str, int]:
    return cell["cell"]["method"], list(CONTROLS).index(cell["cell"]["control"])


def added(cells: list[Cell]) -> str:
    """Return differences to the loss alone, paired by seed."""
    rows = []
    for method in sorted({cell["cell"]["method"] for cell in cells}):
        values = values_of(cells, method, figure("map"))
        for control in list(CONTROLS)[1:]:
            gaps = over_seeds(
                minus(
                    without(only(values, control=control), "control"),
                    without(only(values, control=""), "control"),
                )
            )
            found = {dict(at)["bits"]: gap for at, gap in gaps.items()}
            if found:
                rows.append([f"{method} {SHOWN[control]}", *_gaps(found)])
    return markdown(["", *(f"{bits} bits" for bits in LENGTHS)], rows)


def worth(cells: list[Cell]) -> Iterator[str]:
    """Yield what the posterior is worth, and what its centres are."""
    beside = [cell for cell in cells if cell["cell"]["method"] in LOSSES]
    rows = []
    for name, one, other in PARTS:
        found = _mean_over_losses(beside, one, other)
        if found:
            rows.append([name, *_gaps(found)])
    for name, method, peer in PARTS_ALONE:
        sides = (values_of(cells, each, figure("map")) for each in (method, peer))
        gaps = over_seeds(minus(*sides))
        if gaps:
            rows.append([name, *_gaps({dict(at)["bits"]: v for at, v in gaps.items()})])
    if rows:
        yield "**What posterior and centres are worth**, mAP"
        yield markdown(["", *(f"{bits} bits" for bits in LENGTHS)], rows)


def _mean_over_losses(
    cells: list[Cell], one: str, other: str
) -> dict[int, tuple[float, float, int]]:
    """Return differences of two controls: the mean over losses, by seed."""
    by_length: dict[int, list[dict[int, float]]] = {}
    for loss in LOSSES:
        for at, gaps in controlled(loss, other, control=one)(
            {"posterior_control": cells}
        ).items():
            by_length.setdefault(dict(at)["bits"], []).append(gaps)
    found = {}
    for bits, losses in by_length.items():
        if len(losses) < len(LOSSES):
            continue
        seeds = set.intersection(*(set(gaps) for gaps in losses))
        means = [sum(gaps[s] for gaps in losses) / len(losses) for s in sorted(seeds)]
        if means:
            found[bits] = mean_and_error(means)
    return found


def weights_of(cells: list[Cell], name: str, head: str) -> Iterator[str]:
    """Yield how well items held out are ranked with each weight that was tried.

    With the variant and the rate of the loss alone, which is what weight 0 is.
    """
    tried = [
        cell
        for cell in Cells("posterior_choices")
        if (cell["cell"]["data"], cell["cell"]["head"]) == (name, head)
    ]
    chosen = {
        cell["cell"]["method"]: cell["figures"]
        for cell in cells
        if not cell["cell"]["control"] and cell["cell"]["method"] in LOSSES
    }
    found = {
        loss: _by_weight(tried, loss, settings) for loss, settings in chosen.items()
    }
    weights = sorted({weight for values in found.values() for weight in values})
    if len(weights) < 2:
        return
    rows = [
        [f"{loss} + D", *(decimal(at[w], 3) if w in at else "" for w in weights)]
        for loss, at in found.items()
        if len(at) > 1
    ]
    yield "**mAP aside against the weight of D**, 32 bits, one seed"
    yield markdown(["", *(f"{weight:g}" for weight in weights)], rows)


def _by_weight(tried: list[Cell], loss: str, settings: Cell) -> dict[float, float]:
    found = {}
    for each in tried:
        cell = each["cell"]
        at_rate = cell["method"] == loss and cell["rate"] == settings["rate"]
        alike = cell.get("variant", "") == settings["variant"]
        if at_rate and alike and cell["control"] in ("", "D"):
            found[cell["weight"] or 0.0] = each["figures"]["map"]
    return found


def _gaps(found: dict[int, tuple[float, float, int]]) -> Iterator[str]:
    for bits in LENGTHS:
        mean, error, n = found.get(bits, (0.0, 0.0, 0))
        yield (
            f"{mean:+.3f} ± {decimal(error, 3)}" if n > 1 else f"{mean:+.3f}" * (n > 0)
        )


def settings_of(cells: list[Cell]) -> str:
    """Return what was chosen for each loss and control, and how good it was."""
    choices, rows = Cells("posterior_choices"), []
    for name, cell in {label(each): each for each in sorted(cells, key=_order)}.items():
        chosen = Settings.of(cell["figures"])
        data, head, method, control = (
            cell["cell"][key] for key in ("data", "head", "method", "control")
        )
        known = choices.get(choice_of(data, head, method, control, chosen))
        aside = "" if known is None else decimal(known["map"], 3)
        weight = "" if chosen.weight is None else f"{chosen.weight:g}"
        rows.append([name, chosen.variant, f"{chosen.rate:g}", weight, aside])
    return markdown(["", "variant", "learning rate", "weight", "mAP aside"], rows)


def chosen_before(cells: list[Cell], name: str) -> Iterator[str]:
    """Name those whose settings were chosen in a way that is no more, if there are any.

    Their choices are not kept.
    """
    choices = Cells("posterior_choices")
    found: dict[str, bool] = {}
    for cell in sorted(cells, key=_order):
        chosen = Settings(*(cell["figures"][key] for key in Settings._fields))
        data, head, method, control = (
            cell["cell"][key] for key in ("data", "head", "method", "control")
        )
        asked = "D" if control == "frozen" else control
        if choices.get(choice_of(data, head, method, asked, chosen)) is None:
            found[label(cell)] = True
    if found:
        yield (
            f"The settings of these were chosen {FORMERLY.get(name, 'otherwise')}, and "
            f"they wait to be measured again: {'; '.join(found)}."
        )


def convergence(
    cells: list[Cell], epochs: list[Cell], name: str, head: str
) -> Iterator[str]:
    """Draw the mAP on items held out over the epochs, at 32 bits (figure 2).

    Of those that were made with the settings of the tables.
    """
    made = {(label(cell), Settings.of(cell["figures"])) for cell in cells}
    curves = {
        label(cell): [
            (float(epoch), cell["figures"]["map"][epoch - 1], 0.0)
            for epoch in drawn_epochs(len(cell["figures"]["map"]))
        ]
        for cell in sorted(epochs, key=_order)
        if drawn(cell["cell"])
        and cell["cell"]["seed"] == CHOSEN_SEED
        and (label(cell), Settings.of(cell["figures"])) in made
    }
    if curves:
        image = picture(name, head)
        y, title = "mAP on items held out", f"{TITLES[name]}, 32 bits"
        line_plot(image, curves, x="epoch", y=y, title=title)
        yield f"![mAP over the epochs](../images/{image.name})"


def drawn_epochs(n: int) -> list[int]:
    """Return some of n epochs, as many in each decade: the scale is logarithmic."""
    return sorted({round(epoch) for epoch in np.geomspace(1, n, N_DRAWN).tolist()})


def regression(cells: list[Cell], epochs: list[Cell]) -> str:
    """Say how mAP and bound go together, over epochs and methods (figures 1, 4)."""
    measured = {"posterior_control": cells, "posterior_epochs": epochs}
    controls = {cell["cell"]["control"] for cell in cells}
    of_both = ", with D and without" if "D" in controls else ""
    parts = [
        f"{text} of {dict(at)['bits']} bits{of_both}"
        for at, text in _correlations(over_networks(0.0)(measured), "networks")
    ]
    for method, control in FOLLOWED:
        found = over_epochs(method, control, 0.0)(measured)
        parts += [
            f"{text} of {method} {SHOWN[control] * bool(control)}".rstrip()
            + f" at {dict(at)['bits']} bits"
            for at, text in _correlations(found, "epochs")
        ]
    if not parts:
        return ""
    return f"Spearman's correlation of mAP and bound: {'; '.join(parts)}."


def _correlations(values: Values, over: str) -> Iterator[tuple[Setting, str]]:
    """Yield the mean of each length, of one correlation for each seed."""
    for at, (mean, error, n) in sorted(over_seeds(values).items()):
        yield at, f"{shown(mean, error if n > 1 else math.nan, 2)} over the {over}"
