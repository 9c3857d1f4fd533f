"""Similarity of all pairs of classes, by their codes or their vectors."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.analysis._checks import check_codes
from fewbits.analysis.taxonomy._classes import class_names, class_vectors
from fewbits.codes import hamming_distances


class Similarities(NamedTuple):
    """The similarity of all pairs of classes, from -1 to 1.

    Attributes
    ----------
    names : tuple of str
    values : ndarray of shape (n_classes, n_classes), dtype float64
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return one_line(self)


def code_similarities(
    codes: CodeArray, n_bits: int, names: Sequence[Any] | None = None
) -> Similarities:
    """Return the inner products of class codes, as -1 and +1, over n_bits.

    Parameters
    ----------
    codes, n_bits, names
        As in `class_bits`.

    Returns
    -------
    Similarities

    Raises
    ------
    CodeError, ArgumentError
        As in `class_bits`.

    Examples
    --------
    >>> codes = np.array([[0b00], [0b01], [0b11]], np.uint8) << 6
    >>> code_similarities(codes, 2).values
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """
    codes = check_codes(codes, n_bits)
    words = class_names(names, len(codes))
    return Similarities(words, 1 - 2 * hamming_distances(codes, codes) / n_bits)


def vector_similarities(
    vectors: ArrayLike, names: Sequence[Any] | None = None
) -> Similarities:
    """Return the cosines of class vectors, such as a classifier's rows.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, n_features)
        Finite, none of zeros only.
    names : sequence of length n_classes, default=None
        None numbers the classes.

    Returns
    -------
    Similarities

    Raises
    ------
    FeatureError
        When the vectors are no such matrix.
    ArgumentError
        When there are too few or too many classes, or names are not one per class.

    Examples
    --------
    >>> vector_similarities([[1, 0], [0, 2], [3, 0]]).values
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    unit = class_vectors(vectors)
    return Similarities(class_names(names, len(unit)), unit @ unit.T)
