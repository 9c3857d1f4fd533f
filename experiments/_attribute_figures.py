"""The figures that the page on what bits mean shows, and how they are compared."""

from typing import Any

from experiments._attribute_names import N_EXTREMES
from experiments._cells import Cell
from experiments._summary import Pick

RIVALS = ("DBC, by category", "ITQ", "LSH")

Columns = dict[str, tuple[Pick, int]]  # title, figure and digits


def value(*path: str) -> Pick:
    """Return a function that follows a path to a figure."""

    def pick(found: Any) -> float | None:
        for key in path:
            found = found.get(key) if found else None
        return None if found is None else float(found)

    return pick


def share(test: str, key: str) -> Pick:
    """Return a function that divides a count by the number of tested names."""

    def pick(found: Cell) -> float | None:
        tested = found[test]["tested"]
        return found[test][key] / tested if tested else None

    return pick


BIT_COLUMNS: Columns = {
    "rarer value": (value("bits", "rarer"), 3),
    "entropy": (value("bits", "entropy"), 3),
    "effective bits": (value("bits", "effective"), 1),
    "stability": (value("bits", "stability"), 3),
    "stability, least": (value("bits", "least_stability"), 3),
    "stability, novel classes": (value("bits", "novel_stability"), 3),
    "information": (value("bits", "information"), 3),
    "found again": (value("again"), 3),
}
NAME_COLUMNS: Columns = {
    "bits named on both sides": (value("names", "both"), 1),
    "sides named": (value("names", "sides"), 1),
    "words": (value("names", "words"), 1),
    "sides named by classes alone": (value("class_names", "sides"), 1),
    "sides named, shuffled": (value("shuffled", "sides"), 1),
}
HALF_COLUMNS: Columns = {
    "names of a half": (value("halves", "claims"), 1),
    "tested on the other": (value("halves", "tested"), 1),
    "direction": (share("halves", "direction"), 3),
    "significant": (share("halves", "hold"), 3),
    "with": (share("halves", "with"), 3),
    "without": (share("halves", "without"), 3),
}
NOVEL_COLUMNS: Columns = {
    "names of known classes": (value("novel", "claims"), 1),
    "tested on novel ones": (value("novel", "tested"), 1),
    "direction": (share("novel", "direction"), 3),
    "significant": (share("novel", "hold"), 3),
    "with": (share("novel", "with"), 3),
    "without": (share("novel", "without"), 3),
    "direction, swapped": (share("swapped", "direction"), 3),
    "significant, swapped": (share("swapped", "hold"), 3),
}
EXTREME_COLUMNS: Columns = {
    f"of the {N_EXTREMES} most extreme items": (share("extremes", "extreme"), 3),
    "of all items of the side": (share("extremes", "all"), 3),
}
DISTANCE_COLUMNS: Columns = {
    "one known class": (value("distances", "known", "class"), 3),
    "known classes of one kind": (value("distances", "known", "kind"), 3),
    "known classes of several": (value("distances", "known", "other"), 3),
    "one novel class": (value("distances", "novel", "class"), 3),
    "novel classes of one kind": (value("distances", "novel", "kind"), 3),
    "novel classes of several": (value("distances", "novel", "other"), 3),
}

#: Against rivals: DBC is not below them in these.
COMPARED = {
    "stability": value("bits", "stability"),
    "information": value("bits", "information"),
    "effective bits": value("bits", "effective"),
    "found again": value("again"),
    "bits named on both sides": value("names", "both"),
    "words": value("names", "words"),
    "direction on novel classes": share("novel", "direction"),
    "significant on novel classes": share("novel", "hold"),
}
#: Of DBC: the first is not below the second.
CONTROLS = {
    "more sides have names than if texts are shuffled": (
        value("names", "sides"),
        value("shuffled", "sides"),
    ),
    "more names keep their direction on novel classes than if classes swap texts": (
        share("novel", "direction"),
        share("swapped", "direction"),
    ),
    "more names are significant on novel classes than if classes swap texts": (
        share("novel", "hold"),
        share("swapped", "hold"),
    ),
    "extreme items carry the word more often than others of the side": (
        share("extremes", "extreme"),
        share("extremes", "all"),
    ),
    "novel classes of one kind are nearer than those of several": (
        value("distances", "novel", "other"),
        value("distances", "novel", "kind"),
    ),
}
