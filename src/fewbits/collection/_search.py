"""Nearest rows of queries, best of each group, and within a radius."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_frame, is_frame
from fewbits._features import warn_of_others
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.collection._model import Model, checked_codes
from fewbits.collection._rows import Mask, Rows
from fewbits.errors import ArgumentError
from fewbits.index import Corrections

#: What queries may be.
KINDS = ("texts", "vectors", "images", "ids", "codes")
_LOOKED_AT = (4, 16, 64)  # times as many items as groups, one after another
_HITS = 1 << 19  # that are held at a time
#: Groups are searched one by one where there are no more, and no more a query.
_MOST_ALONE, _MOST_A_QUERY = 2048, 8
_PADDED = 1 << 31  # numbers of a padded answer


class Query:
    """Items to search for or to classify: their features and codes, each when needed.

    Parameters
    ----------
    model : Model
    rows : Rows or None
    kind : str or None
        One of `KINDS`; None for items of the model's own kind.
    items : object
    """

    def __init__(
        self, model: Model, rows: Rows | None, kind: str | None, items: Any
    ) -> None:
        self._model, self._rows = model, rows
        #: The rows of the collection that are searched for; None for other items.
        self.stored: IdArray | None = None
        self._codes: CodeArray | None = None
        self._features: NDArray[Any] | None = None
        if kind == "ids":
            if rows is None:
                raise ArgumentError("the collection holds no rows yet")
            self.stored = rows.rows_of(items)
        elif kind == "codes":
            self._codes = checked_codes(items, model.encoder.n_bits)
        else:
            known = {"vectors", model.kind}
            if kind is not None and kind not in known:
                raise ArgumentError(f"this collection takes {model.kind}, got {kind}")
            self._features = model.features(items, kind=kind)
            names = model.facts.feature_names
            if names is None or rows is None or type(items) is np.ndarray:
                return
            if is_frame(frame := as_frame(items)):
                here = *names, *rows.columns, model.facts.id_column
                warn_of_others(frame, here)

    @classmethod
    def one_of(cls, model: Model, rows: Rows | None, *values: Any) -> Self:
        """Return the one of items of the model's own kind, and of `KINDS`, that is."""
        kinds = [i for i, value in enumerate(values) if value is not None]
        if len(kinds) != 1:
            raise ArgumentError(f"give exactly one of queries, {', '.join(KINDS)}")
        return cls(model, rows, (None, *KINDS)[kinds[0]], values[kinds[0]])

    def __len__(self) -> int:
        if self.stored is not None:
            return len(self.stored)
        return len(self._features if self._codes is None else self._codes)  # type: ignore[arg-type]

    @property
    def codes(self) -> CodeArray:
        """Packed codes; of rows of the collection those that are stored."""
        if self._codes is None:
            if self.stored is None:
                self._codes = self._model.encoder.encode(self.features)
            else:
                assert self._rows is not None
                self._codes = self._rows.codes_at(self.stored)
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
        assert self._rows is not None
        if self._keeps_vectors:
            self._features = self._rows.vectors_at(self.stored)
        elif self._keeps_texts:
            texts = self._rows.column(str(self._model.facts.item_column), self.stored)
            self._features = self._model.features(list(texts))
        else:
            raise ArgumentError(
                "scores of stored items are those of their vectors, and this "
                "collection keeps none: give the items, or build it with keep_vectors "
                "(on the command line --keep-vectors float16)"
            )
        return self._features

    @property
    def has_features(self) -> bool:
        """True where features are known, or texts from which they can be made again."""
        if self._features is not None:
            return True
        return self.stored is not None and (self._keeps_vectors or self._keeps_texts)

    @property
    def _keeps_vectors(self) -> bool:
        return self._rows is not None and self._rows.vector_dtype is not None

    @property
    def _keeps_texts(self) -> bool:
        name, rows = self._model.facts.item_column, self._rows
        return self._model.kind == "texts" and rows is not None and name in rows.columns


