"""Queries, and the rows nearest to them: all in all, in a radius, or of each group."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_frame, frame_names, is_frame
from fewbits._features import warn_of_others
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.collection._model import Model, Progress, checked_codes
from fewbits.collection._rows import Mask, Rows
from fewbits.errors import ArgumentError
from fewbits.index import Corrections

#: What queries may be.
KINDS = ("texts", "vectors", "images", "ids", "codes")
_FEWEST, _MOST = 4, 64  # items that are ranked for a group
_HITS = 1 << 19  # that are held at a time
_PADDED = 1 << 31  # numbers of a padded answer


class Query:
    """Items to search for or to classify: their features and codes, each when needed.

    Attributes
    ----------
    stored : ndarray of int64 or None
        The rows of the collection that are searched for; None for other items.
    """

    def __init__(
        self,
        model: Model,
        rows: Rows | None,
        *,
        stored: IdArray | None = None,
        codes: CodeArray | None = None,
        features: NDArray[Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.model, self.stored, self._progress = model, stored, progress
        self.rows: Any = rows  # there wherever rows are stored
        self._codes, self._features = codes, features

    @classmethod
    def one_of(
        cls,
        model: Model,
        rows: Rows | None,
        *values: Any,
        progress: Progress | None = None,
    ) -> Self:
        """Return the one of items of the model's own kind, and of `KINDS`, that is."""
        numbers = [i for i, value in enumerate(values) if value is not None]
        if len(numbers) != 1:
            raise ArgumentError(f"give exactly one of queries, {', '.join(KINDS)}")
        kind, items = (None, *KINDS)[numbers[0]], values[numbers[0]]
        if kind == "ids":
            if rows is None:
                raise ArgumentError("the collection holds no rows yet")
            return cls(model, rows, stored=rows.rows_of(items))
        if kind == "codes":
            return cls(model, rows, codes=checked_codes(items, model.encoder.n_bits))
        if kind not in (None, "vectors", model.kind):
            raise ArgumentError(f"this collection takes {model.kind}, got {kind}")
        features = model.features(items, kind=kind, progress=progress)
        progress = progress if model.backbone is None else None  # it has reported
        names = model.facts.feature_names
        if names and rows is not None and is_frame(frame := as_frame(items)):
            columns = (*names, *rows.columns, model.facts.id_column)
            if {*names} < {*frame_names(frame)}:  # numbered columns go by their order
                warn_of_others(frame, columns)
        return cls(model, rows, features=features, progress=progress)

    @property
    def codes(self) -> CodeArray:
        """Packed codes; of rows of the collection those that are stored."""
        if self._codes is None:
            if self.stored is None:
                self._codes = self.model.encoder.encode(
                    self.features, progress=self._progress
                )
            else:
                self._codes = self.rows.codes_at(self.stored)
        return self._codes

    @property
    def features(self) -> NDArray[Any]:
        """Features (n, n_features); refused where they cannot be known."""
        if self._features is not None:
            return self._features
        if self.stored is None:
            raise ArgumentError(
                "codes have no scores or vectors: give the items themselves"
            )
        if not self.has_features:
            raise ArgumentError(
                "scores of stored items are those of their vectors, and this "
                "collection keeps none: give the items, or build it with keep_vectors "
                "(on the command line --keep-vectors float16)"
            )
        if self.rows.vector_dtype is not None:
            self._features = self.rows.vectors_at(self.stored)
        else:
            texts = self.rows.column(self.model.facts.item_column, self.stored)
            self._features = self.model.features(list(texts))
        return self._features

    @property
    def has_features(self) -> bool:
        """True where features are known, or texts from which they can be made again."""
        if self._features is not None or self.stored is None:
            return self._features is not None
        return self.rows.vector_dtype is not None or (
            self.model.kind == "texts"
            and self.model.facts.item_column in self.rows.columns
        )


def metric_of(query: Query, rerank: bool | None, shortlist: int | None) -> str:
    """Return what ranks the answers, see `Collection.search`."""
    if not (rerank is None or rerank is True or rerank is False):
        raise ArgumentError(f"rerank must be True, False or None, got {rerank!r}")
    keeps = query.rows.vector_dtype is not None
    if rerank or (rerank is None and keeps and query.has_features):
        _ = query.features  # refused where they are not known
        return "euclidean" if keeps else "scores"
    if shortlist is not None:
        raise ArgumentError(
            "a shortlist is re-ranked: it needs rerank=True (on the command line by "
            "--rerank)"
        )
    return "hamming"


