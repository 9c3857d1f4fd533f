"""Search of a collection by raw items."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_k
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._asked import Asked, StoredItems
from fewbits.bundle._code_search import CodeSearchMixin
from fewbits.bundle._grouped import Mask
from fewbits.bundle._hits import FoundRows
from fewbits.bundle._selection import selected
from fewbits.errors import ArgumentError
from fewbits.index import Neighbours, RangeSearchResult, Ranked


class SearchMixin(CodeSearchMixin):
    """Finds the nearest items of a collection."""

    def search(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
    ) -> Neighbours:
        """Return the `k` items nearest to each raw query by Hamming distance.

        Does not re-rank, even if the bundle was tuned to: see `search_reranked` for
        better distances, and `search_records` for hits with their columns.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        k : int, default=10
            Neighbours per query. If fewer can be found, ids are padded with -1, or None
            for text ids.
        filter : str or pyarrow.compute.Expression, default=None
            Which items may be found: a condition about the user's columns, such as
            ``"category = 'x' and year >= 2020"``, and the bits, as ``"bit(12) = 1"``;
            see `fewbits.collection.filters.matching_rows`. All `k` are found where there are as
            many such items.
        allowed : array-like, default=None
            Which items may be found: a boolean mask over the rows, or ids.
        group_by : str, default=None
            A column: the best item of each of `k` groups is found, see
            `search_records`.

        Returns
        -------
        Neighbours
            ``distances`` int32 and ``ids``, each (n, k), nearest first, ties in the
            order of the rows.

        Raises
        ------
        ArgumentError
            When a condition cannot be read, or names no column; when an id is unknown.
        """
        codes = self.encode(queries)
        if group_by is not None:
            best = self.search_rows_by_code(
                codes, k, filter=filter, allowed=allowed, group_by=group_by
            ).padded(k)
            return Neighbours(best.distances, self.collection.ids_at(best.rows))
        found = self._nearest_rows(codes, k, selected(self, filter, allowed))
        return Neighbours(found.distances, self.collection.ids_at(found.ids))

    def range_search(
        self,
        queries: ArrayLike | Sequence[Any],
        radius: int,
        *,
        filter: Any = None,
        allowed: Any = None,
    ) -> RangeSearchResult:
        """Return all items at most `radius` bits away from each raw query.

        A larger radius finds the same items and perhaps more. Where hits of many
        queries do not fit in memory, `stream_range_search` yields those of a few.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        radius : int
            Maximum Hamming distance, 0 or more.
        filter, allowed : default=None
            Which items may be found, see `search`.

        Returns
        -------
        RangeSearchResult
            ``offsets`` (n + 1,), and ``distances`` int32 and ``ids`` of all hits, those
            of query ``i`` from ``offsets[i]`` to ``offsets[i + 1]``, nearest first.

        Raises
        ------
        ArgumentError
            As in `search`, or when `radius` is negative.
        """
        found = self.range_rows_by_code(
            self.encode(queries), radius, filter=filter, allowed=allowed
        )
        ids = self.collection.ids_at(found.ids)
        return RangeSearchResult(found.offsets, found.distances, ids)

    def search_reranked(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        shortlist: int | None = None,
        finalists: int | None = None,
        filter: Any = None,
        allowed: Any = None,
    ) -> Ranked:
        """Return the `k` nearest of a Hamming shortlist, ranked again.

        By the stored vectors if the bundle has them, else by the queries' scores.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        k : int, default=10
            Where fewer items can be found, the rest is inf and -1; of text ids None.
        shortlist : int, default=None
            How many codes are ranked again; None takes the tuned number, or that of
            `fewbits.index.FlatIndex.search_reranked`; less than `k` counts as `k`. With
            stored float vectors and a shortlist of all items, answers are exact.
        finalists : int, default=None
            How many of the shortlist have their vectors read, chosen by the queries'
            scores; None reads all, and less than `k` counts as `k`.
        filter, allowed : default=None
            Which items may be found, see `search`.

        Returns
        -------
        Ranked
            ``distances`` float32 and ``ids``, each (n, k), nearest first. Distances to
            vectors are Euclidean (faiss gives their squares), else asymmetric: the sum
            of ``|score|`` over scores whose sign is not the bit. Neither is a number of
            bits.

        Raises
        ------
        ArgumentError
            As in `search`.
        """
        mask = selected(self, filter, allowed)
        features = self.features(queries)
        codes = self.encoder.encode(features)
        found = self._reranked(codes, features, k, shortlist, mask, finalists)
        return Ranked(found.distances, self.collection.ids_at(found.ids))

    def search_records(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        rerank: bool | None = None,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
    ) -> list[list[dict[str, Any]]]:
        """Return the nearest items of each query with everything kept about them.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        k : int, default=10
        rerank : bool, default=None
            Re-rank a shortlist, see `search_reranked`; None re-ranks if the bundle was
            tuned to.
        filter, allowed : default=None
            Which items may be found, see `search`.
        group_by : str, default=None
            A column, such as the document of a passage: the best item of each of `k`
            groups is returned. Items without a value are one group.

        Returns
        -------
        list of list of dict
            Nearest first: ``id``, ``distance`` and ``columns``, a dict of the other
            columns of the item. A distance is the number of bits that differ, as in
            `search`; hits that were ranked again have a ``metric``, too, "euclidean" or
            "asymmetric", and their distance is that of `search_reranked`.

        Raises
        ------
        ArgumentError
            When `k` is not a whole number from 1 on.
        """
        found = self.search_rows(
            queries,
            k,
            rerank=rerank,
            filter=filter,
            allowed=allowed,
            group_by=group_by,
        )
        return found.records(self.collection)

    def search_rows(
        self,
        queries: ArrayLike | Sequence[Any] | StoredItems,
        k: int = 10,
        *,
        rerank: bool | None = None,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
    ) -> FoundRows:
        """Return the rows of the nearest items of each query, and what ranked them.

        What `search_records` and `fewbits.engine.search` are made of.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), sequence or StoredItems
            Raw items, or those of the collection.
        k : int, default=10
        rerank : bool, default=None
            Re-rank a shortlist, see `search_reranked`; None does so where the bundle
            was tuned to, that is, has a `shortlist`.
        filter, allowed : default=None
            Which items may be found, see `search`.
        group_by : str, default=None
            See `search_records`. A shortlist to re-rank grows until it holds `k` groups
            or all that may be found.

        Returns
        -------
        FoundRows
            ``distances`` and ``rows``, each (n, min(k, items in the collection)), rows
            -1 where nothing was found, and the ``metric`` of the distances.

        Raises
        ------
        ArgumentError
            When `k` is not a whole number from 1 on, `rerank` is neither a truth value
            nor None, or as in `search`.
        """
        if rerank is None:
            rerank = self.shortlist is not None
        if not isinstance(rerank, bool):
            raise ArgumentError(f"rerank must be True, False or None, got {rerank!r}")
        asked = Asked(self, queries)

        def some(of: IdArray, wanted: int, mask: Mask) -> FoundRows:
            codes = asked.codes[of]
            if not rerank:
                return FoundRows(*self._nearest_rows(codes, wanted, mask), "hamming")
            ranked = self._reranked(codes, asked.features[of], wanted, mask=mask)
            metric = "asymmetric" if self.collection.vectors is None else "euclidean"
            return FoundRows(ranked.distances, ranked.ids, metric)

        return self._best_rows(
            some, len(asked), k, filter, allowed, group_by, ranks_again=rerank
        )

    def _reranked(
        self,
        codes: CodeArray,
        features: NDArray[Any],
        k: int,
        shortlist: int | None = None,
        mask: Mask = None,
        finalists: int | None = None,
    ) -> Ranked:
        """Return rows of the collection in the place of ids."""
        if shortlist is None and self.shortlist is not None:
            shortlist = max(check_k(k), self.shortlist)
        vectors = self.collection.vectors
        by_vectors = {"vectors": vectors, "query_vectors": features}
        options: dict[str, Any] = {} if vectors is None else by_vectors
        if vectors is None or finalists is not None:
            scores = self.encoder.query_scores(features)
            options |= {"scores": scores, "offsets": self._offsets}
        found = self.index.search_reranked(
            codes, k, shortlist=shortlist, finalists=finalists, allowed=mask, **options
        )
        return Ranked(found.distances, self.collection.rows_of(found.ids))