class Search:
    """Searches one version of a collection, in one order, among the rows of a mask.

    Parameters
    ----------
    model : Model
    rows : Rows
    query : Query
    rerank : bool or None
    shortlist : int or None
        See `Collection.search`.
    mask : ndarray of bool or None
        The positions that may be found.

    Attributes
    ----------
    metric : {"hamming", "euclidean", "scores"}
    """

    def __init__(
        self,
        model: Model,
        rows: Rows,
        query: Query,
        rerank: bool | None = None,
        shortlist: int | None = None,
        mask: Mask | None = None,
    ) -> None:
        self._model, self._rows, self._query = model, rows, query
        self._mask, self._shortlist = mask, shortlist
        self._index = rows.index(model.facts.index or "auto")
        if not (rerank is None or rerank is True or rerank is False):
            raise ArgumentError(f"rerank must be True, False or None, got {rerank!r}")
        keeps = rows.vector_dtype is not None
        if rerank is None:
            rerank = keeps and query.has_features
        self.metric = ("euclidean" if keeps else "scores") if rerank else "hamming"
        if rerank:
            _ = query.features  # refused where they are not known
        elif shortlist is not None:
            raise ArgumentError(
                "a shortlist is ranked again: it needs rerank=True (on the command "
                "line by --rerank)"
            )

    def nearest(self, k: int) -> tuple[NDArray[Any], IdArray]:
        """Return distances and rows, (n_queries, k or fewer), without the items."""
        stored = self._query.stored
        if stored is None:
            return self._ranked(None, k, self._mask)
        k = min(k + 1, max(1, len(self._rows)))
        distances, rows = self._ranked(None, k, self._mask)
        others = rows != stored[:, None]
        others[others.all(axis=1), -1] = False  # behind many of the same distance
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
        place = np.arange(len(hits)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        distances = np.full((len(sizes), longest), -1, np.int32)
        rows = np.full((len(sizes), longest), -1, np.int64)
        distances[query, place], rows[query, place] = bits, hits
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
        if self.metric == "euclidean":
            options: dict[str, Any] = {
                "vectors": self._rows.vectors,
                "query_vectors": features,
            }
        else:
            scores = self._model.encoder.query_scores(features)
            options = {"scores": scores, "offsets": offsets_of(self._model, self._rows)}
        return self._index.search_reranked(
            codes, k, shortlist=self._shortlist, allowed=mask, **options
        )

    # The best item of each group.

    def groups(self, name: str, k: int) -> tuple[NDArray[Any], IdArray]:
        """Return distances and rows of the best item of each of `k` groups, padded."""
        numbers, stored = self._rows.group_numbers(name), self._query.stored
        masks: list[Mask | None] = [self._mask]
        queries = [np.arange(len(self._query))]
        if stored is not None:  # each is searched for among the others
            every = (
                np.ones(len(self._rows), np.bool_) if self._mask is None else self._mask
            )
            positions = self._rows.positions_of(stored)
            masks, queries = [], [np.array([i]) for i in range(len(stored))]
            for position in positions:
                masks.append(every.copy())
                masks[-1][position] = False  # type: ignore[index]
        hamming = self.metric == "hamming"
        distances = np.full(
            (len(self._query), k),
            -1 if hamming else np.inf,
            np.int32 if hamming else np.float32,
        )
        rows = np.full((len(self._query), k), -1, np.int64)
        for mask, alike in zip(masks, queries, strict=True):
            groups = _Groups(self, numbers, mask, alike, k)
            distances[alike], rows[alike] = (
                groups.nearest() if hamming else groups.reranked()
            )
        return distances, rows


class _Groups:
    """Finds the `k` nearest groups of some queries, each by its nearest item."""

    def __init__(
        self,
        search: Search,
        numbers: NDArray[np.int32],
        mask: Mask | None,
        queries: IdArray,
        k: int,
    ) -> None:
        self._search, self._numbers, self._mask = search, numbers, mask
        self._queries, self._k = queries, k
        sizes = np.bincount(numbers if mask is None else numbers[mask])
        self._present = np.flatnonzero(sizes)
        self._n_items = max(1, int(sizes.sum()))
        # There are no more groups than those with items that may be found.
        self._goal = min(k, len(self._present))
        self._counts = np.zeros(len(queries), np.int64)
        hamming = search.metric == "hamming"
        kind, far = (np.int32, -1) if hamming else (np.float32, np.inf)
        self._distances = np.full((len(queries), k), far, kind)
        self._rows = np.full((len(queries), k), -1, np.int64)

    def nearest(self) -> tuple[NDArray[Any], IdArray]:
        """Return the groups where the first rows do not depend on their number."""
        left = np.flatnonzero(self._counts < self._goal)
        n_items = 0
        for times in _LOOKED_AT:
            if not left.size or n_items >= len(self._present):
                break
            n_items = min(self._n_items, times * self._k)
            left = self._look_anew(left, n_items)
        if len(self._present) <= min(_MOST_A_QUERY * len(left), _MOST_ALONE):
            self._take_each_group(left)
        else:
            self._take_other_groups(left, n_items)
        return self._distances, self._rows

    def reranked(self) -> tuple[NDArray[Any], IdArray]:
        """Return the groups where answers get better with more: it doubles."""
        left = np.flatnonzero(self._counts < self._goal)
        n_items = _LOOKED_AT[0] * self._k
        while left.size:
            left = self._look_anew(left, min(self._n_items, n_items))
            n_items *= 2
        return self._distances, self._rows

    def _look_anew(self, queries: IdArray, n_items: int) -> IdArray:
        """Find groups of queries, and return those that lack some."""
        self._counts[queries] = 0
        self._look(queries, n_items, self._mask)
        return self._lacking(queries)

    def _lacking(self, queries: IdArray) -> IdArray:
        return queries[self._counts[queries] < self._goal]

    def _number_of(self, rows: IdArray) -> IdArray:
        positions = self._search._rows.positions_of(np.maximum(rows, 0))
        last = len(self._numbers) - 1
        return np.where(rows < 0, -1, self._numbers[np.minimum(positions, last)])

    def _look(self, queries: IdArray, n_items: int, mask: Mask | None) -> None:
        for part in spans(len(queries), _HITS // n_items):
            chosen = self._queries[queries[part]]
            distances, rows = self._search._ranked(chosen, n_items, mask)
            query, place = np.nonzero(_first_of_each(self._number_of(rows)))
            number = queries[part][query]
            # Behind the groups that were found before.
            ranks = np.arange(len(number)) - np.searchsorted(query, query)
            to = self._counts[number] + ranks
            kept = to < self._goal
            number, to, at = number[kept], to[kept], (query[kept], place[kept])
            self._rows[number, to] = rows[at]
            self._distances[number, to] = distances[at]
            np.add.at(self._counts, number, 1)

    def _take_each_group(self, queries: IdArray) -> None:
        """Search each group by itself, for some queries at a time."""
        for part in spans(len(queries), _HITS // max(1, len(self._present))):
            numbers = queries[part]
            shape = len(numbers), len(self._present)
            rows, distances = np.empty(shape, np.int64), np.empty(shape, np.int32)
            for place, group in enumerate(self._present.tolist()):
                mask = self._allowed(self._numbers == group)
                nearest = self._search._ranked(self._queries[numbers], 1, mask)
                distances[:, place], rows[:, place] = (x[:, 0] for x in nearest)
            best = np.lexsort((rows, distances))[:, : self._goal]
            goal = self._goal
            self._rows[numbers, :goal] = np.take_along_axis(rows, best, 1)
            self._distances[numbers, :goal] = np.take_along_axis(distances, best, 1)

    def _take_other_groups(self, queries: IdArray, n_items: int) -> None:
        """Search without the rows of the groups that were found, again and again."""
        while queries.size:
            alike: dict[tuple[int, ...], list[int]] = {}  # queries, by their groups
            for query in queries.tolist():
                groups = self._number_of(self._rows[query, : self._counts[query]])
                alike.setdefault(tuple(sorted(groups.tolist())), []).append(query)
            for there, numbers in alike.items():
                other = np.ones(int(self._numbers.max()) + 1, np.bool_)
                other[np.array(there, np.int64)] = False
                mask = self._allowed(other[self._numbers])
                self._look(np.array(numbers, np.int64), n_items, mask)
            queries = self._lacking(queries)

    def _allowed(self, mask: Mask) -> Mask:
        return mask if self._mask is None else mask & self._mask


def offsets_of(model: Model, rows: Rows) -> Any:
    """Return the terms that re-ranking by scores adds to distances."""
    table, values = model.encoder.correction_table, rows.corrections
    if table is None or values is None:
        return model.encoder.offsets
    return Corrections(values, table)


def _first_of_each(groups: IdArray) -> NDArray[np.bool_]:
    """Return where each group of a row comes first; -1 is none."""
    order = np.argsort(groups, axis=1, kind="stable")
    ordered = np.take_along_axis(groups, order, axis=1)
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    places = np.empty_like(first)
    np.put_along_axis(places, order, first, axis=1)
    return places
