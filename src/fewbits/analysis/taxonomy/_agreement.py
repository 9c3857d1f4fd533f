"""Agreement of a tree of classes with a known one, or with another."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count, generator
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.analysis.taxonomy._tree import Taxonomy
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]
_ROUNDING = 1e-12  # sums in another order


class Measured(NamedTuple):
    """A statistic and its distribution under chance.

    Attributes
    ----------
    value : float
    chance : float
        Mean over the shuffles.
    p_value : float
        Share of the shuffles, the given order included, with at least this value.
    """

    value: float
    chance: float
    p_value: float


class LevelPurity(NamedTuple):
    """Dendrogram purity with regard to one level of a known tree.

    For two classes of a group, the share of that group among the classes of the
    smallest subtree that holds both; the mean over all such pairs. 1 says that every
    group is a subtree.

    Attributes
    ----------
    n_groups : int
        Groups of the level that have at least two classes.
    n_classes : int
        Classes in them.
    purity : Measured
    """

    n_groups: int
    n_classes: int
    purity: Measured


class TreeAgreement(NamedTuple):
    """Agreement of a taxonomy with a known tree; see `tree_agreement`.

    Attributes
    ----------
    cophenetic : Measured
        Pearson's correlation, over all pairs of classes, of the heights where they meet
        in the two trees.
    distances : Measured
        The same with the distances of the classes, before any clustering.
    purity : tuple of LevelPurity
        For each level with a pair, the broadest first.
    """

    cophenetic: Measured
    distances: Measured
    purity: tuple[LevelPurity, ...]

    def __repr__(self) -> str:
        return one_line(self)


def tree_agreement(
    tree: Taxonomy,
    paths: Sequence[Sequence[Any]],
    *,
    n_permutations: int = 999,
    random_state: Any = 0,
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
    random_state : int, Generator or None, default=0
        Seeds the shuffles.

    Returns
    -------
    TreeAgreement

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
    >>> from fewbits.analysis.taxonomy import taxonomy
    >>> tree = taxonomy(np.array([[0], [1], [14], [15]], np.uint8) << 4, 4)
    >>> agreement = tree_agreement(tree, [["cat"], ["cat"], ["fish"], ["fish"]])
    >>> agreement.cophenetic.value, agreement.purity[0].purity.value
    (1.0, 1.0)
    >>> round(agreement.cophenetic.p_value, 1)  # one in three ways to pair four classes
    0.3
    """
    n_permutations = check_count(n_permutations, "n_permutations")
    rng = generator(random_state)
    known = _KnownTree(paths, len(tree.names))
    levels = [level for level in known.levels if np.bincount(level).max() > 1]
    purities = [_Purity(tree, level) for level in levels]
    meetings = [_Meetings(d, known) for d in (tree.cophenetic, tree.distances)]

    def metrics(classes: IdArray) -> FloatArray:
        # A class takes the place of another: the other way round for the pairs.
        place = np.argsort(classes)
        values = [meeting.correlation(place) for meeting in meetings]
        return np.array(values + [purity.of(classes) for purity in purities])

    cophenetic, distances, *pure = _permuted(
        metrics, len(tree.names), n_permutations, rng
    )
    sizes = [np.bincount(level) for level in levels]
    purity = tuple(
        LevelPurity(int((size > 1).sum()), int(size[size > 1].sum()), figure)
        for size, figure in zip(sizes, pure, strict=True)
    )
    return TreeAgreement(cophenetic, distances, purity)


class _KnownTree:
    """The groups of classes at each level, from the broadest on."""

    def __init__(self, paths: Sequence[Sequence[Any]], n: int) -> None:
        if len(paths) != n:
            raise ArgumentError(
                f"need a path for each of {n} classes, got {len(paths)}"
            )
        for path in paths:
            if isinstance(path, str):
                raise ArgumentError(
                    f"a path is a tuple of names, got the text {path!r}"
                )
        lines = [tuple(map(str, path)) for path in paths]
        levels = []
        for depth in range(1, max(map(len, lines)) + 1):
            # A class whose path ends above is a group itself.
            numbers: dict[Any, int] = {}
            keys = [
                path[:depth] if len(path) >= depth else i
                for i, path in enumerate(lines)
            ]
            levels.append(
                np.array([numbers.setdefault(key, len(numbers)) for key in keys])
            )
        # (n_levels, n_classes); a level that all classes share is left out.
        self.levels = np.array([level for level in levels if level.max()], np.int64)
        # All pairs with a common group, and in how many levels they have one.
        if not len(self.levels):
            raise ArgumentError("the known tree puts all classes into the same groups")
        groups = self.levels[0]
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups))[groups[order]]
        counts = ends - np.arange(len(order)) - 1  # partners that come later
        first = np.repeat(np.arange(len(order)), counts)
        second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.first, self.second = order[first], order[second + first + 1]
        if not len(self.first):
            raise ArgumentError("no two classes share a group of the known tree")
        self.shared = (self.levels[:, self.first] == self.levels[:, self.second]).sum(
            axis=0
        )


