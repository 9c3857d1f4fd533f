"""What the paper says of bilinear and circulant projections, of time and of classes."""

import math
from typing import NamedTuple

from experiments._cells import Cell
from experiments._projections import CBE_FREE
from experiments._sparse_claims import (
    UNKNOWN,
    Claim,
    Paired,
    Reasons,
    difference,
    reasons,
    table_of,
    verdict,
)
from experiments._summary import markdown, shortest
from experiments._verdicts import said

#: What codes as long may lose to the features; the paper has .5 % and nothing.
AS_FEATURES = 0.01

INTRODUCTION = f"""## Beside bilinear and circulant projections, classes, and time

The paper's claims on methods that form no matrix, judged as above, without margins: a
claim holds where no difference has the wrong sign. The paper has BP and CBE up to d
bits only; so do these rows. "Rest free" is ours: what a circulant matrix gives behind
the last bit may be anything, where the paper draws it to 0. Codes of 4d bits classify
as well as the features where they lose at most {AS_FEATURES}.

*Time* is how many times as fast a method encodes as another at d bits: a single vector,
by which it is judged, and a vector of a batch. The paper counts multiply-adds, of which
a sparse map has exactly its share: SP 5, 10 and 15 % a twentieth, a tenth and 1/6.7."""

_SHORT: Reasons = (
    (100, "of so few features 5 or 10 % are few weights in a row"),
    *UNKNOWN,
)
_ZEROS: Reasons = (
    (
        math.inf,
        "outputs behind the last bit are drawn to 0; see those that are left free",
    ),
)
_SIGNS: Reasons = (
    (500, "embeddings of words have signs of their own that tell classes"),
    (
        math.inf,
        "these features are outputs of ReLU6: their own signs carry more than in fc7",
    ),
)
_LOSSY = "the features themselves are far better than signs, and we train on few items"
_CALL = "of so few features a call costs more than the map"
_GATHER = (
    "a sparse weight is read with its place, and features are gathered one by one; "
    "dense maps come by whole registers"
)
_GROWS = "what theirs takes grows by d^1.5 or d log d, a twentieth of a matrix by d^2"


class Part(NamedTuple):
    """Claims on one figure, of all sets of features or of one."""

    title: str
    figure: str
    claims: tuple[Claim, ...]
    only: str = ""


def _better(one: str, other: str, why: Reasons = UNKNOWN) -> Claim:
    text = f"{one} is better than {other}".replace("%", " %")
    return Claim(text, one, other, 0.0, to_share=1, why=why)


ANN = Part(
    "ANN mAP, figures 2, 5 and 6",
    "ann_map",
    (
        _better("SP 10%", "BP-opt", _SHORT),
        _better("SP 10%", "CBE-opt", _SHORT),
        _better("BP-opt", "BP-rand"),
        _better("CBE-opt", "CBE-rand", _ZEROS),
        _better(CBE_FREE, "CBE-rand"),
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
        _better("SP 5%", "BP-opt", _SHORT),
        _better("SP 5%", "CBE-opt", _SHORT),
        _better("SP 5%", "threshold", _SIGNS),
        _better("BP-opt", "threshold", _SIGNS),
        _better("CBE-opt", "threshold", _SIGNS),
    ),
)
CLASSIFY = {
    "clusters": "Linear SVM, 10 clusters, table 2",
    "accuracy": CLASSES.title,
}
RISES = Claim("SP 5 % classifies better the more bits", "SP 5%", "", 0.0)
REACHES = Claim(
    "SP 5 % of 4d bits classifies as the features",
    "SP 5%",
    "float",
    AS_FEATURES,
    why=((500, _LOSSY), *UNKNOWN),
)
TIME = "Time, figure 2b"
#: (one, other, how many times as fast the paper has it, or more)
FASTER = (
    ("SP 5%", "BP-opt", 1.0),
    ("SP 5%", "CBE-opt", 1.0),
    ("SP 5%", "ITQ", 20.0),
    ("SP 10%", "ITQ", 10.0),
    ("SP 15%", "ITQ", 6.7),
)


def structured_claims(
    cells: list[Cell],
    svm: list[Cell],
    times: list[Cell],
    titles: dict[str, str],
    widths: dict[str, int],
) -> str:
    """Return the table of the claims, and why some do not hold."""
    judged: list[tuple[Claim, str, list[str]]] = []
    for part in (ANN, RETRIEVAL, CLASSES):
        source = svm if part is CLASSES else cells
        for claim in part.claims:
            found = [
                verdict(claim, table_of(source, name, part.figure), widths[name])
                if part.only in ("", name)
                else ""
                for name in titles
            ]
            judged.append((claim, part.title, found))
    for figure, title in CLASSIFY.items():
        tables = [(table_of(svm, name, figure), widths[name]) for name in titles]
        judged += [(RISES, title, [rises(table) for table, _ in tables])]
        judged += [(REACHES, title, [reaches(*table) for table in tables])]
    for one, other, least in FASTER:
        ratios = [faster(times, one, other, least, n, widths[n]) for n in titles]
        judged.append((_faster(one, other, least), TIME, ratios))
    rows = [[claim.text, by, *found] for claim, by, found in judged if any(found)]
    table = markdown(["claim", "by", *titles.values()], rows)
    explained = reasons([(claim, found) for claim, _, found in judged], titles, widths)
    return "\n\n".join([INTRODUCTION, table, *explained])


def rises(table: Paired) -> str:
    """Return what the longest codes classify better than the shortest."""
    lengths = sorted(bits for bits, method in table if method == RISES.method)
    if len(lengths) < 2:
        return ""
    ends = [(bits, RISES.method) for bits in (lengths[-1], lengths[0])]
    gap = difference(table, *ends)
    return said(gap, -gap[0]) + f" from {lengths[0]} to {lengths[-1]} bits"


def reaches(table: Paired, d: int) -> str:
    """Return what codes of 4d bits classify better than the features."""
    pair = (4 * d, REACHES.method), (0, REACHES.other)
    if not all(key in table for key in pair):
        return ""
    gap = difference(table, *pair)
    return said(gap, -gap[0] - REACHES.margin) + f" at {4 * d} bits"


def _faster(one: str, other: str, least: float) -> Claim:
    """Return a claim on time, which knows why it would not hold."""
    many = "faster than" if least == 1 else f"{least:g} times as fast as"
    text = f"{one} encodes {many} {other}".replace("%", " %")
    beyond = _GATHER if other == "ITQ" else _GROWS
    why = (500, _CALL), (math.inf, beyond)
    return Claim(text, one, other, 0.0, why=why, of_learning=False)


def faster(
    times: list[Cell], one: str, other: str, least: float, name: str, d: int
) -> str:
    """Return how many times as fast a method encodes d bits as another."""
    ratios = []
    for figure in ("single_us", "batch_us"):
        known = shortest(times, figure)
        mine, its = (known.get((d, name, method)) for method in (one, other))
        if not mine or not its:
            return ""
        ratios.append(its / mine)
    held = "holds" if ratios[0] >= least else "**does not hold**"
    return f"{held}: {ratios[0]:.1f}, in a batch {ratios[1]:.1f}"
