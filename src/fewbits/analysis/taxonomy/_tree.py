"""A tree over classes, and the classes on either side of each bit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._repr import one_line
from fewbits._typing import BitArray, CodeArray, IdArray
from fewbits.analysis._codes import check_codes
from fewbits.codes import hamming_distances, unpack
from fewbits.errors import ArgumentError, FeatureError

FloatArray = NDArray[np.float64]
_LINKAGES = ("average", "single", "complete", "weighted")
_ORDERED = 200  # classes up to which leaves are ordered; the time grows steeply
_MAX_CLASSES = 5000  # all their distances take 100 MB


@dataclass(frozen=True, eq=False, slots=True)
class Taxonomy:
    """A binary tree whose leaves are classes; see `taxonomy`.

    Attributes
    ----------
    names : tuple of str
    linkage : ndarray of shape (n_classes - 1, 4), dtype float64
        As in `scipy.cluster.hierarchy.linkage`: both children, height, leaves.
    distances : ndarray of shape (n_classes * (n_classes - 1) / 2,), dtype float64
        Between the classes themselves, as in `scipy.spatial.distance.pdist`.
    method : str
        What the height of a merge is made of.
    unit : {"bits", "cosine distance"}
    """

    names: tuple[str, ...]
    linkage: FloatArray = field(repr=False)
    distances: FloatArray = field(repr=False)
    method: str
    unit: str

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def order(self) -> IdArray:
        """The classes from one end of the tree to the other, dtype int64."""
        from scipy.cluster.hierarchy import leaves_list

        return np.asarray(leaves_list(self.linkage), np.int64)

    @property
    def cophenetic(self) -> FloatArray:
        """Heights at which two classes meet, in the order of `distances`."""
        from scipy.cluster.hierarchy import cophenet

        return np.asarray(cophenet(self.linkage), np.float64)

    @property
    def cophenetic_correlation(self) -> float:
        """Pearson's correlation of these heights with `distances`.

        How much of the distances the tree keeps; NaN where either are all equal.
        """
        heights, distances = self.cophenetic, self.distances
        if np.ptp(heights) == 0 or np.ptp(distances) == 0:
            return float("nan")
        return float(np.corrcoef(heights, distances)[0, 1])


def taxonomy(
    codes: CodeArray,
    n_bits: int,
    names: Sequence[Any] | None = None,
    *,
    linkage: str = "average",
) -> Taxonomy:
    """Cluster class codes by their Hamming distances.

    Parameters
    ----------
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        A packed code for each class; from 2 to 5,000.
    n_bits : int
        Length of the codes.
    names : sequence of length n_classes, default=None
        None numbers the classes.
    linkage : {"average", "single", "complete", "weighted"}, default="average"
        Distance of two groups: the mean over all pairs, the smallest, the largest, or
        the mean of the two that a group was made of.

    Returns
    -------
    Taxonomy

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are too few or too many classes, names are not one per class, or the
        linkage is unknown.

    Notes
    -----
    Hamming distances often tie, and which of several equally near groups is merged
    first changes the tree. Here that follows from the codes alone: they are clustered
    in their own order, so the order of the classes does not matter. Up to 200 classes,
    the leaves are turned so that neighbours are as near as the tree allows.

    References
    ----------
    Murtagh and Contreras, "Algorithms for hierarchical clustering: an overview", WIREs
    Data Mining and Knowledge Discovery 2, 2012. Bar-Joseph, Gifford and Jaakkola,
    "Fast optimal leaf ordering for hierarchical clustering", Bioinformatics 17, 2001.
    As in section 3.2 of Kusupati et al., "LLC: Accurate, Multi-purpose Learnt
    Low-dimensional Binary Codes", NeurIPS 2021, which does not name the linkage.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b0001], [0b1110], [0b0000], [0b1111]], np.uint8)
    >>> tree = taxonomy(codes << 4, 4, ["cat", "salmon", "lynx", "trout"])
    >>> [tree.names[i] for i in tree.order]
    ['salmon', 'trout', 'cat', 'lynx']
    >>> tree.linkage[:, 2]
    array([1. , 1. , 3.5])
    """
    codes = check_codes(codes, n_bits)
    words = _class_names(names, len(codes))
    order = np.lexsort(codes.T[::-1])
    distances = hamming_distances(codes[order], codes[order]).astype(np.float64)
    return _cluster(distances, order, words, linkage, "bits")


def vector_taxonomy(
    vectors: ArrayLike,
    names: Sequence[Any] | None = None,
    *,
    linkage: str = "average",
) -> Taxonomy:
    """Cluster classes by the angles between their vectors, such as a classifier's rows.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, n_features)
        Finite, none of zeros only.
    names, linkage
        As in `taxonomy`.

    Returns
    -------
    Taxonomy
        Distances are ``1 - cos``.

    Raises
    ------
    FeatureError
        When the vectors are no such matrix.
    ArgumentError
        As for `taxonomy`.

    Examples
    --------
    >>> tree = vector_taxonomy([[1, 0], [0, 2], [3, 1]], ["cat", "trout", "lynx"])
    >>> [tree.names[i] for i in tree.order]
    ['cat', 'lynx', 'trout']
    """
    words, unit = class_vectors(vectors, names)
    distances = (1 - unit @ unit.T).clip(min=0)
    np.fill_diagonal(distances, 0)
    # The two halves of a product may be rounded differently.
    distances = (distances + distances.T) / 2
    order = np.arange(len(unit))
    return _cluster(distances, order, words, linkage, "cosine distance")


def _cluster(
    distances: FloatArray,
    order: IdArray,
    names: tuple[str, ...],
    method: Any,
    unit: str,
) -> Taxonomy:
    """Cluster classes given their distances, row `i` being class ``order[i]``."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    check_choice(method, "linkage", _LINKAGES)
    condensed = squareform(distances, checks=False)
    merges = linkage(condensed, method)
    if len(order) <= _ORDERED:
        merges = optimal_leaf_ordering(merges, condensed)
    children = merges[:, :2].astype(np.int64)
    is_leaf = children < len(order)
    merges[:, :2] = np.where(is_leaf, order[np.where(is_leaf, children, 0)], children)
    first, *_, last = leaves_list(merges)
    if first > last:  # either end may come first: let it be the first class's
        merges[:, :2] = merges[:, 1::-1]
    place = np.argsort(order)
    back = distances[np.ix_(place, place)]
    return Taxonomy(names, merges, squareform(back, checks=False), method, unit)


