"""Trees of classes from their codes, and their agreement with known trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._repr import short_repr
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._codes import check_codes
from fewbits.codes import hamming_distances, unpack
from fewbits.errors import ArgumentError

__all__ = [
    "LevelPurity",
    "Measured",
    "Taxonomy",
    "TaxonomyMetrics",
    "TreeAgreement",
    "taxonomy",
    "tree_agreement",
]

FloatArray = NDArray[np.float64]
_Statistic = Callable[[IdArray], float]  # of classes in an order
_ORDERED = 200  # classes up to which leaves are ordered; the time grows steeply
_MAX_CLASSES = 5000  # all their distances take 100 MB
_ROUNDING = 1e-12  # sums in another order


@dataclass(frozen=True, eq=False, slots=True)
class Taxonomy:
    """A binary tree whose leaves are classes; see `taxonomy`.

    `linkage` is as in `scipy.cluster.hierarchy`: both children, height, leaves of each
    merge; `distances` are between the classes themselves, as of `pdist` of SciPy.
    """

    names: tuple[str, ...]
    linkage: FloatArray = field(repr=False)
    distances: FloatArray = field(repr=False)

    __repr__ = short_repr

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
) -> Taxonomy:
    """Cluster class codes by their Hamming distances.

    The distance of two groups is the mean over all pairs (average linkage).

    Parameters
    ----------
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        A packed code for each class; from 2 to 5,000.
    n_bits : int
        Length of the codes.
    names : sequence of length n_classes, default=None
        None numbers the classes.

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are too few or too many classes, or names are not one per class.

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
    n = len(codes)
    if not 2 <= n <= _MAX_CLASSES:
        raise ArgumentError(f"a taxonomy is of 2 to {_MAX_CLASSES} classes, got {n}")
    if isinstance(names, str) or (names is not None and len(names) != n):
        raise ArgumentError(f"need a name for each of {n} classes, got {len(names)}")
    words = tuple(map(str, range(n) if names is None else names))
    from scipy.cluster.hierarchy import average, leaves_list, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    order = np.lexsort(codes.T[::-1])
    between = hamming_distances(codes[order], codes[order]).astype(np.float64)
    condensed = squareform(between, checks=False)
    merges = average(condensed)
    if len(order) <= _ORDERED:
        merges = optimal_leaf_ordering(merges, condensed)
    # From places in that order back to the classes.
    children = merges[:, :2].astype(np.int64)
    is_leaf = children < len(order)
    merges[:, :2] = np.where(is_leaf, order[np.where(is_leaf, children, 0)], children)
    first, *_, last = leaves_list(merges)
    if first > last:  # either end may come first: let it be the first class's
        merges[:, :2] = merges[:, 1::-1]
    place = np.argsort(order)
    distances = squareform(between[np.ix_(place, place)], checks=False)
    return Taxonomy(words, merges, distances)


class BitSplit(NamedTuple):
    """How a bit, and those that say the same, split the classes.

    `bits` are equal over all classes, rising, and 1 for those that are `on`, and 0 for
    those that are `off`; `inverted` ones are 1 where these are 0.
    """

    bits: tuple[int, ...]
    inverted: tuple[int, ...]
    on: tuple[str, ...]
    off: tuple[str, ...]

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def balance(self) -> float:
        """Share of the classes with a 1."""
        return len(self.on) / (len(self.on) + len(self.off))


def bit_splits(
    codes: CodeArray, n_bits: int, names: Sequence[str]
) -> tuple[BitSplit, ...]:
    """Return the classes that each bit of a codebook has on and off.

    Each bit is in one of the splits, which come in the order of their smallest bits.
    """
    bits = unpack(codes, n_bits)
    groups: dict[bytes, tuple[list[int], list[int]]] = {}
    for bit, column in enumerate(bits.T):
        equal, inverted = groups.setdefault((column ^ column[0]).tobytes(), ([], []))
        same = not equal or column[0] == bits[0, equal[0]]
        (equal if same else inverted).append(bit)
    splits = []
    for equal, inverted in groups.values():
        is_on = bits[:, equal[0]] == 1
        on = tuple(name for name, one in zip(names, is_on, strict=True) if one)
        off = tuple(name for name, one in zip(names, is_on, strict=True) if not one)
        splits.append(BitSplit(tuple(equal), tuple(inverted), on, off))
    return tuple(splits)


class Measured(NamedTuple):
    """A statistic, its mean over the shuffles, and the share of these that reach it."""

    value: float
    chance: float
    p_value: float


class LevelPurity(NamedTuple):
    """Dendrogram purity with regard to one level of a known tree.

    For two classes of a group, the share of that group among the classes of the
    smallest subtree that holds both; the mean over all such pairs. 1 says that every
    group is a subtree. Only groups that have at least two classes count.
    """

    n_groups: int
    n_classes: int
    purity: Measured


