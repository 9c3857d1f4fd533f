"""A tree over classes, by agglomerative clustering of what stands for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import check_codes
from fewbits.analysis.taxonomy._classes import class_names, class_vectors
from fewbits.codes import hamming_distances

FloatArray = NDArray[np.float64]

LINKAGES = ("average", "single", "complete", "weighted")
_ORDERED = 200  # classes up to which leaves are ordered; the time grows steeply


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
    words = class_names(names, len(codes))
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
    unit = class_vectors(vectors)
    words = class_names(names, len(unit))
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

    check_choice(method, "linkage", LINKAGES)
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
