"""Parts of the page on posterior control: public code beside ours, and pictures."""

from collections.abc import Iterator
from pathlib import Path

from experiments._cells import Cell, Cells
from experiments._pages import IMAGES, TITLES
from experiments._plots import scatter_plot
from experiments._public_code import BY_HEAD, REFERENCES, WHOLE, pair
from experiments._summary import by_method, decimal, figure, markdown, shown
from experiments.llc_retrieval import SHALLOW
from experiments.llc_retrieval import WHOLE as WITHOUT_LENGTH
from experiments.posterior_control import (
    CHOSEN_SEED,
    FOLLOWED,
    LENGTHS,
    NEW_BASE,
    PUBLIC_HEADS,
    beside_losses,
)
from experiments.posterior_map import MOST_CLASSES, N_BITS, N_ITEMS
from fewbits.analysis.bounds import bound_regression

#: The length at which mAP is drawn against the bound: others have other ratios.
BOUND_AT = 32

#: Figure 5.
MAPS = f"""**Codes on a plane (figure 5)**: {N_ITEMS:,} items of the base, of up to
{MOST_CLASSES} classes, by t-SNE of their Hamming distances; {N_BITS} bits, a linear
head, with the settings and epochs above; one seed. Beside each name stands the bound
ratio of the codes that are shown."""

Table = dict[str, dict[int, tuple[float, float, int]]]


def beside_public_code(
    cells: list[Cell], epochs: list[Cell], name: str, head: str
) -> Iterator[str]:
    """Yield public code beside ours, from cells that name their control."""
    public = BY_HEAD[head.split()[0]].get(name)
    if public is None:
        yield from references(name)
        return
    ours = by_method(cells, figure("map"), "bits")
    rows = []
    for method, theirs in public.items():
        found = ours.get(method, {})
        cells_of = zip(LENGTHS, theirs, strict=True)
        rows.append([method, *(pair(found.get(n), each) for n, each in cells_of)])
    # There the number of epochs was chosen by this figure itself.
    followed = [] if name in NEW_BASE else epochs
    rows.append(["best", *_best(cells, followed, ours, list(public.values()))])
    same = "the same head and protocol"
    if head not in PUBLIC_HEADS:
        same = f"the same protocol; public code without {head.split(' with ')[1]}"
    yield f"**Public code / ours**, {same}"
    yield markdown(["", *(f"{bits} bits" for bits in LENGTHS)], rows)
    yield (
        "Public code (DeepHash-pytorch, OrthoHash, modfire) was run with up to three "
        "seeds on one split; our figures below it are in bold. *Best* is the largest "
        "of public code, and our loss and control that rank best what was not trained "
        "on: items held out, half of which rank the others, or, where that was not "
        "measured, those trained on. Where few items of a class are held out, that "
        "is a rough guide."
    )
    yield from references(name)


def _best(
    cells: list[Cell],
    epochs: list[Cell],
    ours: Table,
    public: list[tuple[float | None, ...]],
) -> Iterator[str]:
    aside = by_method(cells, figure("held_out"), "bits")
    unseen = by_method(epochs, figure("unseen"), "bits")
    for i, bits in enumerate(LENGTHS):
        theirs = max((each[i] for each in public if each[i]), default=None)
        known = {method: at[bits][0] for method, at in aside.items() if bits in at}
        if not known:
            yield ""
            continue
        if all(bits in unseen.get(method, {}) for method in known):
            known = {method: unseen[method][bits][0] for method in known}
        chosen = max(known, key=lambda method: known[method])
        yield f"{pair(ours[chosen][bits], theirs)} ({chosen})"


def picture(name: str, head: str, kind: str = "") -> Path:
    """Return where a picture of a head goes; links have no spaces."""
    return IMAGES / f"posterior_{name}_{head.replace(' ', '_')}{kind}.svg"


def references(name: str) -> Iterator[str]:
    """Yield what is reached without deep codes."""
    rows = [
        [method, *("" if each is None else decimal(each, 3) for each in values)]
        for method, values in REFERENCES.get(name, {}).items()
    ]
    rows += measured_references(name)
    if rows:
        header = ["without deep codes", *(f"{bits} bits" for bits in LENGTHS)]
        yield markdown(header, rows)
    if name in WHOLE:
        whole = "; ".join(f"{key} {decimal(v, 3)}" for key, v in WHOLE[name].items())
        yield f"Without a length, by public code: {whole}."


