"""Exhaustive search."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._typing import CodeArray, IdArray
from fewbits._warnings import warn_user
from fewbits.codes import (
    Neighbours,
    Ranges,
    as_codes,
    hamming_topk,
    hamming_within,
)
from fewbits.codes._arguments import check_k, check_padding, pad
from fewbits.errors import ArgumentError, CodeError
from fewbits.index._ids import (
    as_ids,
    check_new,
    check_unique,
    locate,
    next_ids,
    rising,
)
from fewbits.index._rerank import (
    METRICS,
    Ranked,
    as_matrix,
    as_query_vectors,
    as_scores,
    asymmetric,
    best,
    exact,
)

_LOOKED_AT = 100  # codes


@final
class FlatIndex:
    """Compare every query with every code. Exact; the specification of other indexes.

    Answers are ordered by (distance, id), so they depend neither on the order in which
    codes were added, nor on batches or threads.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; may be empty, or a memory map. They are not copied until something
        is added or removed, so do not change them.
    ids : array-like of shape (n,), default=None
        Unique whole numbers from 0 on, in any order; None numbers the rows. Ids that do
        not rise with the rows cost a sorted copy of the codes.

    Warns
    -----
    UserWarning
        When codes look like bits in a byte each, as ``transform`` of a learner gives
        them.

    Raises
    ------
    CodeError
        When the codes are not packed.
    ArgumentError
        When the ids are not unique, or not as many as the codes.

    Examples
    --------
    >>> import numpy as np
    >>> index = FlatIndex(np.array([[0], [3], [255]], np.uint8), ids=[7, 5, 1])
    >>> index
    FlatIndex(3 codes of 1 byte)
    >>> index.search(np.array([[1]], np.uint8), k=2)
    Neighbours(distances=array([[1, 1]], dtype=int32), ids=array([[5, 7]]))
    >>> index.add(np.array([[1]], np.uint8)).search(np.array([[1]], np.uint8), k=1).ids
    array([[8]])
    """

    def __init__(self, codes: CodeArray, ids: ArrayLike | None = None) -> None:
        self._codes = as_codes(codes)
        _warn_of_bits(self._codes)
        self._size = len(self._codes)
        self._ids = _new_ids(ids, self._size, np.empty(0, np.int64))
        self._order: IdArray | None = None  # None: ids rise with the rows
        self._sorted: tuple[CodeArray, IdArray] | None = None
        self._reorder(0)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        width = self._codes.shape[1]
        unit = "byte" if width == 1 else "bytes"
        return f"FlatIndex({len(self):,} codes of {width} {unit})"

    @property
    def codes(self) -> CodeArray:
        """The codes in the order given, read-only."""
        return _read_only(self._codes[: self._size])

    @property
    def ids(self) -> IdArray:
        """The ids in the order given, read-only."""
        return _read_only(self._ids[: self._size])

    def add(self, codes: CodeArray, ids: ArrayLike | None = None) -> Self:
        """Append codes.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        ids : array-like of shape (n,), default=None
            Must be new; None counts on from the largest. While ids rise, the cost of
            many small additions is that of one large one.

        Returns
        -------
        self

        Raises
        ------
        CodeError, ArgumentError
            As at construction, or when an id is there already. The index is unchanged.
        """
        codes = self._checked(codes, "codes")
        new = _new_ids(ids, len(codes), self._by_id()[1])
        start, size = self._size, self._size + len(codes)
        if size > len(self._codes):
            self._grow(max(size, 2 * start))
        if size > start:
            self._codes[start:size], self._ids[start:size] = codes, new
            self._size = size
            self._reorder(start)
        return self

    def remove(self, ids: ArrayLike) -> Self:
        """Forget some ids; the rows after them move up.

        Raises
        ------
        ArgumentError
            When an id is unknown. The index is unchanged.
        """
        places = locate(as_ids(ids), self._by_id()[1], "ids to remove")
        keep = np.ones(self._size, np.bool_)
        keep[self._rows(places)] = False
        self._codes, self._ids = self.codes[keep], self.ids[keep]
        self._size, self._order = len(self._ids), None
        self._reorder(0)
        return self

    def search(
        self, queries: CodeArray, k: int, *, allowed: ArrayLike | None = None
    ) -> Neighbours:
        """Find the `k` nearest codes of every query.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_bytes), dtype uint8
        k : int
            At least 1; where fewer codes can be found, the rest is -1.
        allowed : array-like, default=None
            What may be found: a boolean mask over the rows in the order given, or ids.

        Returns
        -------
        Neighbours
            ``distances`` int32 and ``ids`` int64, each (n_queries, k).

        Raises
        ------
        CodeError
            When the queries are not packed, or not as wide as the codes.
        ArgumentError
            When `k` is below 1, the mask has another length, or an allowed id is not in
            the index.
        """
        queries = self._checked(queries, "queries")
        distances, places = hamming_topk(
            queries, self._by_id()[0], k, allowed=self._mask(allowed)
        )
        return Neighbours(distances, self._as_ids(places))

    def within(
        self, queries: CodeArray, radius: int, *, allowed: ArrayLike | None = None
    ) -> Ranges:
        """Find every code at most `radius` bits away from each query.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_bytes), dtype uint8
        radius : int
            0 or more.
        allowed : array-like, default=None
            As in `search`.

        Returns
        -------
        Ranges
            ``offsets`` (n_queries + 1,), ``distances`` int32 and ``ids`` int64.
        """
        queries = self._checked(queries, "queries")
        offsets, distances, places = hamming_within(
            queries, self._by_id()[0], radius, allowed=self._mask(allowed)
        )
        return Ranges(offsets, distances, self._as_ids(places))

    def search_reranked(
        self,
        queries: CodeArray,
        k: int,
        *,
        scores: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
        query_vectors: ArrayLike | None = None,
        metric: str = "euclidean",
        shortlist: int | None = None,
        finalists: int | None = None,
        allowed: ArrayLike | None = None,
    ) -> Ranked:
        """Search by Hamming distance, then order what was found by a better distance.

        The `shortlist` nearest codes are ordered by the asymmetric distance of `scores`
        if these are given. If vectors are given, the first of them, `finalists` in
        number, are ordered by the distance between vectors.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_bytes), dtype uint8
        k : int
            At least 1; where fewer codes can be found, the rest is inf and -1.
        scores : array-like of shape (n_queries, n_bits), default=None
            The queries before thresholding, ``encoder.project(X)``.
        vectors : array-like of shape (n, n_features), default=None
            A vector for each row of the index, in the order given; float16, float32 or
            a memory map of such. Only the rows of finalists are read.
        query_vectors : array-like of shape (n_queries, n_features), default=None
        metric : {"euclidean", "cosine", "dot"}, default="euclidean"
            How vectors are compared.
        shortlist : int or None, default=None
            At least `k`; None means 10 `k`, but 100 at least.
        finalists : int or None, default=None
            With both `scores` and `vectors`: how many of the shortlist have their
            vectors read, at least `k`. None means 4 `k`. Without `scores`, all are.
        allowed : array-like, default=None
            As in `search`.

        Returns
        -------
        Ranked
            ``distances`` float32 of the last step and ``ids`` int64, each
            (n_queries, k), ordered by (distance, id). The asymmetric distance is the
            sum of ``|score|`` over the bits that differ; the others are the Euclidean
            distance, 1 - cosine, and minus the dot product.

        Raises
        ------
        ArgumentError
            When neither `scores` nor both kinds of vectors are given, or sizes do not
            fit.
        FeatureError
            When scores, or a vector that is compared, are not finite.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.1, 0.9], [0.2, 0.1], [-3.0, 1.0]], np.float32)
        >>> index = FlatIndex(np.packbits(X > 0, axis=1))
        >>> query = np.array([[0.2, 0.2]], np.float32)
        >>> code = np.packbits(query > 0, axis=1)
        >>> index.search(code, k=1).ids, index.search_reranked(
        ...     code, k=1, vectors=X, query_vectors=query
        ... ).ids
        (array([[0]]), array([[1]]))
        """
        queries = self._checked(queries, "queries")
        k = check_k(k)
        shortlist = _at_least(k, shortlist, max(100, 10 * k), "shortlist")
        finalists = _at_least(k, finalists, 4 * k, "finalists")
        bits = _scores(scores, queries)
        pair = _vectors(vectors, query_vectors, self._size, len(queries), metric)
        if bits is None and pair is None:
            raise ArgumentError("re-ranking needs scores, or vectors and query_vectors")
        wanted = max(1, min(shortlist, self._size))
        check_padding(len(queries), k, min(k, wanted))
        mask, codes = self._mask(allowed), self._by_id()[0]
        places = hamming_topk(queries, codes, wanted, allowed=mask).ids
        if bits is not None:
            passed = finalists if pair else k
            distances, places = best(asymmetric(bits, codes, places), places, passed)
        if pair is not None:
            distances = exact(*pair, self._rows(places), metric)
            distances, places = best(distances, places, k)
        return Ranked(pad(distances, k, np.inf), pad(self._as_ids(places), k))

    def _by_id(self) -> tuple[CodeArray, IdArray]:
        """Return codes and ids in the order of the ids, in which ties are answered."""
        if self._sorted is None:
            codes, ids = self._codes[: self._size], self._ids[: self._size]
            if self._order is not None:
                codes, ids = codes[self._order], ids[self._order]
            self._sorted = codes, ids
        return self._sorted

    def _rows(self, places: IdArray) -> IdArray:
        """Turn places in the order of the ids into rows as given; -1 stays."""
        return places if self._order is None else _take(self._order, places)

    def _as_ids(self, places: IdArray) -> IdArray:
        return _take(self._by_id()[1], places)

    def _reorder(self, start: int) -> None:
        """Note that the rows from `start` on are new."""
        self._sorted = None
        ids = self._ids[: self._size]
        # Where ids rise with the rows, checking the new ones is enough.
        if self._order is None and rising(ids[max(0, start - 1) :]):
            return
        self._order = np.argsort(ids)

    def _grow(self, capacity: int) -> None:
        codes = np.empty((capacity, self._codes.shape[1]), np.uint8)
        ids = np.empty(capacity, np.int64)
        codes[: self._size], ids[: self._size] = self.codes, self.ids
        self._codes, self._ids = codes, ids

    def _checked(self, codes: CodeArray, name: str) -> CodeArray:
        codes, width = as_codes(codes), self._codes.shape[1]
        if codes.shape[1] != width:
            raise CodeError(
                f"{name} have {codes.shape[1]} bytes per code, the index has {width}"
            )
        return codes

    def _mask(self, allowed: ArrayLike | None) -> NDArray[np.bool_] | None:
        """Return which places may be found."""
        if allowed is None:
            return None
        chosen = np.asarray(allowed)
        if chosen.dtype == np.bool_:
            if chosen.shape != (self._size,):
                raise ArgumentError(
                    f"an allowed mask must have shape ({self._size},), "
                    f"got {chosen.shape}"
                )
            return chosen if self._order is None else chosen[self._order]
        mask = np.zeros(self._size, np.bool_)
        mask[locate(as_ids(chosen, "allowed"), self._by_id()[1], "allowed")] = True
        return mask


def _warn_of_bits(codes: CodeArray) -> None:
    """Tell of bytes that are 0 or 1, which random codes have in one of 128."""
    some = codes[:: max(1, len(codes) // _LOOKED_AT)]
    if some.size >= _LOOKED_AT and some.max() == 1:
        warn_user(
            f"each code holds {codes.shape[1]:,} bytes that are 0 or 1: if these are "
            "bits, pack them (fewbits.codes.pack, or encode in place of transform), "
            "which takes an eighth of the room"
        )


def _new_ids(ids: ArrayLike | None, n: int, known: IdArray) -> IdArray:
    """Return `n` ids that are unique and not among the sorted `known` ones."""
    if ids is None:
        return next_ids(known, n)
    new = as_ids(ids)
    if len(new) != n:
        raise ArgumentError(f"need one id per code, got {len(new)} ids for {n} codes")
    if not rising(new):
        check_unique(np.sort(new))
    check_new(new, known)
    return new


def _take(values: IdArray, places: IdArray) -> IdArray:
    if not len(values):
        return places
    return np.where(places < 0, -1, values[places])


def _scores(scores: ArrayLike | None, queries: CodeArray) -> NDArray[np.float32] | None:
    return None if scores is None else as_scores(scores, *queries.shape)


def _vectors(
    vectors: ArrayLike | None,
    query_vectors: ArrayLike | None,
    n: int,
    n_queries: int,
    metric: str,
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return (query vectors, vectors) when both are given."""
    check_choice(metric, "metric", METRICS)
    if vectors is None and query_vectors is None:
        return None
    if vectors is None or query_vectors is None:
        missing = "vectors" if vectors is None else "query_vectors"
        raise ArgumentError(f"comparing vectors needs {missing} too")
    stored = as_matrix(vectors, "vectors", n)
    return as_query_vectors(query_vectors, n_queries, stored.shape[1]), stored


def _at_least(k: int, value: int | None, default: int, name: str) -> int:
    return max(k, default if value is None else check_k(value, name))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
