"""The page on codes for classes that were trained on."""

import math

from experiments._cells import Cell
from experiments._learners import FREE
from experiments._lp_beta_figures import lp_beta_sentence
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._summary import (
    Pick,
    by_method,
    curves_of,
    figure,
    grid,
    markdown,
    mean_and_error,
    shown,
)
from experiments.discriminative import (
    CHOSEN,
    CURVES_AT,
    LENGTHS,
    LONGEST,
    MOST_CLASSES,
    PQ_SVM_UP_TO,
    RANKS,
    SIZES,
)

FREE_WEIGHTS = " and ".join(name.split(" = ")[1] for name in FREE)

INTRODUCTION = f"""# Codes for classes that were trained on

Made by `python -m experiments.pages` from `discriminative.jsonl`, which
`python -m experiments.discriminative` writes. Figures 2 to 5 of the DBC paper
(Rastegari, Farhadi and Forsyth, ECCV 2012) on other data: codes are learnt from a few
items of each class, classifiers on the codes from the same items, and tested on others.
The classes are all that have items enough for the most to learn from, but no more than
{MOST_CLASSES}, drawn by the seed. The classifiers are the nearest neighbour, a linear
SVM for each class, and one on bits that an L1-regularised SVM selects for the class
("DBC-L1", here for ITQ as well), from all bits, or as many from codes of {LONGEST} bits
as the others have in all ("{CHOSEN}"). Labels of DBC, which its hyperplanes shall
predict, are learnt by image, as in the paper, and by category. How far labels of a
class differ is told by the pairs of its items that a bit sets apart, as a share of the
most there can be (half of the items on each side). All weights are 1 in [our
units](../decisions/learners-dbc.md); the paper's, which are 1 in its own, would be a
smaller `lambda1` for classes of more than four items. Then hardly any labels differ,
and codes by image are nearly those by category; a larger `lambda1` ({FREE_WEIGHTS})
lets them differ. What hyperplanes make of the labels differs more: the codes have an
entropy within a class, at most the logarithm of the number of items. The linear SVMs on
codes have one cost for all, and both sides of a class weigh the same; that on features
is one-vs-rest with a cost from cross-validation. Classic descriptors are reduced as for
[novel classes](novel_classes.md). Product quantization ("PQ") compares the features of
a query with the centres of the codes; its linear SVMs, with at most {PQ_SVM_UP_TO}
items per class as in the paper, see the centres. Precision counts as many of the
highest scored test items as the class has. The nearest neighbour is the first of
equally near items here; were they to share the vote, as in
`fewbits.evaluation.knn_accuracy` since, one or two in a hundred more would be right
with 32 bits and many items of each class, and hardly any with longer codes. Accuracies
are means over classes, then over
seeds ± one standard error; a seed draws the items and the starting points.

[Claims of the paper](discriminative_claims.md) are checked on these numbers."""


