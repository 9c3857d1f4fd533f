"""Dendrogram purity: the share of a group in the subtrees that join its members."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._labels import as_classes
from fewbits._typing import IdArray
from fewbits.analysis.taxonomy._taxonomy import Taxonomy
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]

WEIGHTS = ("pairs", "leaves")


def dendrogram_purity(
    tree: Taxonomy, groups: ArrayLike, *, weigh: str = "pairs"
) -> float:
    """Return the exact dendrogram purity of a tree for known groups of its leaves.

    For two leaves of a group, the share of that group among the leaves of the smallest
    subtree that holds both; the mean over all such pairs. 1 says that every group is a
    subtree.

    Parameters
    ----------
    tree : Taxonomy
    groups : array-like of shape (n_classes,)
        All strings or all numbers.
    weigh : {"pairs", "leaves"}, default="pairs"
        ``pairs``: each pair counts the same (Kobren et al.). ``leaves``: a leaf is
        drawn, then another of its group (Heller and Ghahramani), so that large groups
        count less. Groups of one leaf have no pair and do not count.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        When groups are not one per leaf, or no two leaves are of one group.

    References
    ----------
    Heller and Ghahramani, "Bayesian Hierarchical Clustering", ICML 2005. Kobren,
    Monath, Krishnamurthy and McCallum, "A Hierarchical Algorithm for Extreme
    Clustering", KDD 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.analysis.taxonomy import taxonomy
    >>> tree = taxonomy(np.array([[0], [1], [14], [15]], np.uint8) << 4, 4)
    >>> dendrogram_purity(tree, ["cat", "cat", "fish", "fish"])
    1.0
    >>> dendrogram_purity(tree, ["cat", "fish", "fish", "fish"])
    0.8333333333333333
    """
    check_choice(weigh, "weigh", WEIGHTS)
    numbers = as_classes(groups, len(tree.names), "groups")[1]
    if np.bincount(numbers).max() < 2:
        raise ArgumentError("purity is about pairs: no two classes are of one group")
    return Purity(Spans(tree), numbers, weigh).of(np.arange(len(numbers)))


class Spans:
    """Each merge as a stretch of the leaves in the order of the tree.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Leaves from one end to the other.
    starts, splits, stops : ndarray of shape (n - 1,)
        The children of a merge are ``order[start:split]`` and ``order[split:stop]``.
    """

    def __init__(self, tree: Taxonomy) -> None:
        n = len(tree.names)
        children = tree.linkage[:, :2].astype(np.int64)
        sizes = np.concatenate([np.ones(n, np.int64), tree.linkage[:, 3].astype(int)])
        starts = np.zeros(2 * n - 1, np.int64)
        for merge in range(n - 2, -1, -1):
            left, right = children[merge]
            starts[left] = starts[n + merge]
            starts[right] = starts[left] + sizes[left]
        self.order = tree.order
        self.starts = starts[n:]
        self.splits = self.starts + sizes[children[:, 0]]
        self.stops = self.starts + sizes[n:]


class Purity:
    """Purity of one tree with regard to groups, for any assignment to its leaves."""

    def __init__(self, spans: Spans, groups: IdArray, weigh: str) -> None:
        self._spans = spans
        sizes = np.bincount(groups)
        # Groups without a pair only dilute others: a column for them is not needed.
        column = np.cumsum(sizes > 1) - 1
        self._columns = np.where(sizes > 1, column, -1)[groups]
        of_pairs = sizes[sizes > 1].astype(np.float64)
        pairs = of_pairs * (of_pairs - 1) / 2
        weights = np.ones_like(pairs) if weigh == "pairs" else of_pairs / pairs
        self._weights = weights / (weights @ pairs)

    def of(self, taken: IdArray) -> float:
        """Return the purity when class ``taken[i]`` takes the place of class ``i``."""
        spans, n = self._spans, len(taken)
        columns = self._columns[taken[spans.order]]
        members = np.zeros((n + 1, len(self._weights)), np.int32)
        places = np.flatnonzero(columns >= 0)
        members[places + 1, columns[places]] = 1
        np.cumsum(members, axis=0, out=members)
        left = members[spans.splits] - members[spans.starts]
        right = members[spans.stops] - members[spans.splits]
        shares = (left + right) / (spans.stops - spans.starts)[:, None]
        return float((left * right * shares).sum(axis=0) @ self._weights)
