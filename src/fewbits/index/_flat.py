"""Exhaustive search."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._typing import CodeArray, IdArray
from fewbits._warnings import warn_user
from fewbits.codes import (
    Neighbours,
    RangeSearchResult,
    as_codes,
    hamming_range_search,
    hamming_topk,
)
from fewbits.codes._allowed import as_allowed, check_no_mask
from fewbits.codes._arguments import check_k, check_padding, pad
from fewbits.errors import ArgumentError, CodeError
from fewbits.index._ids import as_ids, check_new, check_unique, locate, next_ids, rising
from fewbits.index._int8 import Int8Vectors
from fewbits.index._matrices import as_query_vectors, as_scores, as_vectors
from fewbits.index._rerank import METRICS, Ranked, Stored, asymmetric, best, exact
from fewbits.index._rows import Rows, take

_LOOKED_AT = 100  # codes
_FROZEN = (
    "a frozen index, such as a bundle's, does not change: "
    "copy.copy(index) can be added to and removed from"
)


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

    __slots__ = ("__weakref__", "_frozen", "_rows")
    _frozen: bool
    _rows: Rows

    def __init__(self, codes: CodeArray, ids: ArrayLike | None = None) -> None:
        codes = as_codes(codes)
        _warn_of_bits(codes)
        new = _new_ids(ids, len(codes), np.empty(0, np.int64))
        self._rows, self._frozen = Rows.of(codes, new), False

    def __len__(self) -> int:
        return self._rows.size

    def __repr__(self) -> str:
        width = self.codes.shape[1]
        unit = "byte" if width == 1 else "bytes"
        return f"FlatIndex({len(self):,} codes of {width} {unit})"

    def __setattr__(self, name: str, value: Any) -> None:
        if self.is_frozen:
            raise AttributeError(_FROZEN)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted")

    def __copy__(self) -> Self:
        return self._new(self._rows.shared())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._new(self._rows.copied())

    def __reduce__(self) -> tuple[Any, ...]:
        rows = self._rows.copied()
        return _restored, (rows.code_room, rows.id_room, self.is_frozen)

    @property
    def codes(self) -> CodeArray:
        """The codes in the order given, read-only."""
        return self._rows.codes

    @property
    def ids(self) -> IdArray:
        """The ids in the order given, read-only."""
        return self._rows.ids

    @property
    def is_frozen(self) -> bool:
        """Whether the index refuses every change."""
        return getattr(self, "_frozen", False)

    def freeze(self) -> Self:
        """Refuse changes from now on, for good.

        Codes that somebody could still write to are copied; memory maps opened for
        reading are not. Threads may search a frozen index at the same time. A copy made
        by `copy.copy` is not frozen, and shares the codes until it is changed.

        Returns
        -------
        self

        Examples
        --------
        >>> import copy
        >>> import numpy as np
        >>> codes = np.array([[0], [3]], np.uint8)
        >>> index = FlatIndex(codes).freeze()
        >>> codes[0] = 255
        >>> index.codes
        array([[0],
               [3]], dtype=uint8)
        >>> len(copy.copy(index).add(codes)), len(index)
        (4, 2)
        """
        if not self.is_frozen:
            self._rows = self._rows.frozen()
            self._frozen = True
        return self

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
            As at construction, when an id is there already, or when the index is
            frozen. The index is unchanged.
        """
        self._check_not_frozen()
        codes = self._checked(codes, "codes")
        new = _new_ids(ids, len(codes), self._rows.by_id[1])
        if len(new):
            self._rows = self._rows.added(codes, new)
        return self

    def remove(self, ids: ArrayLike) -> Self:
        """Forget some ids; the rows after them move up.

        Raises
        ------
        ArgumentError
            When an id is unknown, when the ids could be meant as a mask, see `search`,
            or when the index is frozen. The index is unchanged.
        """
        self._check_not_frozen()
        gone = as_ids(ids)
        check_no_mask(np.asarray(ids), len(self), "ids to remove")
        places = locate(gone, self._rows.by_id[1], "ids to remove")
        self._rows = self._rows.without(self._rows.at(places))
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
            What may be found: a boolean mask over the rows in the order given, or ids,
            which may repeat. Columns of pandas, polars and pyarrow pass where nothing
            is missing. Whole numbers are ids; those that could be meant as a mask are
            refused: bytes (uint8, int8), numbers that are all 0 or 1 and repeat, and as
            many as there are codes, of two values that repeat. So ``[0, 1]`` means two
            ids, even of an index of two codes.

        Returns
        -------
        Neighbours
            ``distances`` int32 and ``ids`` int64, each (n_queries, k).

        Raises
        ------
        CodeError
            When the queries are not packed, or not as wide as the codes.
        ArgumentError
            When `k` is below 1, the mask has another length, an allowed id is not in
            the index, or `allowed` could be either.
        """
        queries = self._checked(queries, "queries")
        distances, places = hamming_topk(
            queries, self._rows.by_id[0], k, allowed=self._mask(allowed)
        )
        return Neighbours(distances, take(self._rows.by_id[1], places))

    def range_search(
        self, queries: CodeArray, radius: int, *, allowed: ArrayLike | None = None
    ) -> RangeSearchResult:
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
        RangeSearchResult
            ``offsets`` (n_queries + 1,), ``distances`` int32 and ``ids`` int64.
        """
        queries = self._checked(queries, "queries")
        offsets, distances, places = hamming_range_search(
            queries, self._rows.by_id[0], radius, allowed=self._mask(allowed)
        )
        return RangeSearchResult(offsets, distances, take(self._rows.by_id[1], places))

    def search_reranked(
        self,
        queries: CodeArray,
        k: int,
        *,
        scores: ArrayLike | None = None,
        vectors: ArrayLike | Int8Vectors | None = None,
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
        vectors : array-like of shape (n, n_features) or Int8Vectors, default=None
            A vector for each row of the index, in the order given; float16, float32 or
            a memory map of such. Only the rows of finalists are read; other dtypes and
            layouts are converted, which takes several times as long.
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
        pair = _vectors(vectors, query_vectors, len(self), len(queries), metric)
        if bits is None and pair is None:
            raise ArgumentError("re-ranking needs scores, or vectors and query_vectors")
        wanted = max(1, min(shortlist, len(self)))
        check_padding(len(queries), k, min(k, wanted))
        mask, codes = self._mask(allowed), self._rows.by_id[0]
        places = hamming_topk(queries, codes, wanted, allowed=mask).ids
        if bits is not None:
            passed = finalists if pair else k
            distances, places = best(asymmetric(bits, codes, places), places, passed)
        if pair is not None:
            distances = exact(*pair, self._rows.at(places), metric)
            distances, places = best(distances, places, k)
        return Ranked(
            pad(distances, k, np.inf), pad(take(self._rows.by_id[1], places), k)
        )

    def _new(self, rows: Rows) -> Self:
        new = object.__new__(type(self))
        new._rows, new._frozen = rows, False
        return new

    def _check_not_frozen(self) -> None:
        if self.is_frozen:
            raise ArgumentError(_FROZEN)

    def _checked(self, codes: CodeArray, name: str) -> CodeArray:
        codes, width = as_codes(codes), self.codes.shape[1]
        if codes.shape[1] != width:
            raise CodeError(
                f"{name} have {codes.shape[1]} bytes per code, the index has {width}"
            )
        return codes

    def _mask(self, allowed: ArrayLike | None) -> NDArray[np.bool_] | None:
        """Return which places may be found."""
        if allowed is None:
            return None
        chosen, order = as_allowed(allowed, len(self)), self._rows.order
        if chosen.dtype == np.bool_:
            return chosen if order is None else chosen[order]
        mask = np.zeros(len(self), np.bool_)
        known = self._rows.by_id[1]
        mask[locate(as_ids(chosen, "allowed"), known, "allowed")] = True
        return mask


def _restored(codes: CodeArray, ids: IdArray, frozen: bool) -> FlatIndex:
    """Return what was pickled."""
    index: FlatIndex = object.__new__(FlatIndex)
    index._rows, index._frozen = Rows.of(codes, ids), False
    return index.freeze() if frozen else index


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


def _scores(scores: ArrayLike | None, queries: CodeArray) -> NDArray[np.float32] | None:
    return None if scores is None else as_scores(scores, *queries.shape)


def _vectors(
    vectors: ArrayLike | Int8Vectors | None,
    query_vectors: ArrayLike | None,
    n: int,
    n_queries: int,
    metric: str,
) -> tuple[NDArray[np.float64], Stored] | None:
    """Return (query vectors, vectors) when both are given."""
    check_choice(metric, "metric", METRICS)
    if vectors is None and query_vectors is None:
        return None
    if vectors is None or query_vectors is None:
        missing = "vectors" if vectors is None else "query_vectors"
        raise ArgumentError(f"comparing vectors needs {missing} too")
    if isinstance(vectors, Int8Vectors):
        stored: Stored = vectors
        if len(vectors) != n:
            raise ArgumentError(f"vectors must have {n} rows, got {len(vectors)}")
    else:
        stored = as_vectors(vectors, n)
    return as_query_vectors(query_vectors, n_queries, stored.shape[1]), stored


def _at_least(k: int, value: int | None, default: int, name: str) -> int:
    return max(k, default if value is None else check_k(value, name))
