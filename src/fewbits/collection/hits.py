"""The answer to every search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import python_values
from fewbits.errors import MissingExtraError

#: What a table of hits has beside the user's columns.
OWN = ("query", "rank", "id", "distance")
_BLOCK = 1024  # queries whose columns are turned into values at a time


class Hit(NamedTuple):
    """One item that a search returned.

    Attributes
    ----------
    rank : int
        1 for the nearest.
    id : int or str
    distance : int or float
        See `Hits.metric`.
    columns : dict
        The user's columns by name; ``hit["text"]`` is one of them.
    """

    rank: int
    id: Any
    distance: Any
    columns: Mapping[str, Any]

    def __getitem__(self, name: Any) -> Any:
        return self.columns[name] if isinstance(name, str) else tuple(self)[name]


class Hits(Sequence[list[Hit]]):
    """The nearest items of one query or a million; ``hits[i]`` are those of query i.

    Attributes
    ----------
    ids : ndarray of shape (n_queries, k)
        int64, or objects that are texts; nearest first, padded with -1 or None where
        fewer were found. `k` is at most the number of items, and within a radius that
        of the longest answer.
    distances : ndarray of shape (n_queries, k)
        int32 numbers of bits, padded with -1; or float32, with infinity.
    metric : str
        What the distances are: ``"hamming"``, bits that differ; ``"euclidean"``, of
        kept vectors; ``"scores"``, the sum of ``|score|`` of the query over the bits
        that differ; ``"margin"``, minus the margin of the classifier of `like`, below 0
        for what it takes for a member.
    version : int
        Of the collection that was searched.
    out_of_distribution : ndarray of shape (n_queries,), dtype bool, or None
        Whether even the nearest item is beyond the novelty radius of the collection;
        None where it has none, or distances cannot be compared with it.

    Examples
    --------
    >>> import numpy as np
    >>> import fewbits
    >>> col = fewbits.Collection.create(
    ...     None, np.eye(4), columns={"name": ["a", "b", "c", "d"]}, bits=4
    ... )
    >>> hits = col.search([[0.0, 1.0, 0.0, 0.0]], k=1)
    >>> len(hits), hits[0][0].id, hits[0][0]["name"]
    (1, 1, 'b')
    >>> hits.to_list()
    [[{'rank': 1, 'id': 1, 'distance': 0, 'columns': {'name': 'b'}}]]
    """

    def __init__(
        self,
        ids: NDArray[Any],
        distances: NDArray[Any],
        metric: str,
        version: int,
        table: Callable[[], Any],
        out_of_distribution: NDArray[np.bool_] | None = None,
    ) -> None:
        self.ids, self.distances = ids, distances
        self.metric, self.version = metric, version
        self.out_of_distribution = out_of_distribution
        self._table: Any = table  # an Arrow table once it was read
        self._padding = None if ids.dtype == object else -1  # of the ids

    @property
    def rerank(self) -> bool:
        """Whether a shortlist was re-ranked, by kept vectors or by scores."""
        return self.metric in ("euclidean", "scores")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        n, k = self.ids.shape
        return f"Hits({n:,} queries, k={k:,}, {self.metric})"

    @overload
    def __getitem__(self, query: int) -> list[Hit]: ...
    @overload
    def __getitem__(self, query: slice) -> list[list[Hit]]: ...
    def __getitem__(self, query: int | slice) -> list[Hit] | list[list[Hit]]:
        if isinstance(query, slice):
            return [self[i] for i in range(*query.indices(len(self)))]
        number = range(len(self))[query]
        (rows,) = self._rows(range(number, number + 1))
        return [Hit(*row) for row in rows]

    def __iter__(self) -> Iterator[list[Hit]]:
        for rows in self._rows(range(len(self))):
            yield [Hit(*row) for row in rows]

    @property
    def columns(self) -> Any:
        """The user's columns of all hits as an Arrow table, read when asked for."""
        if callable(self._table):
            self._table = self._table()
        return self._table

    def to_list(self) -> list[list[dict[str, Any]]]:
        """Return for each query a list of dicts, as JSON has them.

        Each has ``rank``, ``id``, ``distance`` and ``columns``, a dict of the user's.
        """
        return [
            [
                {"rank": rank, "id": id, "distance": distance, "columns": columns}
                for rank, id, distance, columns in rows
            ]
            for rows in self._rows(range(len(self)))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer as plain values: what a service answers."""
        answer = {
            "metric": self.metric,
            "rerank": self.rerank,
            "version": self.version,
            "hits": self.to_list(),
        }
        if self.out_of_distribution is not None:
            answer["out_of_distribution"] = self.out_of_distribution.tolist()
        return answer

    def to_arrow(self) -> Any:
        """Return an Arrow table with a row for each hit.

        Its columns are ``query`` from 0 on, ``rank`` from 1 on, ``id``, ``distance``
        and the user's, which get the prefix ``column.`` where they have such a name.
        """
        import pyarrow as pa

        query, rank = np.nonzero(self.ids != self._padding)
        ids = self.ids[query, rank]
        kind = pa.large_string() if ids.dtype == object else pa.int64()
        values = query, rank + 1, pa.array(ids, kind), self.distances[query, rank]
        table = pa.table(dict(zip(OWN, values, strict=True)))
        for name in self.columns.column_names:
            title = name
            while title in table.column_names:
                title = f"column.{title}"
            table = table.append_column(title, self.columns[name])
        return table

    def to_pandas(self) -> Any:
        """Return `to_arrow` as a data frame of pandas.

        Raises
        ------
        MissingExtraError
            When pandas is not installed.
        """
        return as_pandas(self.to_arrow())

    @cached_property
    def _ends(self) -> list[int]:
        """Up to which row of `columns` the hits of each query reach."""
        n_queries, k = self.ids.shape
        if len(self.columns) == self.ids.size:
            return [k * (i + 1) for i in range(n_queries)]
        ends: list[int] = np.cumsum((self.ids != self._padding).sum(axis=1)).tolist()
        return ends

    def _rows(self, queries: range) -> Iterator[list[tuple[int, Any, Any, Any]]]:
        """Yield for each query the rank, id, distance and columns of its hits."""
        whole = self.columns
        names = whole.column_names
        for first in range(queries.start, queries.stop, _BLOCK):
            block = slice(first, min(first + _BLOCK, queries.stop))
            ends = self._ends[block]
            start = self._ends[first - 1] if first else 0
            n = ends[-1] - start
            table = whole if n == len(whole) else whole.slice(start, n)
            values = [python_values(column) for column in table.columns]
            rows: Any = zip(*values, strict=True) if names else [()] * n
            columns = (dict(zip(names, row, strict=True)) for row in rows)
            ids, distances = self.ids[block].tolist(), self.distances[block].tolist()
            for end, *answer in zip(ends, ids, distances, strict=True):
                # The ranks end first, so that nothing of the next query is taken.
                ranks = range(1, end - start + 1)
                yield list(zip(ranks, *answer, columns, strict=False))
                start = end


def as_pandas(table: Any) -> Any:
    """Return an Arrow table as a data frame of pandas."""
    if find_spec("pandas") is None:
        raise MissingExtraError("this needs pandas: pip install pandas")
    return table.to_pandas()
