"""How methods look: the same in all plots, a hue for each family.

Hues are told apart by readers who are blind to some colours, too; within a family,
markers and line styles differ.
"""

from collections.abc import Iterable
from typing import Any

#: Options of matplotlib.
Look = dict[str, Any]

SOLID, DASHED, DOTTED, BROKEN, NONE = "-", "--", ":", "-.", "none"
GREY, LIGHT_GREY, BLACK, GREEN, PURPLE = "0.35", "0.55", "black", "#117733", "#AA4499"
BROWN, OLIVE, VERMILION, ORANGE = "#7a3b00", "#999933", "#d0440d", "#e69f00"
TEAL = "#00a0a8"
#: From few weights to all.
BLUES = (
    *("#a3cbe6", "#7fb6dc", "#5b9fd0", "#3a86c0"),
    *("#2069a8", "#114e8a", "#08306b"),
)


def _look(
    colour: str, marker: str, style: str = SOLID, size: float = 5, **options: object
) -> Look:
    given = {"color": colour, "marker": marker, "linestyle": style, "markersize": size}
    return {"linewidth": 1.3, "elinewidth": 0.8, **given, **options}


def _hollow(
    colour: str, marker: str, style: str = NONE, size: float = 6, **options: object
) -> Look:
    return _look(colour, marker, style, size, markerfacecolor="white", **options)


_BOLD: Look = {"linewidth": 2.2, "zorder": 3}
#: Of methods by name, in the order of legends.
LOOKS: dict[str, Look] = {
    "threshold": _look(BLACK, "*", NONE, 9),
    "LSH": _look(GREY, "o"),
    "Hadamard 1": _look(LIGHT_GREY, "v", DOTTED),
    "Hadamard 2": _look(LIGHT_GREY, "^", DASHED),
    "Hadamard 3": _look(LIGHT_GREY, "D", BROKEN, 4),
    "PCAH": _hollow(BLACK, "s", DASHED, 5),
    "ITQ": _look(BLACK, "s", **_BOLD),
    "SH": _look(BROWN, "X", BROKEN, 6),
    "BRE": _look(OLIVE, "P", BROKEN, 6),
    "BRE, Gaussian": _hollow(OLIVE, "P", DOTTED),
    "BP-rand": _hollow(PURPLE, "p", DASHED),
    "BP-opt": _look(PURPLE, "p", size=6),
    "CBE-rand": _hollow(GREEN, "h", DASHED),
    "CBE-opt": _look(GREEN, "h", size=6),
    "CBE-opt, rest free": _look(GREEN, "+", DOTTED, 7),
    "SP 0.1%": _look(BLUES[0], "o"),
    "SP 1%": _look(BLUES[1], "v"),
    "SP 5%": _look(BLUES[2], "^"),
    "ITQ, 50 iterations": _hollow(BLACK, "D", DOTTED),
    "SP 5%, 50 iterations": _hollow(BLUES[2], "^", DOTTED),
    "SP 10%, 50 iterations": _hollow(BLUES[3], "s", DOTTED),
    "SP 10%": _look(BLUES[3], "D", size=4.5),
    "SP 15%": _look(BLUES[4], "<"),
    "SP 30%": _look(BLUES[5], ">"),
    "SP 100%": _look(BLUES[6], "s"),
    "SP 10%, iterative, frobenius": _look(BLUES[4], "x", DASHED, 6),
    "SP 10%, iterative, spectral": _hollow(BLUES[6], "o", DOTTED),
    "SP 10%, beta 0.1": _hollow(BLUES[2], "v"),
    "SP 10%, beta 10": _hollow(BLUES[3], "^"),
    "SP 10%, beta 100": _hollow(BLUES[4], "D"),
    "NeighbourCodes": _look(VERMILION, "o", size=6, **_BOLD),
    "NeighbourCodes, nested": _hollow(VERMILION, "o", DASHED),
    "NeighbourCodes, 10% of the weights": _hollow(VERMILION, "D"),
    "NeighbourCodes, a hidden layer": _hollow(VERMILION, "s"),
    "NeighbourCodes, perplexity 150": _hollow(VERMILION, "v"),
    "NeighbourCodes, 180 iterations": _hollow(VERMILION, "^"),
    "NeighbourCodes, not tight": _look(VERMILION, "x", NONE, 6),
    "FastNeighbourCodes": _look(ORANGE, "o", size=6, **_BOLD),
    "FastNeighbourCodes, 1 round": _hollow(ORANGE, "v", DASHED),
    "FastNeighbourCodes, diagonals": _hollow(ORANGE, "D", DOTTED, 5),
    "CCA-ITQ": _hollow(TEAL, "s"),
    "DBC": _hollow(TEAL, "o"),
    "CSQ": _hollow(TEAL, "^"),
    "DCH": _hollow(TEAL, "v"),
    "LLC": _hollow(TEAL, "D"),
    "tuned": _look(
        BLACK, "*", NONE, 13, markerfacecolor="#f0e442", zorder=4, elinewidth=1.3
    ),
}
#: What commands call methods, as they come.
COMMANDS = {
    "lsh": "LSH",
    "hadamard": "Hadamard 3",
    "pcah": "PCAH",
    "itq": "ITQ",
    "sh": "SH",
    "bre": "BRE",
    "bp": "BP-opt",
    "cbe": "CBE-opt",
    "sp": "SP 10%",
    "neighbours": "NeighbourCodes",
    "fast-neighbours": "FastNeighbourCodes",
    "cca-itq": "CCA-ITQ",
    "dbc": "DBC",
    "csq": "CSQ",
    "dch": "DCH",
    "llc": "LLC",
}
_PLACES = {name: place for place, name in enumerate(LOOKS)}


def look_of(name: str) -> Look:
    """Return how a method looks, or nothing of what is not known."""
    return LOOKS.get(COMMANDS.get(name, name), {})


def in_order(names: Iterable[str]) -> list[str]:
    """Return names as all legends have them, and what is not known at the end."""
    return sorted(
        names, key=lambda name: _PLACES.get(COMMANDS.get(name, name), len(_PLACES))
    )