class BitClasses(NamedTuple):
    """The classes on either side of a bit.

    Attributes
    ----------
    bit : int
    on, off : tuple of str
        Classes whose code has a 1, and a 0.
    balance : float
        Share of the classes with a 1.
    """

    bit: int
    on: tuple[str, ...]
    off: tuple[str, ...]
    balance: float

    def __repr__(self) -> str:
        return one_line(self)


def classes_per_bit(
    codes: CodeArray, n_bits: int, names: Sequence[Any] | None = None
) -> tuple[BitClasses, ...]:
    """Return for each bit of a codebook the classes that have it on and off.

    Parameters
    ----------
    codes, n_bits, names
        As in `class_bits`.

    Returns
    -------
    tuple of BitClasses

    Raises
    ------
    CodeError, ArgumentError
        As in `class_bits`.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101], [0b111]], np.uint8) << 5
    >>> for bit in classes_per_bit(codes, 3, ["cat", "lynx", "trout"]):
    ...     print(bit.bit, bit.on, round(bit.balance, 2))
    0 ('cat', 'lynx', 'trout') 1.0
    1 ('trout',) 0.33
    2 ('lynx', 'trout') 0.67
    """
    words, bits = class_bits(codes, n_bits, names)
    return tuple(
        BitClasses(
            bit,
            tuple(words[i] for i in np.flatnonzero(column)),
            tuple(words[i] for i in np.flatnonzero(column == 0)),
            float(column.mean()),
        )
        for bit, column in enumerate(bits.T)
    )


