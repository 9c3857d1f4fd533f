"""Quality of a known/unknown decision for any mixture of the two."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits.errors import ArgumentError

Number = TypeVar("Number", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class Detection:
    """A decision rule on a mixture of known and unknown items.

    Attributes
    ----------
    known_accepted, unknown_accepted : float
        Share of the known and of the unknown items that the rule accepts.
    unknown_share : float
        Share of the unknown items among all, between 0 and 1.
    """

    known_accepted: float
    unknown_accepted: float
    unknown_share: float

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the shares of both sides that are right; whatever the mixture."""
        return (self.known_accepted + 1 - self.unknown_accepted) / 2

    @property
    def accuracy(self) -> float:
        """Share of all items that are right."""
        known = (1 - self.unknown_share) * self.known_accepted
        return known + self.unknown_share * (1 - self.unknown_accepted)

    @property
    def f1_known(self) -> float:
        """F1 with known items as what is to be found."""
        return f1(self.known_accepted, self.unknown_accepted, 1 - self.unknown_share)

    @property
    def f1_unknown(self) -> float:
        """F1 with unknown items as what is to be found."""
        found, false = 1 - self.unknown_accepted, 1 - self.known_accepted
        return f1(found, false, self.unknown_share)


def detection(
    known_accepted: ArrayLike,
    unknown_accepted: ArrayLike,
    *,
    unknown_share: float | None = None,
) -> Detection:
    """Measure a decision rule.

    Parameters
    ----------
    known_accepted, unknown_accepted : array-like of bool of shape (n,)
        Whether the rule accepts each item of either side as known, such as from
        `fewbits.ood.AcceptanceRegion.accepts`.
    unknown_share : float, default=None
        Share of unknown items where the rule is used, between 0 and 1. None takes that
        of the arrays; accuracy and F1 depend on it.

    Returns
    -------
    Detection

    Raises
    ------
    ArgumentError
        When a side is empty or not boolean, or the share is out of range.

    Examples
    --------
    >>> found = detection([True, True, False], [False, False, False, True])
    >>> round(found.balanced_accuracy, 3), found.f1_unknown
    (0.708, 0.75)
    """
    inside = as_decisions(known_accepted, "known")
    outside = as_decisions(unknown_accepted, "unknown")
    if unknown_share is None:
        unknown_share = len(outside) / (len(inside) + len(outside))
    share = check_mixture(unknown_share)
    return Detection(float(inside.mean()), float(outside.mean()), share)


def check_mixture(unknown_share: float) -> float:
    """Return a share of unknown items that leaves some of both."""
    if not 0 < unknown_share < 1:
        raise ArgumentError(
            f"the share of unknown items must lie between 0 and 1, got {unknown_share}"
        )
    return float(unknown_share)


def as_decisions(accepted: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Return for some items whether they are accepted."""
    values = np.asarray(accepted)
    if values.ndim != 1 or not len(values) or values.dtype != np.bool_:
        raise ArgumentError(
            f"need a list of decisions on {name} items, True or False, at least one, "
            f"got {values.dtype} of shape {values.shape}"
        )
    return values


def f1(found: Number, false: Number, share: float) -> Number:
    """Return F1 of what is a `share` of all items.

    Parameters
    ----------
    found, false : float or ndarray
        Shares that are taken for it: of what it is, and of what it is not.
    """
    hits = share * found
    return 2 * hits / (hits + (1 - share) * false + share)
