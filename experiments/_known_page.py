"""The page on the number of classes that codes for novel ones are learnt from."""

from experiments._cells import Cell
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._summary import by_method, curves_of, figure, grid
from experiments.known_classes import N_BITS, N_KNOWN

INTRODUCTION = f"""# From how many classes to learn

Made by `python -m experiments.pages` from `known_classes.jsonl`, which
`python -m experiments.known_classes` writes. Figure 4 of the PiCoDes paper on other
data: [classes that nobody trained on](novel_classes.md) with codes of {N_BITS} bits,
learnt from fewer known classes. More of them are those of the smaller number and
others; the novel classes and their items stay the same. `float` are the features
themselves (classic ones are reduced to principal components of the items that are
learnt from, so these depend on the known classes, too), `class` is the code of the
known class that a linear SVM on them predicts, `classemes` are the signs of its
scores for all known classes, a bit for each. Accuracy of a linear SVM, mean over
classes, means over seeds ± one standard error."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("known_classes", [INTRODUCTION], section)


def section(cells: list[Cell], name: str) -> list[str]:
    """Return plot and table of one set of features."""
    table = by_method(cells, figure("accuracy"), "known")
    image = IMAGES / f"known_{name}.svg"
    x, y, ticks = "known classes", "accuracy on novel classes", N_KNOWN[name]
    line_plot(image, curves_of(table), x=x, y=y, title=TITLES[name], x_ticks=ticks)
    picture = f"![accuracy against known classes](../images/{image.name})"
    return [picture, grid(table, "{} classes")]
