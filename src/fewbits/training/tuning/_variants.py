"""Methods with other parameters than their defaults, and what these are called."""

from collections.abc import Mapping
from typing import Any

#: Targets in place of a loss, at centres that features foretell (decision 0010).
_PREDICTABLE: dict[str, Any] = {
    "control": "centres",
    "control.mode": "replace",
    "control.centres": "predictable",
}
#: Both gain recall where codes are re-ranked by scores (the record on tuning).
_TIGHTER, _THRICE = {"tightness": 0.1}, {"n_iter": 180}
VARIANTS: dict[str, dict[str, Mapping[str, Any]]] = {
    "bp": {"random": {"learn": False}},
    "cbe": {"random": {"learn": False}},
    "csq": {
        "predictable centres": _PREDICTABLE,
        "predictable centres and a hidden layer of 1024": {
            **_PREDICTABLE,
            "hidden": [1024],
            "dropout": 0.5,
        },
    },
    "sp": {
        "3% of the weights": {"density": 0.03},
        "30% of the weights": {"density": 0.3},
    },
    "fast-neighbours": {
        "diagonals": {"block_size": 1, "n_rounds": 3},
        "1 round of blocks": {"n_rounds": 1},
    },
    # What gains most stands first: the time may be up before the last.
    "neighbours": {
        "a tighter frame": _TIGHTER,
        "180 iterations": _THRICE,
        "a tighter frame, 180 iterations": {**_TIGHTER, **_THRICE},
        "10% of the weights": {"density": 0.1},
        "a hidden layer of 512": {"n_hidden": 512},
    },
}


def variants(method: str) -> list[Mapping[str, Any]]:
    """Return the parameters that a method is tried with, its defaults first.

    Examples
    --------
    >>> variants("cbe")
    [{}, {'learn': False}]
    """
    return [{}, *VARIANTS.get(method, {}).values()]


def in_words(method: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return the name of a variant, or each parameter where it has none.

    Examples
    --------
    >>> in_words("neighbours", {"density": 0.1}), in_words("itq", {"n_iter": 5})
    (['10% of the weights'], ['n_iter=5'])
    """
    for name, wanted in VARIANTS.get(method, {}).items():
        if wanted == parameters:
            return [name]
    return [f"{name}={value}" for name, value in parameters.items()]