class TreeAgreement(NamedTuple):
    """Agreement of a taxonomy with a known tree; see `tree_agreement`.

    `cophenetic` is Pearson's correlation, over all pairs of classes, of the heights
    where they meet in the two trees; `distances` the same with the distances of the
    classes, before any clustering; `purity` is for each level with a pair, the broadest
    first.
    """

    cophenetic: Measured
    distances: Measured
    purity: tuple[LevelPurity, ...]

    def __repr__(self) -> str:
        return short_repr(self)


def tree_agreement(
    tree: Taxonomy,
    paths: Sequence[Sequence[Any]],
    *,
    n_permutations: int = 999,
) -> TreeAgreement:
    """Compare a taxonomy with a known tree.

    Parameters
    ----------
    tree : Taxonomy
    paths : sequence of length n_classes of sequences of str
        The groups above each class from the root on, such as ``(chapter, block)`` for
        categories of ICD-10. Paths may differ in length.
    n_permutations : int, default=999
        Times that the classes are shuffled over the leaves, for p-values.

    Raises
    ------
    ArgumentError
        When paths are not one per class, or put all or no classes together.

    Notes
    -----
    Classes meet in the known tree at the height of their deepest common group: 1 for a
    group of the last level, one more for each level above. The correlations need no
    cut of the tree, the purities no heights; both are one-sided tests, of Mantel's
    kind. With a thousand classes the default takes seconds.

    References
    ----------
    Sokal and Rohlf, "The Comparison of Dendrograms by Objective Methods", Taxon 11,
    1962. Mantel, "The Detection of Disease Clustering and a Generalized Regression
    Approach", Cancer Research 27, 1967. Kobren, Monath, Krishnamurthy and McCallum,
    "A Hierarchical Algorithm for Extreme Clustering", KDD 2017: dendrogram purity.

    Examples
    --------
    >>> import numpy as np
    >>> tree = taxonomy(np.array([[0], [1], [14], [15]], np.uint8) << 4, 4)
    >>> agreement = tree_agreement(tree, [["cat"], ["cat"], ["fish"], ["fish"]])
    >>> agreement.cophenetic.value, agreement.purity[0].purity.value
    (1.0, 1.0)
    >>> round(agreement.cophenetic.p_value, 1)  # one in three ways to pair four classes
    0.3
    """
    n_permutations = check_count(n_permutations, "n_permutations")
    rng = np.random.default_rng(0)
    n = len(tree.names)
    levels = _levels(paths, n)
    pairs = _pairs(levels)
    meetings = [_correlation(d, *pairs) for d in (tree.cophenetic, tree.distances)]
    split = [level for level in levels if np.bincount(level).max() > 1]
    purities = [_purity(tree, level) for level in split]

    def statistics(classes: IdArray) -> FloatArray:
        # A class takes the place of another: the other way round for the pairs.
        place = np.argsort(classes)
        values = [correlation(place) for correlation in meetings]
        return np.array(values + [purity(classes) for purity in purities])

    values = statistics(np.arange(n))
    shuffled = np.array([statistics(rng.permutation(n)) for _ in range(n_permutations)])
    reached = (shuffled >= values - _ROUNDING).sum(axis=0)
    p_values = (1 + reached) / (1 + n_permutations)
    p_values[np.isnan(values)] = np.nan  # such as of equal distances
    columns = (values.tolist(), shuffled.mean(axis=0).tolist(), p_values.tolist())
    cophenetic, distances, *pure = map(Measured, *columns)
    sizes = [np.bincount(level) for level in split]
    purity = tuple(
        LevelPurity(int((size > 1).sum()), int(size[size > 1].sum()), figure)
        for size, figure in zip(sizes, pure, strict=True)
    )
    return TreeAgreement(cophenetic, distances, purity)


def _levels(paths: Sequence[Sequence[Any]], n: int) -> IdArray:
    """Return the groups of classes (n_levels, n_classes), from the broadest on."""
    if len(paths) != n:
        raise ArgumentError(f"need a path for each of {n} classes, got {len(paths)}")
    for path in paths:
        if isinstance(path, str):
            raise ArgumentError(f"a path is a tuple of names, got the text {path!r}")
    lines = [tuple(map(str, path)) for path in paths]
    levels = []
    for depth in range(1, max(map(len, lines)) + 1):
        # A class whose path ends above is a group itself.
        numbers: dict[Any, int] = {}
        keys = [
            path[:depth] if len(path) >= depth else i for i, path in enumerate(lines)
        ]
        level = [numbers.setdefault(key, len(numbers)) for key in keys]
        if len(numbers) > 1:  # a level that all classes share is left out
            levels.append(level)
    if not levels:
        raise ArgumentError("the known tree puts all classes into the same groups")
    return np.array(levels, np.int64)


