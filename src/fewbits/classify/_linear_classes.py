"""Linear models on bits for several classes, one against the rest each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_seed, whole_number
from fewbits._labels import as_classes, as_label_rows
from fewbits._repr import one_line
from fewbits._typing import Array, CodeArray
from fewbits.classify._linear import learn_class
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError


@dataclass(frozen=True, eq=False, slots=True)
class LinearClasses:
    """A linear model for each class; the highest score wins.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, n_bits), dtype float32
        What a bit adds to the score of a class where it is set.
    biases : ndarray of shape (n_classes,), dtype float32
        The scores of a code of zeros.
    names : ndarray of shape (n_classes,)
    """

    weights: NDArray[np.float32]
    biases: NDArray[np.float32]
    names: Array

    def __repr__(self) -> str:
        return one_line(self)

    def scores(self, codes: CodeArray) -> NDArray[np.float32]:
        """Score every code for every class, above 0 where it is rather of the class.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8

        Returns
        -------
        ndarray of shape (n, n_classes), dtype float32

        Raises
        ------
        ArgumentError
            When the codes are not as wide as the models.
        """
        codes = as_codes(codes, n_bits=self.weights.shape[1])
        sums = np.empty((len(self.weights), len(codes)), np.float32)
        _kernels.bit_sums(self.weights, codes, sums, _kernels.num_threads())
        scores: NDArray[np.float32] = sums.T + self.biases
        return scores

    def labels(self, codes: CodeArray) -> Array:
        """Return the class of each code, shape (n,); of equal scores the first."""
        found: Array = self.names[self.scores(codes).argmax(axis=1)]
        return found


def learn_classes(
    codes: CodeArray,
    n_bits: int,
    labels: ArrayLike,
    *,
    C: float = 100.0,
    most: int = 20_000,
    random_state: int = 0,
) -> LinearClasses:
    """Learn to distinguish classes by their items' bits.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.
    labels : array-like of shape (n,) or (n, n_classes)
        The class of each item; or 1 for each of its labels and 0 for others, which are
        then numbered.
    C : float, default=100
        As for `learn_class`.
    most : int, default=20,000
        Items to learn from: of more, as many are drawn from each class.
    random_state : int, default=0
        Seeds the draw and the solver.

    Returns
    -------
    LinearClasses

    Raises
    ------
    ArgumentError
        When there is not one label for each code, or a class without items or with all.

    Examples
    --------
    >>> codes = np.array([[0b1000], [0b1001], [0b0110], [0b0111]], np.uint8) << 4
    >>> model = learn_classes(codes, 4, ["cat", "cat", "dog", "dog"])
    >>> model.labels(np.array([[0b1010_0000], [0b0100_0000]], np.uint8))
    array(['cat', 'dog'], dtype='<U3')
    """
    codes = as_codes(codes, n_bits=n_bits)
    check_seed(random_state)
    if whole_number(most, "most") < 1:
        raise ArgumentError(f"most must be at least 1, got {most}")
    names, members = _members(labels, len(codes))
    rows = _drawn(members, most, np.random.default_rng(random_state))
    codes, members = codes[rows], members[rows]
    models = [
        learn_class(
            codes[own], codes[~own], n_bits, C=C, random_state=int(random_state)
        )
        for own in members.T
    ]
    weights = np.stack([model.weights for model in models])
    biases = np.array([model.bias for model in models], np.float32)
    return LinearClasses(weights, biases, names)


def _members(labels: ArrayLike, n: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return the names of classes, and for each item which of them it is of."""
    given = as_label_rows(labels)
    if len(given) != n:
        raise ArgumentError(f"{n} codes, but {len(given)} labels")
    if given.ndim == 2:
        names, members = np.arange(given.shape[1]), given > 0
    else:
        names, row = as_classes(given, n)
        members = row[:, None] == np.arange(len(names))
    counts = members.sum(axis=0)
    for wrong, subject in ((counts == 0, "no item is"), (counts == n, "all items are")):
        if wrong.any():
            name = names[np.argmax(wrong)]
            raise ArgumentError(
                f"{subject} of class {name}: nothing tells it from others"
            )
    return names, members


def _drawn(
    members: NDArray[np.bool_], most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return rows of all classes, and of none, at most `most` or one of each."""
    if len(members) <= most:
        return np.arange(len(members))
    groups = [*members.T, ~members.any(axis=1)]
    share = max(1, most // len(groups))
    drawn = [rng.permutation(np.flatnonzero(group))[:share] for group in groups]
    return np.unique(np.concatenate(drawn))
