"""Search of a collection by codes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_k
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._collection import CollectionMixin
from fewbits.bundle._encoding import checked_codes
from fewbits.bundle._grouped import GroupSearch, Mask, Search
from fewbits.bundle._hits import FoundRows
from fewbits.bundle._selection import selected
from fewbits.bundle._table_part import ID
from fewbits.errors import ArgumentError
from fewbits.index import Neighbours, RangeSearchResult, stream_range_search


class CodeSearchMixin(CollectionMixin):
    """Finds the items whose codes are nearest to given codes."""

    def search_rows_by_code(
        self,
        codes: CodeArray,
        k: int = 10,
        *,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
    ) -> FoundRows:
        """Return the rows whose codes are nearest to given codes, by Hamming distance.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
            As `encode` returns them, or with bits changed.
        k, filter, allowed, group_by
            As in `search_rows`.

        Returns
        -------
        FoundRows
            As of `search_rows`.

        Raises
        ------
        CodeError
            When codes are not packed, or of another width.
        ArgumentError
            As in `search`.
        """
        checked = checked_codes(codes, self.encoder.n_bits)

        def some(of: IdArray, wanted: int, mask: Mask) -> FoundRows:
            return FoundRows(*self._nearest_rows(checked[of], wanted, mask), "hamming")

        return self._best_rows(some, len(checked), k, filter, allowed, group_by)

    def range_rows_by_code(
        self, codes: CodeArray, radius: int, *, filter: Any = None, allowed: Any = None
    ) -> RangeSearchResult:
        """Return what `range_search` does for given codes, with rows for ids.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        radius, filter, allowed
            As in `range_search`.

        Returns
        -------
        RangeSearchResult
        """
        mask = selected(self, filter, allowed)
        checked = checked_codes(codes, self.encoder.n_bits)
        found = self.index.range_search(checked, radius, allowed=mask)
        rows = self.collection.rows_of(found.ids)
        return RangeSearchResult(found.offsets, found.distances, rows)

    def stream_range_rows_by_code(
        self, codes: CodeArray, radius: int, *, filter: Any = None, allowed: Any = None
    ) -> Iterator[tuple[slice, RangeSearchResult]]:
        """Yield what `range_rows_by_code` finds, for some codes at a time.

        Parameters
        ----------
        codes, radius, filter, allowed
            As in `range_rows_by_code`.

        Yields
        ------
        slice
            Rows of `codes`.
        RangeSearchResult
            All hits of these.
        """
        mask = selected(self, filter, allowed)
        checked = checked_codes(codes, self.encoder.n_bits)
        for span, found in stream_range_search(
            self.index, checked, radius, allowed=mask
        ):
            yield span, found._replace(ids=self.collection.rows_of(found.ids))

    def stream_range_search(
        self,
        queries: ArrayLike | Sequence[Any],
        radius: int,
        *,
        filter: Any = None,
        allowed: Any = None,
    ) -> Iterator[tuple[slice, RangeSearchResult]]:
        """Yield what `range_search` finds, for some queries at a time.

        Parameters
        ----------
        queries, radius, filter, allowed
            As in `range_search`.

        Yields
        ------
        slice
            Rows of `queries`.
        RangeSearchResult
            All hits of these.
        """
        codes = self.encode(queries)
        for span, found in self.stream_range_rows_by_code(
            codes, radius, filter=filter, allowed=allowed
        ):
            yield span, found._replace(ids=self.collection.ids_at(found.ids))

    def _best_rows(
        self,
        search: Search,
        n_queries: int,
        k: int,
        filter: Any,
        allowed: Any,
        group_by: str | None,
        *,
        ranks_again: bool = False,
    ) -> FoundRows:
        """Return the rows that a search finds, or the best of each of `k` groups."""
        items = self.collection
        # Nothing is padded here, so asking for more than there is costs nothing.
        k = min(check_k(k), max(1, len(items)))
        mask = selected(self, filter, allowed)
        if group_by is None:
            return search(np.arange(n_queries), k, mask)
        self._check_no_ids(group_by)
        numbers = items.numbered_groups(group_by)
        groups = GroupSearch(search, numbers, mask, (n_queries, k))
        return groups.ranked_again() if ranks_again else groups.nearest()

    def _check_no_ids(self, group_by: str) -> None:
        """Refuse to group by ids, which filters know as a column."""
        ids = (ID, self.metadata.id_column)
        if group_by in ids and group_by not in self.collection.columns:
            raise ArgumentError(
                f"items cannot be grouped by {group_by!r}, their ids: each would be a "
                "group of its own"
            )

    def _nearest_rows(self, codes: CodeArray, k: int, mask: Mask) -> Neighbours:
        found = self.index.search(codes, k, allowed=mask)
        return Neighbours(found.distances, self.collection.rows_of(found.ids))
