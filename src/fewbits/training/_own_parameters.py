"""Parameters of several methods, as they are typed beside them."""

from collections.abc import Iterable, Mapping
from typing import Any

from fewbits.errors import ArgumentError
from fewbits.training._methods import DEEP_METHODS, METHODS


def own_parameters(
    methods: Iterable[str], parameters: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the parameters of each method: those of all, and its own.

    Examples
    --------
    >>> own_parameters(["itq", "sp"], {"n_iter": 9, "sp.density": 0.1})
    {'itq': {'n_iter': 9}, 'sp': {'n_iter': 9, 'density': 0.1}}
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in methods}
    for name, value in parameters.items():
        method, dot, rest = name.partition(".")
        if dot and method in found:
            found[method][rest] = value
        elif dot and method in (*METHODS, *DEEP_METHODS):
            raise ArgumentError(f"{name} is set, but {method} is not compared")
        else:
            for own in found.values():
                own.setdefault(name, value)
    if any("n_bits" in own for own in found.values()):
        raise ArgumentError(
            "n_bits are the numbers of bits to compare (on the command line --bits)"
        )
    return found
