"""The page on classes that nobody trained on."""

from experiments._cells import Cell
from experiments._classic_features import N_EACH
from experiments._components import CHOSEN_AT, COMPONENTS
from experiments._lp_beta_figures import lp_beta_sentence
from experiments._novel_protocol import MOST_KNOWN, N_NOVEL, N_TEST, N_TRAIN
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._preparation import KERNEL, VARIANCE
from experiments._summary import by_method, curves_of, figure, grid, shown
from experiments.novel_classes import ABLATED_UP_TO, N_LEARN

INTRODUCTION = f"""# Classes that nobody trained on

Made by `python -m experiments.pages` from `novel_classes.jsonl`, which
`python -m experiments.novel_classes` writes. Figure 3 of the PiCoDes paper (Bergamo,
Torresani and Fitzgibbon, NIPS 2011) on other data: {N_NOVEL} classes are held out,
and codes are learnt from up to {N_LEARN} items of each other class, of {MOST_KNOWN}
classes at most. A linear SVM on the codes is trained on {N_TRAIN} items of each novel
class and tested on up to {N_TEST}; its weight of errors is chosen by cross-validation
on the training items. Mean accuracy over classes, means over seeds ± one standard
error; a seed draws the classes, the items and the starting points."""

METHODS = f"""`PiCoDes` has a line search beyond the paper, `whole steps` is the paper;
relaxed PiCoDes are sigmoids and gradient descent (Adam; their temperature falls from 1
to .1, or stays, and they start from ITQ, or at random, as the paper tells neither);
balanced ones let the items of a class weigh as much as all others. These and the random
start are measured up to {ABLATED_UP_TO} bits, some of them further on the network's
features of Caltech-101. Labels of DBC
are the same for nearly all items of a class at the defaults; with a larger `lambda1`
they [differ](discriminative.md). Classemes have a bit for
each known class, and no more. PiCoDes' parameters were chosen on classes of Caltech-101
that are never novel ones, with the features of the network. So they are for classic
descriptors, and for codes longer than {CHOSEN_AT} bits, which more components would
serve better. Only the number of principal components, {COMPONENTS[0]} there, is chosen
anew on ICD-10: for each seed between {COMPONENTS[0]} and all, by codes of {CHOSEN_AT}
bits, on classes that are neither known nor novel (where classes are [searched
for](class_search.md), on known ones that are left out for it).

Classic descriptors go through a homogeneous kernel map ({KERNEL}) and are reduced to
the principal components that hold {100 * VARIANCE:g} % of the variance of the items
that are learnt from; the paper does so to 6,415. LP-beta takes the descriptors as they
are (up to {N_EACH} images a class, where deep features are of all), with a kernel
machine for each kind; how much each counts it learns from scores on folds of the few
training items. Kernel, weight of errors and nu are those that are right most often on
these folds; and so they are where all kinds count the same, which is told beside it.

[Claims of the papers](discriminative_claims.md) are checked on these numbers."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("novel_classes", [INTRODUCTION, METHODS], section)


def section(cells: list[Cell], name: str) -> list[str]:
    """Return plot and tables of one set of features."""
    codes = [cell for cell in cells if cell["cell"]["bits"]]
    accuracy = by_method(codes, figure("accuracy"), "bits")
    nearest = by_method(codes, figure("nearest"), "bits")
    image = IMAGES / f"novel_{name}.svg"
    label = "accuracy on novel classes"
    bits = sorted({cell["cell"]["bits"] for cell in codes})
    line_plot(
        *(image, curves_of(accuracy)),
        x="bits",
        y=label,
        title=TITLES[name],
        x_ticks=bits,
        levels=levels(cells),
    )
    parts = [f"![accuracy against bits](../images/{image.name})", controls(cells)]
    parts += ["**Linear SVM**", grid(accuracy, "{} bits")]
    parts += [
        "**Nearest neighbour, the first of equally near items**",
        grid(nearest, "{} bits"),
    ]
    return [*parts, *idle_classes(codes)]


def levels(cells: list[Cell]) -> dict[str, float]:
    """Return what is reached without codes of a length to choose."""
    floats = [cell for cell in cells if not cell["cell"]["bits"]]
    found = by_method(floats, figure("accuracy"), "bits")
    names = {"float": "float", "LP-beta": "LP-beta", "class": "predicted class"}
    return {names[m]: found[m][0][0] for m in names if m in found}


def idle_classes(cells: list[Cell]) -> list[str]:
    """Return how many classifiers of PiCoDes ignore the code, where that was kept."""
    kept = [cell for cell in cells if "idle" in cell["figures"]]
    if not any(cell["figures"]["idle"] for cell in kept):
        return []
    table = by_method(kept, figure("idle"), "bits")
    title = (
        "**Known classes whose classifier says no to every code while PiCoDes learn**"
    )
    return [title, grid(table, "{} bits", digits=0)]


def controls(cells: list[Cell]) -> str:
    """Return what is reached without codes, and by the code of the predicted class."""
    without = [cell for cell in cells if not cell["cell"]["bits"]]
    found = by_method(without, figure("accuracy"), "bits")
    sentences = {
        "float": "Float features: {}.",
        "components": "Their principal components that PiCoDes learn from: {}.",
        "classemes": "Classemes, a bit for each known class: {}.",
        "class": "The code of the known class that a linear SVM on the features "
        "predicts, one bit for each class: {}.",
    }
    parts = [
        text.format(shown(*found[method][0][:2]))
        for method, text in sentences.items()
        if method in found
    ]
    return " ".join(part for part in [*parts, lp_beta_sentence(without)] if part)
