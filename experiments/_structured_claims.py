"""What the paper says of bilinear and circulant projections beside sparse ones."""

from typing import NamedTuple

from experiments._cells import Cell
from experiments._projections import CBE_FREE
from experiments._sparse_claims import Claim, reasons, table_of, verdict
from experiments._summary import markdown, shortest

INTRODUCTION = """## Beside bilinear and circulant projections

The paper's claims on methods that form no matrix, judged as above, without margins: a
claim holds where no difference has the wrong sign. The paper has BP and CBE up to d
bits only; so do these rows. "Rest free" is ours: what a circulant matrix gives behind
the last bit may be anything, where the paper draws it to 0. *Time* is the ratio of the
encoding times of single vectors at d bits, which should be at most 1."""

_SHORT = "short codes of few features keep few weights in a row at 5 or 10 %"
_ZEROS = "outputs behind the last bit are drawn to 0; left free, they cost nothing"
_FLAT = "differences are within what the draw of a starting point changes"
_SIGNS = "these features are outputs of ReLU6: their own signs carry more than in fc7"


class Part(NamedTuple):
    """Claims on one figure, of all sets of features or of one."""

    title: str
    figure: str
    claims: tuple[Claim, ...]
    only: str = ""


def _better(one: str, other: str, why_not: str) -> Claim:
    text = f"{one} is better than {other}".replace("%", " %")
    return Claim(text, one, other, 0.0, to_share=1, why_not=why_not)


ANN = Part(
    "ANN mAP, figures 2, 5 and 6",
    "ann_map",
    (
        _better("SP 10%", "BP-opt", _SHORT),
        _better("SP 10%", "CBE-opt", _SHORT),
        _better("BP-opt", "BP-rand", _FLAT),
        _better("CBE-opt", "CBE-rand", _ZEROS),
        _better(CBE_FREE, "CBE-rand", _FLAT),
    ),
)
RETRIEVAL = Part(
    "mAP over labels among distractors, table 1",
    "label_map",
    (_better("SP 5%", "BP-opt", _SHORT), _better("SP 5%", "CBE-opt", _SHORT)),
    "caltech101+cifar10",
)
CLASSES = Part(
    "Linear SVM, all classes, table 2",
    "accuracy",
    (
        _better("SP 5%", "BP-opt", _FLAT),
        _better("SP 5%", "CBE-opt", _FLAT),
        _better("SP 5%", "threshold", _SIGNS),
        _better("BP-opt", "threshold", _SIGNS),
        _better("CBE-opt", "threshold", _SIGNS),
    ),
    "caltech101-1280",
)
FASTER = ("BP-opt", "CBE-opt")


def structured_claims(
    cells: list[Cell], svm: list[Cell], titles: dict[str, str], widths: dict[str, int]
) -> str:
    """Return the table of the claims, and why some do not hold."""
    rows, judged = [], []
    for part in (ANN, RETRIEVAL, CLASSES):
        source = svm if part is CLASSES else cells
        for claim in part.claims:
            found = [
                verdict(claim, table_of(source, name, part.figure), widths[name])
                if part.only in ("", name)
                else ""
                for name in titles
            ]
            judged.append((claim, found))
            if any(found):
                rows.append([claim.text, part.title, *found])
    rows += [
        [f"SP 5 % encodes faster than {rival}", "Time, figure 2b", *ratios]
        for rival in FASTER
        if any(ratios := [faster(cells, rival, name, widths[name]) for name in titles])
    ]
    table = markdown(["claim", "by", *titles.values()], rows)
    return "\n\n".join([INTRODUCTION, table, *reasons(judged, titles, widths)])


def faster(cells: list[Cell], rival: str, name: str, d: int) -> str:
    """Return the ratio of the times of sparse projections and a rival at d bits."""
    times = shortest(cells, "single_us")
    mine, other = (times.get((d, name, method)) for method in ("SP 5%", rival))
    if not mine or not other:
        return ""
    return f"{'holds' if mine <= other else '**does not hold**'}: {mine / other:.2f}"
