"""The page on classes that nobody trained on."""

from experiments._cells import Cell
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._summary import by_method, curves_of, grid, shown
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
and the features of a network that has seen a million photographs, they are so, and
above CCA-ITQ; they are level with ITQ, from which they start and which the paper does
not have. `PiCoDes` has a line search beyond the paper, `whole steps` is the paper.
Relaxed PiCoDes (sigmoids and gradient descent) are no worse; the paper calls them much
worse, without figures. DBC, by category here, is level with them at 16 bits and behind
from 32 bits on (the paper on DBC claims the opposite)."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("novel_classes", [INTRODUCTION, FOUND], section)


def section(cells: list[Cell], name: str) -> list[str]:
    """Return plot and tables of one set of features."""
    codes = [cell for cell in cells if cell["cell"]["bits"]]
    accuracy = by_method(codes, lambda found: found["accuracy"], "bits")
    nearest = by_method(codes, lambda found: found["nearest"], "bits")
    controls = [cell for cell in cells if not cell["cell"]["bits"]]
    control = by_method(controls, lambda found: found["accuracy"], "bits")
    image = IMAGES / f"novel_{name}.svg"
    label = "accuracy on novel classes"
    bits = sorted({cell["cell"]["bits"] for cell in codes})
    line_plot(
        image, curves_of(accuracy), x="bits", y=label, title=TITLES[name], x_ticks=bits
    )
    parts = [f"![accuracy against bits](../images/{image.name})"]
    parts.append(
        f"Float features: {shown(*control['float'][0][:2])}. The code of the known "
        "class that a linear SVM on them predicts, one bit for each class: "
        f"{shown(*control['class'][0][:2])}."
    )
    parts += ["**Linear SVM**", grid(accuracy, "{} bits")]
    parts += ["**Nearest neighbour**", grid(nearest, "{} bits")]
    return parts