class _Meetings:
    """Correlates distances with heights of a known tree, for any assignment.

    Only pairs that share a group need a look: all others meet at the root.
    """

    def __init__(self, distances: FloatArray, known: _KnownTree) -> None:
        from scipy.spatial.distance import squareform

        self._known = known
        self._distances = squareform(distances, checks=False)
        self._n_pairs = len(distances)
        self._total = distances.sum()
        shared = known.shared
        self._shared = shared.sum()
        squares = shared @ shared - self._shared**2 / self._n_pairs
        self._scale = np.sqrt(squares * self._n_pairs) * distances.std()

    def correlation(self, place: IdArray) -> float:
        """Correlate when class ``i`` sits at the leaf of class ``place[i]``."""
        known = self._known
        pairs = self._distances[place[known.first], place[known.second]]
        product = pairs @ known.shared - self._total * self._shared / self._n_pairs
        # Heights fall by as much as pairs share.
        return -float(product / self._scale) if self._scale > 0 else float("nan")


class _Purity:
    """Purity of one tree with regard to groups, for any assignment to its leaves."""

    def __init__(self, tree: Taxonomy, groups: IdArray) -> None:
        # The children of a merge are order[start:split] and order[split:stop].
        n = len(tree.names)
        children = tree.linkage[:, :2].astype(np.int64)
        sizes = np.concatenate([np.ones(n, np.int64), tree.linkage[:, 3].astype(int)])
        starts = np.zeros(2 * n - 1, np.int64)
        for merge in range(n - 2, -1, -1):
            left, right = children[merge]
            starts[left] = starts[n + merge]
            starts[right] = starts[left] + sizes[left]
        self._order, self._starts = tree.order, starts[n:]
        self._splits = self._starts + sizes[children[:, 0]]
        self._stops = self._starts + sizes[n:]
        members = np.bincount(groups)
        # Groups without a pair only dilute others: a column for them is not needed.
        column = np.cumsum(members > 1) - 1
        self._columns = np.where(members > 1, column, -1)[groups]
        of_pairs = members[members > 1].astype(np.float64)
        n_pairs = (of_pairs * (of_pairs - 1) / 2).sum()
        self._weights = np.full(len(of_pairs), 1 / n_pairs)

    def of(self, classes: IdArray) -> float:
        """Return the purity when ``classes[i]`` sits at the leaf of class ``i``."""
        columns = self._columns[classes[self._order]]
        members = np.zeros((len(classes) + 1, len(self._weights)), np.int32)
        places = np.flatnonzero(columns >= 0)
        members[places + 1, columns[places]] = 1
        np.cumsum(members, axis=0, out=members)
        left = members[self._splits] - members[self._starts]
        right = members[self._stops] - members[self._splits]
        shares = (left + right) / (self._stops - self._starts)[:, None]
        return float((left * right * shares).sum(axis=0) @ self._weights)


class TaxonomyAgreement(NamedTuple):
    """Agreement of two taxonomies of the same classes; see `taxonomy_agreement`.

    Attributes
    ----------
    cophenetic : Measured
        Pearson's correlation of the heights where two classes meet.
    distances : Measured
        Spearman's correlation of the distances of the classes.
    """

    cophenetic: Measured
    distances: Measured

    def __repr__(self) -> str:
        return one_line(self)


def taxonomy_agreement(
    first: Taxonomy,
    second: Taxonomy,
    *,
    n_permutations: int = 999,
    random_state: Any = 0,
) -> TaxonomyAgreement:
    """Compare two taxonomies, such as those of codes and of real-valued classifiers.

    Parameters
    ----------
    first, second : Taxonomy
        Of the same classes in the same order.
    n_permutations, random_state
        As in `tree_agreement`.

    Returns
    -------
    TaxonomyAgreement

    Raises
    ------
    ArgumentError
        When the two differ in their classes.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.analysis.taxonomy import taxonomy, vector_taxonomy
    >>> tree = taxonomy(np.array([[0], [1], [14], [15]], np.uint8) << 4, 4)
    >>> other = vector_taxonomy([[9, 0], [9, 1], [1, 9], [0, 9]])
    >>> round(taxonomy_agreement(tree, other).cophenetic.value, 3)
    1.0
    """
    from scipy.stats import rankdata

    n_permutations = check_count(n_permutations, "n_permutations")
    if first.names != second.names:
        raise ArgumentError(
            f"need two taxonomies of the same classes, got {len(first.names)} and "
            f"{len(second.names)}, or other names"
        )
    both = [
        _Matrices(first.cophenetic, second.cophenetic),
        _Matrices(rankdata(first.distances), rankdata(second.distances)),
    ]

    def metrics(classes: IdArray) -> FloatArray:
        return np.array([matrices.correlation(classes) for matrices in both])

    rng = generator(random_state)
    statistics = _permuted(metrics, len(first.names), n_permutations, rng)
    return TaxonomyAgreement(*statistics)