class BitGroup(NamedTuple):
    """Bits that split the classes alike.

    Attributes
    ----------
    bits : tuple of int
        Bits that are equal over all classes, rising; the smallest of the group first.
    inverted : tuple of int
        Bits that are 1 where these are 0.
    """

    bits: tuple[int, ...]
    inverted: tuple[int, ...]

    def __str__(self) -> str:
        equal = ", ".join(map(str, self.bits))
        if not self.inverted:
            return equal
        return f"{equal}; inverted: {', '.join(map(str, self.inverted))}"


def equivalent_bits(codes: CodeArray, n_bits: int) -> tuple[BitGroup, ...]:
    """Return groups of bits that say the same about the classes of a codebook.

    Parameters
    ----------
    codes, n_bits
        As in `class_bits`.

    Returns
    -------
    tuple of BitGroup
        Each bit in one of them, in the order of their smallest bits.

    Raises
    ------
    CodeError, ArgumentError
        As in `class_bits`.

    Examples
    --------
    >>> codes = np.array([[0b1001], [0b0110], [0b0111]], np.uint8) << 4
    >>> [str(group) for group in equivalent_bits(codes, 4)]
    ['0; inverted: 1, 2', '3']
    """
    _, bits = class_bits(codes, n_bits)
    groups: dict[bytes, tuple[list[int], list[int]]] = {}
    for bit, column in enumerate(bits.T):
        split = (column ^ column[0]).tobytes()
        equal, inverted = groups.setdefault(split, ([], []))
        same = not equal or column[0] == bits[0, equal[0]]
        (equal if same else inverted).append(bit)
    return tuple(BitGroup(tuple(a), tuple(b)) for a, b in groups.values())


def class_bits(
    codes: CodeArray, n_bits: int, names: Sequence[Any] | None = None
) -> tuple[tuple[str, ...], BitArray]:
    """Return the names and the bits of class codes.

    Parameters
    ----------
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        A packed code for each class; from 2 to 5,000.
    n_bits : int
        Length of the codes.
    names : sequence of length n_classes, default=None
        None numbers the classes.

    Returns
    -------
    names : tuple of str
    bits : ndarray of shape (n_classes, n_bits), dtype uint8
        0 or 1.

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are too few or too many classes, or names are not one per class.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101]], np.uint8) << 5
    >>> names, bits = class_bits(codes, 3, ["cat", "lynx"])
    >>> bits.tolist()
    [[1, 0, 0], [1, 0, 1]]
    """
    codes = check_codes(codes, n_bits)
    return _class_names(names, len(codes)), unpack(codes, n_bits)


def class_vectors(
    vectors: ArrayLike, names: Sequence[Any] | None = None
) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names and the vectors of classes, each scaled to length 1.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, n_features)
        Finite, none of zeros only.
    names : sequence of length n_classes, default=None
        None numbers the classes.

    Returns
    -------
    names : tuple of str
    vectors : ndarray of shape (n_classes, n_features), dtype float64

    Raises
    ------
    FeatureError
        When the vectors are no such matrix.
    ArgumentError
        When there are too few or too many classes, or names are not one per class.

    Examples
    --------
    >>> class_vectors([[3, 4], [0, 2]])[1].tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """
    try:
        matrix = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise FeatureError("vectors must be a matrix of numbers") from None
    if matrix.ndim != 2 or not matrix.size:
        raise FeatureError(
            f"vectors must be a matrix (n_classes, n_features), got {matrix.shape}"
        )
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    for name, wrong in (("finite", ~np.isfinite(largest)), ("not zero", largest == 0)):
        if wrong.any():
            raise FeatureError(f"vectors must be {name}, row {wrong.argmax()} is not")
    scaled = matrix / largest  # or squares may leave the range of numbers
    unit = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return _class_names(names, len(unit)), unit


def _class_names(names: Sequence[Any] | None, n: int) -> tuple[str, ...]:
    if not 2 <= n <= _MAX_CLASSES:
        raise ArgumentError(f"a taxonomy is of 2 to {_MAX_CLASSES} classes, got {n}")
    if names is None:
        return tuple(map(str, range(n)))
    if isinstance(names, str) or len(names) != n:
        raise ArgumentError(f"need a name for each of {n} classes, got {len(names)}")
    return tuple(map(str, names))
