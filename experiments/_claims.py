"""Claims of papers, as differences between measurements."""

from collections.abc import Callable
from typing import NamedTuple

from experiments._cells import Cell
from experiments._verdicts import Values

#: Of one set of features, by experiment.
Measured = dict[str, list[Cell]]


class Claim(NamedTuple):
    """A claim holds where no difference is below its margin.

    Attributes
    ----------
    code : str
        The number of the claim.
    text : str
    compared : str
        One less the other, and by which figure.
    gaps : callable
        Returns the differences.
    why, why_not : str
        Why it would hold, or not; the page gives the one that fits the verdict.
    margin : float
    exact : bool
        Whether no chance is in the differences, so that their sign decides.
    """

    code: str
    text: str
    compared: str
    gaps: Callable[[Measured], Values]
    why: str
    why_not: str
    margin: float = 0.0
    exact: bool = False
