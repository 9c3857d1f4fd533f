"""Acceptance regions: all codes within a radius of some class code."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray, DistanceArray
from fewbits.codes import as_codes, hamming_topk


@dataclass(frozen=True, eq=False, slots=True)
class AcceptanceRegion:
    """Codes within a radius of a class code; all others are out-of-distribution.

    Attributes
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Different ones only.
    n_bits : int
    radius : int
        The largest Hamming distance from the nearest class code that is accepted.
    predicted_rate : float
        Expected false-accept rate of out-of-distribution items, according to `model`.
    standard_error : float
        Standard error of `predicted_rate`; 0 where it is exact.
    model : {"uniform", "independent bits"}
        Assumed distribution of the codes of out-of-distribution items.
    """

    class_codes: CodeArray = field(repr=False)
    n_bits: int
    radius: int
    predicted_rate: float
    standard_error: float
    model: str

    def __repr__(self) -> str:
        return one_line(self)

    def distances(self, codes: CodeArray) -> DistanceArray:
        """Return the distance of each code to the nearest class code.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8

        Returns
        -------
        ndarray of shape (n,), dtype int32

        Raises
        ------
        CodeError
            When the codes are not packed codes of `n_bits` bits.
        """
        codes = as_codes(codes, n_bits=self.n_bits)
        return hamming_topk(codes, self.class_codes, 1).distances[:, 0]

    def accepts(self, codes: CodeArray) -> NDArray[np.bool_]:
        """Return whether each code is accepted as known.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8

        Returns
        -------
        ndarray of shape (n,), dtype bool

        Raises
        ------
        CodeError
            When the codes are not packed codes of `n_bits` bits.
        """
        return np.asarray(self.distances(codes) <= self.radius)
