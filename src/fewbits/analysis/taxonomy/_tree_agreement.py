"""Agreement of a tree of classes with a known one, or with another."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count, generator
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.analysis.taxonomy._known_tree import KnownTree
from fewbits.analysis.taxonomy._permutation import Measured, measured
from fewbits.analysis.taxonomy._purity import Purity, Spans
from fewbits.analysis.taxonomy._taxonomy import Taxonomy
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]


class LevelPurity(NamedTuple):
    """Dendrogram purity with regard to one level of a known tree.

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
    Approach", Cancer Research 27, 1967. For purity see `dendrogram_purity`.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.analysis.taxonomy import taxonomy
    >>> tree = taxonomy(np.array([[0], [1], [14], [15]], np.uint8) << 4, 4)
    >>> found = tree_agreement(tree, [["cat"], ["cat"], ["fish"], ["fish"]])
    >>> found.cophenetic.value, found.purity[0].purity.value
    (1.0, 1.0)
    >>> round(found.cophenetic.p_value, 1)  # one in three ways to pair four classes
    0.3
    """
    n_permutations = check_count(n_permutations, "n_permutations")
    rng = generator(random_state)
    known, spans = KnownTree(paths, len(tree.names)), Spans(tree)
    levels = [level for level in known.levels if np.bincount(level).max() > 1]
    purities = [Purity(spans, level, "pairs") for level in levels]
    meetings = [_Meetings(d, known) for d in (tree.cophenetic, tree.distances)]

    def metrics(taken: IdArray) -> FloatArray:
        # A class takes the place of another: the other way round for the pairs.
        place = np.argsort(taken)
        values = [meeting.correlation(place) for meeting in meetings]
        return np.array(values + [purity.of(taken) for purity in purities])

    cophenetic, distances, *pure = measured(
        metrics, len(tree.names), n_permutations, rng
    )
    sizes = [np.bincount(level) for level in levels]
    purity = tuple(
        LevelPurity(int((size > 1).sum()), int(size[size > 1].sum()), figure)
        for size, figure in zip(sizes, pure, strict=True)
    )
    return TreeAgreement(cophenetic, distances, purity)


class _Meetings:
    """Correlates distances with heights of a known tree, for any assignment.

    Only pairs that share a group need a look: all others meet at the root.
    """

    def __init__(self, distances: FloatArray, known: KnownTree) -> None:
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

    def metrics(taken: IdArray) -> FloatArray:
        return np.array([matrices.correlation(taken) for matrices in both])

    rng = generator(random_state)
    found = measured(metrics, len(first.names), n_permutations, rng)
    return TaxonomyAgreement(*found)


class _Matrices:
    """Correlates two matrices of distances, one with its rows and columns shuffled."""

    def __init__(self, first: FloatArray, second: FloatArray) -> None:
        from scipy.spatial.distance import squareform

        a, b = first - first.mean(), second - second.mean()
        self._scale = 2 * np.sqrt((a @ a) * (b @ b))
        self._first, self._second = squareform(a), squareform(b, checks=False)
        self._rows, self._shuffled = np.empty((2, *self._first.shape))

    def correlation(self, taken: IdArray) -> float:
        # Written into place, which NumPy only does where it need not check: "clip".
        np.take(self._second, taken, axis=0, out=self._rows, mode="clip")
        np.take(self._rows, taken, axis=1, out=self._shuffled, mode="clip")
        product = float(np.vdot(self._first, self._shuffled))
        return product / self._scale if self._scale > 0 else float("nan")