def measured_references(name: str) -> Iterator[list[str]]:
    """Yield what codes without networks reach here, and what has no length."""
    cells = [c for c in Cells("llc_retrieval") if c["cell"]["data"] == name]
    found = by_method(cells, figure("map"), "bits")
    for method in SHALLOW:
        at = found.get(method, {})
        if at:
            values = [shown(*at[n][:2]) if n in at else "" for n in LENGTHS]
            yield [f"{method}, here", *values]
    for method in WITHOUT_LENGTH:
        if 0 in found.get(method, {}):
            yield [f"{method}, here", *[shown(*found[method][0][:2])] * len(LENGTHS)]


def against_bound(cells: list[Cell], name: str, head: str) -> Iterator[str]:
    """Draw the mAP of networks against their bound ratio, and a line (figure 4).

    Not where all have the same, as where items have several labels: of so many, some
    two without a common one share a code.
    """
    groups: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        if cell["cell"]["bits"] != BOUND_AT or not beside_losses(cell):
            continue
        kind = "with D" if cell["cell"]["control"] == "D" else "without"
        found = cell["figures"]
        groups.setdefault(kind, []).append((found["bound"], found["map"]))
    points = [point for group in groups.values() for point in group]
    bounds = {bound for bound, _ in points}
    if len(bounds) == 1:
        yield f"All networks of {BOUND_AT} bits have a bound ratio of {bounds.pop():g}."
    elif points:
        image = picture(name, head, "_bound")
        title = f"{TITLES[name]}, {BOUND_AT} bits"
        line = bound_regression(*zip(*points, strict=True)) if len(points) > 2 else None
        axes = {"x": "min D_inter / max D_intra", "y": "mAP"}
        scatter_plot(image, groups, **axes, title=title, line=line)
        yield f"![mAP against the bound](../images/{image.name})"


def epochs_against_bound(cells: list[Cell], name: str, head: str) -> Iterator[str]:
    """Draw the mAP of every epoch against its bound (figure 1)."""
    groups = {
        _followed_name(cell): list(
            zip(
                cell["figures"]["bound"],
                cell["figures"]["map"],
                strict=True,
            )
        )
        for cell in cells
        if _followed_name(cell)
        and (cell["cell"]["bits"], cell["cell"]["seed"]) == (BOUND_AT, CHOSEN_SEED)
    }
    if groups:
        image = picture(name, head, "_epochs")
        axes = {"x": "min D_inter / max D_intra", "y": "mAP on items held out"}
        scatter_plot(image, groups, **axes, title=f"every epoch, {BOUND_AT} bits")
        yield f"![mAP of every epoch against the bound](../images/{image.name})"


def _followed_name(cell: Cell) -> str:
    """Return the name of what has the control, beside a loss or alone, else none."""
    method, control = cell["cell"]["method"], cell["cell"]["control"]
    if control == "D":
        return f"{method} + D"
    return method if (method, control) in FOLLOWED else ""


def maps(name: str) -> Iterator[str]:
    """Draw codes on a plane (figure 5)."""
    cells = [cell for cell in Cells("posterior_map") if cell["cell"]["data"] == name]
    if cells:
        yield MAPS
    for cell in cells:
        found, made = cell["figures"], cell["cell"]
        groups: dict[str, list[tuple[float, float]]] = {}
        for label, point in zip(found["labels"], found["points"], strict=True):
            groups.setdefault(str(label), []).append(tuple(point))
        title = f"{made['method']}{' + D' if made['control'] else ''}"
        short = title.replace(" + ", "_").replace(" ", "_")
        image = IMAGES / f"posterior_{name}_{short}_map.svg"
        bound = decimal(found["bound"], 2)
        scatter_plot(image, dict(sorted(groups.items())), title=f"{title}, {bound}")
        yield f"![{title} by t-SNE, bound {bound}](../images/{image.name})"
