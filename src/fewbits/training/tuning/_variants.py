"""Methods with other parameters than their defaults, and what these are called."""

from collections.abc import Mapping
from typing import Any

#: Targets in place of a loss, at centres that features predict (decision 0010).
_PREDICTABLE: dict[str, Any] = {
    "control": "centres",
    "control.mode": "replace",
    "control.centres": "predictable",
}
VARIANTS: dict[str, dict[str, Mapping[str, Any]]] = {
    "additive": {"two bytes of corrections": {"correction": True}},
    "bp": {"random": {"learn": False}},
    "cbe": {"random": {"learn": False}},
    "csq": {
        "predictable centres": _PREDICTABLE,
        "predictable centres and a hidden layer of 1024": {
            **_PREDICTABLE,
            "network.hidden": [1024],
            "network.dropout": 0.5,
        },
    },
    "itq": {"a random rotation": {"n_iter": 0}},
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
        "a loose frame": {"tightness": 0.02},
        "10% of the weights": {"density": 0.1},
        "a hidden layer of 512": {"n_hidden": 512},
    },
}
#: Three times the training, in words and as parameters: too long to compare many by,
#: and good for whatever is good without.
THRICE: dict[str, tuple[str, Mapping[str, Any]]] = {
    "fast-neighbours": ("90 iterations", {"n_iter": 90}),
    "neighbours": ("90 iterations", {"n_iter": 90}),
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
    >>> in_words("neighbours", {"density": 0.1, "n_iter": 90})
    ['10% of the weights', '90 iterations']
    """
    words, longer = THRICE.get(method, ("", {}))
    thrice = bool(longer) and longer.items() <= parameters.items()
    rest = {k: v for k, v in parameters.items() if not (thrice and k in longer)}
    named = [
        name for name, wanted in VARIANTS.get(method, {}).items() if wanted == rest
    ]
    if rest and not named:
        return [f"{name}={value}" for name, value in parameters.items()]
    return [*named, *([words] if thrice else [])]


def trained_thrice(
    method: str, parameters: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return parameters for three times the training, None where there are none.

    Examples
    --------
    >>> trained_thrice("neighbours", {"tightness": 0.02})
    {'tightness': 0.02, 'n_iter': 90}
    """
    _, longer = THRICE.get(method, ("", {}))
    return {**parameters, **longer} if longer else None