DISAGREEMENT = "pairs of a class whose labels a bit sets apart, as a share of the most"
ENTROPY = "within-class entropy of the codes of the training items, in bits"


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("discriminative", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> list[str]:
    """Return the parts on one set of features."""
    parts = [section(cells, name, each) for each in SIZES[name][1]]
    return [*parts, against_examples(cells, name), objective(cells, name)]


def section(cells: list[Cell], name: str, each: int) -> str:
    """Return plots and tables for one number of items per class (figures 2 and 4)."""
    chosen = [cell for cell in cells if cell["cell"]["each"] == each]
    if not chosen:
        return ""
    codes = [cell for cell in chosen if cell["cell"]["bits"]]
    tables = {
        "nearest neighbour": by_method(codes, figure("nearest"), "bits"),
        "linear SVM": by_method(codes, figure("svm"), "bits"),
        "linear SVM on selected bits": by_method(codes, figure("selected"), "bits"),
        "precision of the linear SVM": by_method(codes, figure("precision"), "bits"),
        DISAGREEMENT: by_method(codes, disagreement, "bits"),
        ENTROPY: by_method(codes, figure("entropy"), "bits"),
    }
    floats = [cell for cell in chosen if not cell["cell"]["bits"]]
    parts = [f"### {each} items per class", controls(floats)]
    measured = {title: table for title, table in tables.items() if table}
    for i, (title, table) in enumerate(measured.items()):
        if i < 2:
            image = IMAGES / f"discriminative_{name}_{each}_{'ns'[i]}.svg"
            draw = curves_of(table)
            line_plot(
                *(image, draw),
                x="bits",
                y=f"accuracy, {title}",
                x_ticks=LENGTHS,
                levels=levels(floats),
            )
            parts.append(f"![accuracy by {title}](../images/{image.name})")
        parts += [f"**{title[0].upper()}{title[1:]}**", grid(table, "{} bits")]
    parts.append(precision_recall(codes, name, each))
    return "\n\n".join(part for part in parts if part)


def levels(cells: list[Cell]) -> dict[str, float]:
    """Return what the features reach, and LP-beta; a predicted class is as good."""
    found = {
        "float, predicted class": by_method(cells, figure("svm"), "bits").get("float"),
        "LP-beta": by_method(cells, figure("accuracy"), "bits").get("LP-beta"),
    }
    return {name: row[0][0] for name, row in found.items() if row}


def disagreement(found: Cell) -> float | None:
    """Return how often a bit differs in labels of a class, after the last iteration."""
    return found["terms"]["intra"][-1] if "terms" in found else None


def controls(cells: list[Cell]) -> str:
    """Return what the features and the code of the predicted class reach."""
    if not cells:
        return ""
    svm, precision = (
        by_method(cells, figure(key), "bits") for key in ("svm", "precision")
    )
    parts = [
        f"Features themselves, linear SVM: {shown(*svm['float'][0][:2])}. The code of "
        "the class that it predicts has the same accuracy; ranking by it, ties in any "
        f"order, has a precision of {shown(*precision['float'][0][:2])}."
    ]
    return " ".join(part for part in [*parts, lp_beta_sentence(cells)] if part)


def precision_recall(cells: list[Cell], name: str, each: int) -> str:
    """Draw precision against recall of the ranking by Hamming distance (figure 4)."""
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for i in range(len(RANKS)):
        recall, precision = (
            by_method(cells, point(axis, i), "bits") for axis in (0, 1)
        )
        for method, found in recall.items():
            mean, error, _ = precision[method][CURVES_AT]
            place = (found[CURVES_AT][0], mean, 0.0 if math.isnan(error) else error)
            curves.setdefault(method, []).append(place)
    if not curves:
        return ""
    image = IMAGES / f"discriminative_{name}_{each}_pr.svg"
    title = f"{CURVES_AT} bits, ranked by Hamming distance"
    axes = {"x": "recall", "y": "precision", "x_scale": "linear"}
    line_plot(image, curves, title=title, **axes)
    return f"![precision against recall](../images/{image.name})"


def point(axis: int, i: int) -> Pick:
    """Return a function that picks a point of the precision-recall curve."""

    def pick(found: Cell) -> float | None:
        curve = found.get("curve")
        return curve[axis][i] if curve and i < len(curve[axis]) else None

    return pick


def against_examples(cells: list[Cell], name: str) -> str:
    """Draw precision against the number of items per class (figure 5)."""
    chosen = [cell for cell in cells if cell["cell"]["bits"] in (0, CURVES_AT)]
    table = by_method(chosen, figure("precision"), "each")
    chosen = [cell for cell in chosen if cell["cell"]["method"] == "DBC"]
    table |= {
        "DBC-L1": by_method(chosen, figure("selected_precision"), "each").get("DBC", {})
    }
    table = {method: found for method, found in table.items() if found}
    if len(table.keys() - {"float", "PQ"}) < 2:
        return ""
    image = IMAGES / f"discriminative_{name}_each.svg"
    ticks = SIZES[name][1]
    x, y = "items per class", f"precision, {CURVES_AT} bits"
    line_plot(image, curves_of(table), x=x, y=y, title=TITLES[name], x_ticks=ticks)
    picture = f"![precision against items per class](../images/{image.name})"
    return f"### More items per class\n\n{picture}\n\n" + grid(table, "{} per class")


def objective(cells: list[Cell], name: str) -> str:
    """Draw the terms of the objective over the iterations (figure 3)."""
    most = max(SIZES[name][1])
    runs = [
        cell["figures"]
        for cell in cells
        if (cell["cell"]["method"], cell["cell"]["bits"]) == ("DBC", CURVES_AT)
        and cell["cell"]["each"] == most
    ]
    if not runs:
        return ""
    series = {"objective": [run["objective"] for run in runs]}
    for term in runs[0]["terms"]:
        series[term] = [run["terms"][term] for run in runs]
    length = min(len(values) for values in series["objective"])
    curves = {
        term: [
            (i + 1.0, mean_and_error([run[i] for run in values])[0], 0.0)
            for i in range(length)
        ]
        for term, values in series.items()
    }
    image = IMAGES / f"discriminative_{name}_terms.svg"
    axes = {"x": "iteration", "y": "mean over bits and seeds", "x_scale": "linear"}
    line_plot(image, curves, **axes)
    rows = [
        [term, *(shown(curve[i][1], math.nan) for i in (0, 1, length - 1))]
        for term, curve in curves.items()
    ]
    header = ["term", "after 1 iteration", "2 iterations", f"{length} iterations"]
    title = f"### Terms of the objective, DBC of {CURVES_AT} bits, {most} per class"
    picture = f"![terms of the objective](../images/{image.name})"
    return "\n\n".join([title, picture, markdown(header, rows)])
