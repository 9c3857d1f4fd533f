"""The page on classes that nobody trained on."""

from experiments._cells import RESULTS, Cells
from experiments._plots import line_plot
from experiments._sparse_page import IMAGES, TITLES, drawn
from experiments._summary import markdown, over_seeds, shown
from experiments.novel_classes import N_LEARN, N_NOVEL, N_TEST, N_TRAIN

INTRODUCTION = f"""# Classes that nobody trained on

Made by `python -m experiments.pages` from `novel_classes.jsonl`, which
`python -m experiments.novel_classes` writes. Figure 3 of the PiCoDes paper (Bergamo,
Torresani and Fitzgibbon, NIPS 2011) on other data: {N_NOVEL} classes are held out,
and codes are learnt from up to {N_LEARN} items of each other class. A linear SVM on
the codes is trained on {N_TRAIN} items of each novel class and tested on up to
{N_TEST}; its weight of errors is chosen by cross-validation on the training items. Mean
accuracy over classes, means over seeds ± one standard error; a seed draws the classes,
the items and the starting points."""

FOUND = """The paper finds PiCoDes better than LSH, spectral hashing, BRE and classemes
at every length, from 2,659 training classes and classic features. Here, from 75 classes
and the features of a network that has seen a million photographs, they are above LSH,
BRE, CCA-ITQ and classemes at every length, and level with spectral hashing and ITQ,
which the paper does not have: .025 below ITQ at 16 bits, within .01 from 32 bits on.
They start from ITQ; from random directions they get half of the way there from LSH.
DBC, by category here, is behind both (the paper on DBC claims the opposite)."""


def write() -> None:
    """Write the page, if anything was measured."""
    cells = list(Cells("novel_classes"))
    names = [name for name in TITLES if any(c["cell"]["data"] == name for c in cells)]
    if not names:
        return
    parts = [INTRODUCTION, FOUND]
    for name in names:
        chosen = [cell for cell in cells if cell["cell"]["data"] == name]
        parts += [f"## {TITLES[name]}", section(chosen, name)]
    (RESULTS / "novel_classes.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def section(cells: list[dict], name: str) -> str:  # type: ignore[type-arg]
    """Return plot and tables of one set of features."""
    found = {
        (bits, method): value
        for (bits, _, method), value in over_seeds(cells, "accuracy").items()
    }
    bits = sorted({n for n, _ in found if n})
    methods = list(dict.fromkeys(cell["cell"]["method"] for cell in cells))
    methods.remove("float")
    curves = {
        method: [(n, *found[n, method][:2]) for n in bits if (n, method) in found]
        for method in methods
    }
    image = IMAGES / f"novel_{name}.svg"
    label = "accuracy on novel classes"
    line_plot(image, drawn(curves), x="bits", y=label, title=TITLES[name], x_ticks=bits)
    text = f"![accuracy against bits](../images/{image.name})\n\n"
    text += f"Float features: {shown(*found[0, 'float'][:2])}.\n\n"
    text += "**Linear SVM**\n\n" + _grid(cells, "accuracy", methods, bits) + "\n\n"
    return text + "**Nearest neighbour**\n\n" + _grid(cells, "nearest", methods, bits)


def _grid(cells: list[dict], figure: str, methods: list[str], bits: list[int]) -> str:  # type: ignore[type-arg]
    found = {
        (n, method): value
        for (n, _, method), value in over_seeds(cells, figure).items()
    }
    rows = [
        [m, *(shown(*found[n, m][:2]) if (n, m) in found else "" for n in bits)]
        for m in methods
    ]
    return markdown(["", *(f"{n} bits" for n in bits)], rows)