class _Matrices:
    """Correlates two matrices of distances, one with its rows and columns shuffled."""

    def __init__(self, first: FloatArray, second: FloatArray) -> None:
        from scipy.spatial.distance import squareform

        a, b = first - first.mean(), second - second.mean()
        self._scale = 2 * np.sqrt((a @ a) * (b @ b))
        self._first, self._second = squareform(a), squareform(b, checks=False)
        self._rows, self._shuffled = np.empty((2, *self._first.shape))

    def correlation(self, classes: IdArray) -> float:
        # Written into place, which NumPy only does where it need not check: "clip".
        np.take(self._second, classes, axis=0, out=self._rows, mode="clip")
        np.take(self._rows, classes, axis=1, out=self._shuffled, mode="clip")
        product = float(np.vdot(self._first, self._shuffled))
        return product / self._scale if self._scale > 0 else float("nan")


def _permuted(
    metrics: Callable[[IdArray], FloatArray],
    n: int,
    n_permutations: int,
    rng: np.random.Generator,
) -> list[Measured]:
    """Compute metrics for `n` classes in their order, and in random ones."""
    values = metrics(np.arange(n))
    shuffled = np.array([metrics(rng.permutation(n)) for _ in range(n_permutations)])
    reached = (shuffled >= values - _ROUNDING).sum(axis=0)
    p_values = (1 + reached) / (1 + n_permutations)
    p_values = np.where(
        np.isnan(values), np.nan, p_values
    )  # such as of equal distances
    return [
        Measured(float(value), float(chance), float(p))
        for value, chance, p in zip(
            values, shuffled.mean(axis=0), p_values, strict=True
        )
    ]


class TaxonomyMetrics(NamedTuple):
    """Measurements of `write_taxonomy_page`.

    Attributes
    ----------
    tree : Taxonomy
        Of the codes.
    known : TreeAgreement or None
        With a known tree, where there is one.
    classifiers : TaxonomyAgreement or None
        With that of real-valued classifiers.
    """

    tree: Taxonomy
    known: TreeAgreement | None
    classifiers: TaxonomyAgreement | None

    def __repr__(self) -> str:
        return one_line(self)

    def summary(self) -> dict[str, Any]:
        """Return the metrics as plain values, None for NaN."""
        distances = self.tree.distances

        def plain(statistic: Measured) -> dict[str, float | None]:
            values = zip(("value", "chance", "p"), statistic, strict=True)
            return {name: _number(value) for name, value in values}

        metrics: dict[str, Any] = {
            "linkage": self.tree.method,
            "smallest_distance": float(distances.min()),
            "mean_distance": float(distances.mean()),
            "cophenetic_correlation": _number(self.tree.cophenetic_correlation),
        }
        for name, agreement in (
            ("known_tree", self.known),
            ("classifiers", self.classifiers),
        ):
            if agreement is not None:
                metrics[name] = {
                    "cophenetic_correlation": plain(agreement.cophenetic),
                    "distance_correlation": plain(agreement.distances),
                }
        if self.known is not None:
            metrics["known_tree"]["purity"] = [
                {"n_groups": level.n_groups, "n_classes": level.n_classes}
                | plain(level.purity)
                for level in self.known.purity
            ]
        return metrics


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def paths_of(
    known: Mapping[str, Sequence[str]], names: Sequence[str]
) -> list[Sequence[str]]:
    """Return the groups above classes in a known tree that may have more.

    Parameters
    ----------
    known : mapping of str to sequence of str
        The groups above each class, from the root on.
    names : sequence of str
        Classes.

    Returns
    -------
    list of sequence of str
        As `tree_agreement` takes them.

    Raises
    ------
    ArgumentError
        When the tree lacks a class.

    Examples
    --------
    >>> paths_of({"lynx": ["cat"], "trout": ["fish"], "oak": []}, ["trout", "lynx"])
    [['fish'], ['cat']]
    """
    missing = [name for name in names if name not in known]
    if missing:
        raise ArgumentError(
            f"the tree lacks {len(missing)} of {len(names)} classes, such as "
            f"{missing[0]!r}"
        )
    return [known[name] for name in names]