class Search:
    """Searches one version of a collection, in one order, among the rows of a mask."""

    def __init__(
        self,
        query: Query,
        metric: str,
        shortlist: int | None = None,
        mask: Mask | None = None,
    ) -> None:
        rows: Rows = query.rows
        self._rows, self._query = rows, query
        self.metric, self._shortlist, self._mask = metric, shortlist, mask
        self._index = rows.index(query.model.facts.index or "auto")

    def nearest(self, k: int) -> tuple[NDArray[Any], IdArray]:
        """Return distances and rows, (n_queries, k or fewer), without the items."""
        stored = self._query.stored
        if stored is None:
            return self._ranked(None, k, self._mask)
        k = min(k + 1, max(1, len(self._rows)))
        distances, rows = self._ranked(None, k, self._mask)
        others = others_than(stored, rows)
        shape = len(stored), k - 1
        return distances[others].reshape(shape), rows[others].reshape(shape)

    def within(self, radius: int, k: int | None) -> tuple[NDArray[Any], IdArray]:
        """Return all rows at most `radius` bits away, or the k nearest, padded."""
        if k is not None:
            distances, rows = self.nearest(k)
            far = distances > radius
            distances, rows = np.where(far, -1, distances), np.where(far, -1, rows)
            longest = int((rows >= 0).sum(axis=1).max(initial=0))
            return distances[:, :longest], rows[:, :longest]
        result = self._index.range_search(self._query.codes, radius, allowed=self._mask)
        hits, bits = result.ids, result.distances
        sizes = np.diff(result.offsets)
        query = np.repeat(np.arange(len(sizes)), sizes)
        if self._query.stored is not None:
            others = hits != self._query.stored[query]
            hits, bits, query = hits[others], bits[others], query[others]
            sizes = np.bincount(query, minlength=len(sizes))
        longest = int(sizes.max(initial=0))
        if len(sizes) * longest > _PADDED:
            raise ArgumentError(
                f"{len(sizes):,} queries with up to {longest:,} hits each do not fit "
                "in memory: send fewer queries at a time, give a smaller radius, or k"
            )
        rank = np.arange(len(hits)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        distances = np.full((len(sizes), longest), -1, np.int32)
        rows = np.full((len(sizes), longest), -1, np.int64)
        distances[query, rank], rows[query, rank] = bits, hits
        return distances, rows

    def _ranked(
        self, numbers: IdArray | None, k: int, mask: Mask | None
    ) -> tuple[NDArray[Any], IdArray]:
        """Return distances and rows of queries by number, in exactly `k` columns."""
        query = self._query
        codes = query.codes if numbers is None else query.codes[numbers]
        if self.metric == "hamming":
            return self._index.search(codes, k, allowed=mask)
        features = query.features if numbers is None else query.features[numbers]
        options: dict[str, Any]
        if self.metric == "euclidean":
            options = {"vectors": self._rows.vectors, "query_vectors": features}
        else:
            encoder, corrections = query.model.encoder, self._rows.corrections
            options = {"scores": encoder.query_scores(features)}
            options["offsets"] = encoder.offsets
            if encoder.correction_table is not None and corrections is not None:
                table = encoder.correction_table
                options["offsets"] = Corrections(corrections, table)
        return self._index.search_reranked(
            codes, k, shortlist=self._shortlist, allowed=mask, **options
        )

    def nearest_by_group(self, name: str, k: int) -> tuple[NDArray[Any], IdArray]:
        """Return distances and rows of the nearest item of each of `k` groups, padded.

        A group is the items that have the same value in the column `name`.
        """
        groups, stored = self._rows.value_numbers(name), self._query.stored
        if stored is None or not len(stored):
            queries = np.arange(len(self._query.codes))
            return self._by_group(groups, self._mask, queries, k)
        answers = []
        for query, position in enumerate(self._rows.positions_of(stored).tolist()):
            others = np.ones(len(self._rows), np.bool_)
            others[position] = False  # a stored item is searched for among the others
            mask = _both(others, self._mask)
            answers.append(self._by_group(groups, mask, np.array([query]), k))
        distances, rows = zip(*answers, strict=True)
        return np.concatenate(distances), np.concatenate(rows)

    def _by_group(
        self, groups: NDArray[np.int32], mask: Mask | None, queries: IdArray, k: int
    ) -> tuple[NDArray[Any], IdArray]:
        """Return the nearest groups of some queries, from the group of each position.

        The nearest items are ranked. A query that finds too few groups among them is
        asked again: for more items, then for those of other groups alone.
        """
        is_hamming = self.metric == "hamming"
        last = int(groups.max(initial=0))
        sizes = np.bincount(groups if mask is None else groups[mask], minlength=last)
        n_groups, most = int(np.count_nonzero(sizes)), max(1, int(sizes.sum()))
        if is_hamming and n_groups > 1 and sizes.max() > most // 2:
            return self._by_largest(groups, mask, queries, k, int(sizes.argmax()))
        goal, kind = min(k, n_groups), "i4" if is_hamming else "f4"
        distances = np.full((len(queries), k), -1 if is_hamming else np.inf, kind)
        rows = np.full((len(queries), k), -1, np.int64)
        numbers = np.full((len(queries), k), -1, np.int64)  # of the groups
        counts = np.zeros(len(queries), np.int64)
        left: IdArray = np.flatnonzero(counts < goal)
        n_items = min(most, _FEWEST * k)
        searches = [left]
        while left.size:
            for some in searches:
                allowed = mask
                if n_there := counts[some[0]]:  # of groups that all of them have
                    is_other = np.ones(last + 1, np.bool_)
                    is_other[numbers[some[0], :n_there]] = False
                    allowed = _both(is_other[groups], mask)
                for part in spans(len(some), _HITS // n_items):
                    of = some[part]
                    near, hits = self._ranked(queries[of], n_items, allowed)
                    at = self._rows.positions_of(np.maximum(hits, 0))
                    group = groups[np.minimum(at, len(groups) - 1)]
                    group = np.where(hits < 0, -1, group)
                    row, rank = np.nonzero(_first_of_each(group))
                    place = counts[of[row]] + np.arange(len(row))
                    place -= np.searchsorted(row, row)
                    fits = place < goal
                    hit = row[fits], rank[fits]
                    to = of[hit[0]], place[fits]
                    distances[to], rows[to], numbers[to] = (
                        near[hit],
                        hits[hit],
                        group[hit],
                    )
                    np.add.at(counts, to[0], 1)
            left = left[counts[left] < goal]
            if is_hamming and n_items >= min(_MOST * k, n_groups):
                alike: dict[bytes, list[int]] = {}  # queries by their groups
                for query in left.tolist():
                    alike.setdefault(np.sort(numbers[query]).tobytes(), []).append(
                        query
                    )
                searches = [np.array(some) for some in alike.values()]
            else:  # of a longer shortlist, nearer items may come
                n_items = min(most, n_items * (4 if is_hamming else 2))
                counts[left], searches = 0, [left]
        return distances, rows

    def _by_largest(
        self,
        groups: NDArray[np.int32],
        mask: Mask | None,
        queries: IdArray,
        k: int,
        largest: int,
    ) -> tuple[NDArray[Any], IdArray]:
        """Return what `_by_group` does, where one group has most of the items.

        The nearest items are nearly all of it, so it is searched by itself.
        """
        others = self._by_group(groups, _both(groups != largest, mask), queries, k)
        one = self._ranked(queries, 1, _both(groups == largest, mask))
        pairs = zip(others, one, strict=True)
        distances, rows = (np.concatenate(pair, axis=1) for pair in pairs)
        far = np.where(rows < 0, np.iinfo(np.int32).max, distances)
        best = np.lexsort((rows, far))[:, :k]
        return np.take_along_axis(distances, best, 1), np.take_along_axis(rows, best, 1)


def _both(mask: Mask, other: Mask | None) -> Mask:
    return mask if other is None else mask & other


def others_than(stored: IdArray, rows: IdArray) -> NDArray[np.bool_]:
    """Return where answers are not the queries themselves: all but one for each.

    A query that is not among its own answers, behind as many of the same distance,
    loses the last of them, so that each keeps k - 1.
    """
    others: NDArray[np.bool_] = rows != stored[:, None]
    others[others.all(axis=1), -1] = False
    return others


def _first_of_each(groups: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return where each group of a row comes first; -1 is none."""
    order = np.argsort(groups, axis=1, kind="stable")
    ordered = np.take_along_axis(groups, order, axis=1)
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    places = np.empty_like(first)
    np.put_along_axis(places, order, first, axis=1)
    return places
