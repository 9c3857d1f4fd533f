"""Near duplicates: items of one collection whose codes differ in few bits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle._collection import CollectionMixin
from fewbits.bundle._items import Items
from fewbits.bundle._selection import selected
from fewbits.errors import ArgumentError
from fewbits.index import Index, Pairs

#: Pairs that are found at most.
MAX_PAIRS = 10_000_000
_NUMBERS = 1 << 22  # of vectors at a time


@dataclass(frozen=True, eq=False, repr=False)
class Duplicates:
    """Pairs of items whose codes differ in few bits, in the order of their rows.

    Attributes
    ----------
    distances : ndarray of shape (n_pairs,), dtype int32
        Bits that differ.
    rows : ndarray of shape (n_pairs, 2), dtype int64
        Rows of the collection, the smaller first.
    ids : ndarray of shape (n_pairs, 2)
        Their ids.
    vector_distances : ndarray of shape (n_pairs,), dtype float64, or None
        Euclidean distances of the kept vectors, where these confirm pairs.
    """

    distances: NDArray[np.int32]
    rows: IdArray
    ids: NDArray[Any]
    vector_distances: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.distances)

    def __repr__(self) -> str:
        return one_line(self)

    def groups(self) -> list[IdArray]:
        """Return the rows of items that are connected by pairs.

        Two items of a group need not be a pair: each may be one with a third.

        Returns
        -------
        list of ndarray of shape (n_items,), dtype int64
            Rows in rising order; groups in the order of their first rows. To remove
            duplicates, keep the first of each.
        """
        # Imported here: nothing else of a bundle needs SciPy.
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        known, places = np.unique(self.rows, return_inverse=True)
        first, second = places.reshape(-1, 2).T
        joined = np.ones(len(self), np.int8), (first, second)
        graph = coo_array(joined, shape=(len(known), len(known)))
        labels = connected_components(graph, directed=False)[1]
        order = np.argsort(labels, kind="stable")
        ends = np.flatnonzero(np.diff(labels[order])) + 1
        groups = np.split(known[order], ends) if len(known) else []
        return sorted(groups, key=lambda rows: int(rows[0]))


class DuplicatesMixin(CollectionMixin):
    """Finds near duplicates within a collection."""

    def duplicates(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
        max_pairs: int = MAX_PAIRS,
    ) -> Duplicates:
        """Return all pairs of items whose codes differ in at most `radius` bits.

        Parameters
        ----------
        radius : int
            Hamming distance in bits; 0 finds items of the same code.
        max_vector_distance : float, default=None
            Confirm each pair by the kept vectors: their Euclidean distance is at most
            this. None does not.
        filter, allowed : default=None
            Look at these items only, see `search`.
        max_pairs : int, default=10_000_000
            More pairs within `radius` are an error, since they need not fit in memory.

        Returns
        -------
        Duplicates
            All pairs, each once; ``groups()`` joins them.

        Raises
        ------
        ArgumentError
            When the radius is negative, there are more than `max_pairs` pairs, no
            vectors were kept to confirm by, or as in `search`.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> X = np.array([[1, 1, 1], [-1, -1, -1], [1, 1, -1], [-1, -1, -1]])
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(X)
        >>> found = bundle.duplicates(radius=1)
        >>> found.ids.tolist(), found.distances.tolist()
        ([[0, 2], [1, 3]], [1, 0])
        """
        radius = check_count(radius, "radius", 0)
        max_pairs = check_count(max_pairs, "max_pairs")
        items = self.collection
        farthest = _farthest(items, max_vector_distance)
        mask = selected(self, filter, allowed)
        numbers, distances = _pairs(self.index, mask, radius, max_pairs)
        rows = items.rows_of(numbers)
        between = None
        if farthest is not None:
            between = _vector_distances(items, rows)
            near = between <= farthest
            rows, distances, between = rows[near], distances[near], between[near]
        return Duplicates(distances, rows, items.ids_at(rows), between)


def _pairs(
    index: Index, mask: NDArray[np.bool_] | None, radius: int, max_pairs: int
) -> tuple[IdArray, NDArray[np.int32]]:
    """Return pairs of ids of the index, the smaller first, and their distances."""
    found = [Pairs(np.empty(0, np.int32), np.empty((0, 2), np.int64))]
    count = 0
    for pairs in index.pairs_within(radius, allowed=mask):
        count += len(pairs.distances)
        if count > max_pairs:
            raise ArgumentError(
                f"more than {max_pairs:,} pairs of items differ in at most {radius} "
                "bits: give a smaller radius, or a filter"
            )
        found.append(pairs)
    distances = np.concatenate([each.distances for each in found])
    rows = np.concatenate([each.ids for each in found])
    order = np.lexsort(rows.T[::-1])
    return rows[order], distances[order]


def _farthest(items: Items, distance: Any) -> float | None:
    """Return the largest distance of vectors, None where these do not matter."""
    if distance is None:
        return None
    kinds = int | float | np.integer | np.floating
    right = isinstance(distance, kinds) and not isinstance(distance, bool)
    if not (right and 0 <= distance < np.inf):
        raise ArgumentError(
            f"max_vector_distance must be a number from 0 on, got {distance!r}"
        )
    if items.vectors is None:
        raise ArgumentError(
            "this collection keeps no vectors to confirm duplicates by: build it with "
            "keep_vectors, or leave out max_vector_distance"
        )
    return float(distance)


def _vector_distances(items: Items, rows: IdArray) -> NDArray[np.float64]:
    distances = np.empty(len(rows))
    sample = items.some_vectors(np.zeros(0, np.int64))
    assert sample is not None
    step = max(1, _NUMBERS // sample.shape[1])
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        first, second = (items.some_vectors(each) for each in rows[block].T)
        assert first is not None
        assert second is not None
        apart = first.astype(np.float64) - second
        distances[block] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return distances