def _pairs(levels: IdArray) -> tuple[IdArray, IdArray, IdArray]:
    """Return all pairs with a common group, and in how many levels they have one."""
    groups = levels[0]
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[groups[order]]
    counts = ends - np.arange(len(order)) - 1  # partners that come later
    rows = np.repeat(np.arange(len(order)), counts)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    first, second = order[rows], order[offsets + rows + 1]
    if not len(first):
        raise ArgumentError("no two classes share a group of the known tree")
    shared = (levels[:, first] == levels[:, second]).sum(axis=0)
    return first, second, shared


def _correlation(
    distances: FloatArray, first: IdArray, second: IdArray, shared: IdArray
) -> _Statistic:
    """Correlate distances with heights of the known tree.

    Only pairs that share a group need a look: all others meet at the root.
    """
    from scipy.spatial.distance import squareform

    matrix = squareform(distances, checks=False)
    n_pairs, total = len(distances), distances.sum()
    n_shared = shared.sum()
    squares = shared @ shared - n_shared**2 / n_pairs
    scale = np.sqrt(squares * n_pairs) * distances.std()

    def correlation(place: IdArray) -> float:
        product = matrix[place[first], place[second]] @ shared
        product -= total * n_shared / n_pairs
        # Heights fall by as much as pairs share.
        return -float(product / scale) if scale > 0 else float("nan")

    return correlation


def _purity(tree: Taxonomy, groups: IdArray) -> _Statistic:
    """Purity of the tree with regard to groups."""
    # The children of a merge are order[start:split] and order[split:stop].
    n, order = len(tree.names), tree.order
    children = tree.linkage[:, :2].astype(np.int64)
    sizes = np.concatenate([np.ones(n, np.int64), tree.linkage[:, 3].astype(int)])
    starts = np.zeros(2 * n - 1, np.int64)
    for merge in range(n - 2, -1, -1):
        left, right = children[merge]
        starts[left] = starts[n + merge]
        starts[right] = starts[left] + sizes[left]
    starts = starts[n:]
    splits, stops = starts + sizes[children[:, 0]], starts + sizes[n:]
    counts = np.bincount(groups)
    # Groups without a pair only dilute others: a column for them is not needed.
    column_of = np.where(counts > 1, np.cumsum(counts > 1) - 1, -1)[groups]
    of_pairs = counts[counts > 1].astype(np.float64)
    weights = np.full(len(of_pairs), 1 / (of_pairs * (of_pairs - 1) / 2).sum())

    def purity(classes: IdArray) -> float:
        columns = column_of[classes[order]]
        members = np.zeros((n + 1, len(weights)), np.int32)
        places = np.flatnonzero(columns >= 0)
        members[places + 1, columns[places]] = 1
        np.cumsum(members, axis=0, out=members)
        left = members[splits] - members[starts]
        right = members[stops] - members[splits]
        shares = (left + right) / (stops - starts)[:, None]
        return float((left * right * shares).sum(axis=0) @ weights)

    return purity


class TaxonomyMetrics(NamedTuple):
    """The tree of codes, and its agreement with a known one where there is one."""

    tree: Taxonomy
    known: TreeAgreement | None

    def __repr__(self) -> str:
        return short_repr(self)

    def summary(self) -> dict[str, Any]:
        """Return the metrics as plain values, None for NaN."""
        distances = self.tree.distances

        def plain(statistic: Measured) -> dict[str, float | None]:
            values = zip(("value", "chance", "p"), statistic, strict=True)
            return {name: _number(value) for name, value in values}

        metrics: dict[str, Any] = {
            "linkage": "average",
            "smallest_distance": float(distances.min()),
            "mean_distance": float(distances.mean()),
            "cophenetic_correlation": _number(self.tree.cophenetic_correlation),
        }
        if self.known is not None:
            metrics["known_tree"] = {
                "cophenetic_correlation": plain(self.known.cophenetic),
                "distance_correlation": plain(self.known.distances),
                "purity": [
                    {"n_groups": level.n_groups, "n_classes": level.n_classes}
                    | plain(level.purity)
                    for level in self.known.purity
                ],
            }
        return metrics


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def paths_of(
    known: Mapping[str, Sequence[str]], names: Sequence[str]
) -> list[Sequence[str]]:
    """Return the groups above classes in a known tree that may have more.

    As `tree_agreement` takes them; refuses a tree that lacks a class.
    """
    missing = [name for name in names if name not in known]
    if missing:
        raise ArgumentError(
            f"the tree lacks {len(missing)} of {len(names)} classes, such as "
            f"{missing[0]!r}"
        )
    return [known[name] for name in names]
