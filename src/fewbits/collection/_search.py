"""Queries, and the rows nearest to them: all in all, in a radius, or of each group."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_frame, frame_names, is_frame
from fewbits._features import warn_of_others
from fewbits._typing import CodeArray, IdArray
from fewbits.collection._groups import GroupSearch, overlap
from fewbits.collection._model import Model, Progress, checked_codes
from fewbits.collection._rows import Mask, Rows
from fewbits.errors import ArgumentError
from fewbits.index import Corrections

#: What queries may be.
KINDS = ("texts", "vectors", "images", "ids", "codes")
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
        search = GroupSearch(self._rows, groups, self._ranked, self.metric == "hamming")
        if stored is None or not len(stored):
            queries = np.arange(len(self._query.codes))
            return search.nearest(queries, k, self._mask)
        answers = []
        for query, position in enumerate(self._rows.positions_of(stored).tolist()):
            others = np.ones(len(self._rows), np.bool_)
            others[position] = False  # a stored item is searched for among the others
            mask = overlap(others, self._mask)
            answers.append(search.nearest(np.array([query]), k, mask))
        distances, rows = zip(*answers, strict=True)
        return np.concatenate(distances), np.concatenate(rows)


def others_than(stored: IdArray, rows: IdArray) -> NDArray[np.bool_]:
    """Return where answers are not the queries themselves: all but one for each.

    A query that is not among its own answers, behind as many of the same distance,
    loses the last of them, so that each keeps k - 1.
    """
    others: NDArray[np.bool_] = rows != stored[:, None]
    others[others.all(axis=1), -1] = False
    return others
