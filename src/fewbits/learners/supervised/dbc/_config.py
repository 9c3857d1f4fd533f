"""Weights of the terms of the objective."""

from dataclasses import dataclass

from fewbits.errors import ArgumentError
from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import check_number

_LARGEST_RATIO = 1e20  # beyond it machines fit any labels, and float32 overflows


@dataclass(kw_only=True, repr=False, eq=False)
class DBCWeights(Config):
    """Weights of the terms of eq. (1), in the units of the notes of `DBC`.

    Parameters
    ----------
    gamma : float, default=None
        Weight of the norms of the hyperplanes, above 0. Small ones let machines learn
        any labels by heart, so that codes of the same class drift apart. None takes the
        number of features over that of rows, which is the paper's 1 for rows of unit
        length.
    lambda1 : float, default=1.0
        Weight of the slack, above 0. Larger makes labels easier to predict, smaller
        makes the rows of a class agree: with 1 labels hardly differ within a class,
        with 2 some do, with 10 most.
    lambda2 : float, default=1.0
        Weight of the pairs between classes; 0 leaves them out.
    """

    gamma: float | None = None
    lambda1: float = 1.0
    lambda2: float = 1.0

    def check(self) -> None:
        if self.gamma is not None:
            check_number("weights.gamma", self.gamma, 0, above=True)
        check_number("weights.lambda1", self.lambda1, 0, above=True)
        check_number("weights.lambda2", self.lambda2, 0)
        gamma = 1.0 if self.gamma is None else self.gamma
        if not self.lambda1 / gamma <= _LARGEST_RATIO:
            raise ArgumentError(
                f"weights.lambda1 may be at most {_LARGEST_RATIO:g} times "
                f"weights.gamma, got {self.lambda1:g} and {gamma:g}"
            )
