"""Base of every index; a subclass defines how one segment is searched."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_k, check_radius
from fewbits._padding import check_padding, pad
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import Neighbours, RangeSearchResult
from fewbits.index._contents import Contents
from fewbits.index._groups import Confirm, Groups, confirmed_groups, near_groups
from fewbits.index._int8 import Int8Vectors
from fewbits.index._merge import merged_nearest, merged_ranges
from fewbits.index._ordered_pairs import ordered_pairs
from fewbits.index._pairs import FindPairs, Pairs, near_pairs
from fewbits.index._rerank import Ranked
from fewbits.index._reranking import Offsets, Reranking
from fewbits.index._segment import Segment
from fewbits.index._segments import Masks
from fewbits.index._vector_parts import VectorParts


class Index(Contents, ABC):
    """Codes with ids that answer nearest-neighbour queries exactly.

    Every index gives the answers of `FlatIndex`, ordered by (distance, id), and differs
    in how long it takes. A subclass implements `_topk` and `_within`, which search one
    segment; see "Adding an index" in CONTRIBUTING.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; may be empty. They are copied, unless nothing can change them: a
        memory map opened for reading is searched where it lies.
    ids : array-like of shape (n,), default=None
        Unique whole numbers from 0 on, in any order; None numbers the rows. Ids that do
        not rise with the rows cost a sorted copy of the codes.

    Warns
    -----
    UserWarning
        When codes look unpacked, one bit a byte, as ``transform`` of a learner returns
        them: `fewbits.pack` packs them.

    Raises
    ------
    CodeError
        When the codes are not packed.
    ArgumentError
        When the ids are not unique, or not as many as the codes.
    """

    __slots__ = ()

    @abstractmethod
    def _topk(
        self,
        segment: Segment,
        queries: CodeArray,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> Neighbours:
        """Find the `k` nearest of ``segment.codes`` that a mask over them allows.

        `k` is 1 to ``len(segment)``. Returns distances and places, -1 where fewer are
        allowed; equal distances are ordered by place. Tables that are made of a segment
        once are kept by ``segment.tables``.
        """

    @abstractmethod
    def _within(
        self,
        segment: Segment,
        queries: CodeArray,
        radius: int,
        mask: NDArray[np.bool_] | None,
    ) -> RangeSearchResult:
        """Find all of ``segment.codes`` within a radius that a mask over them allows.

        Returns places, ordered by (distance, place) for each query.
        """

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
        masks, k = self._segments.masks(allowed), check_k(k)
        check_padding(len(queries), k, min(k, len(self)))
        distances, places = self._nearest(queries, k, masks)
        return Neighbours(pad(distances, k), pad(self._segments.ids_at(places), k))

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
        masks, radius = self._segments.masks(allowed), check_radius(radius)
        found = [
            self._within(part, queries, radius, mask)
            for part, mask in zip(self._segments.parts, masks, strict=True)
        ]
        offsets, distances, places = merged_ranges(found, self._segments.starts)
        return RangeSearchResult(offsets, distances, self._segments.ids_at(places))

    def pairs_within(
        self,
        radius: int,
        *,
        allowed: ArrayLike | None = None,
        ordered: bool = False,
    ) -> Iterator[Pairs]:
        """Find all pairs of codes that differ in at most `radius` bits.

        Pairs come in blocks of what was found together, so that not all need to fit in
        memory: beside the codes, it takes about four times as much as they do, and some
        tens of megabytes. Codes are sorted by some of their bits, so small radii take
        far less time than comparing every code with every other.

        Parameters
        ----------
        radius : int
            0 or more.
        allowed : array-like, default=None
            Look at these codes only, see `search`.
        ordered : bool, default=False
            Give pairs in the order of their ids. It takes two to three times as long
            where there are many more pairs than codes.

        Yields
        ------
        Pairs
            ``distances`` int32 (n_pairs,) and ``ids`` int64 (n_pairs, 2), the smaller
            first; in all blocks together each pair once, in no particular order unless
            their order was asked for.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.index import FlatIndex
        >>> index = FlatIndex(np.array([[0], [1], [255], [254]], np.uint8))
        >>> [pairs.ids.tolist() for pairs in index.pairs_within(radius=1)]
        [[[0, 1], [2, 3]]]
        """
        masks, radius = self._segments.masks(allowed), check_radius(radius)
        return self._pairs(radius, masks, ordered_pairs if ordered else near_pairs)

    def _pairs(self, radius: int, masks: Masks, find: FindPairs) -> Iterator[Pairs]:
        segments = self._segments
        codes, mask = segments.by_place(masks)
        for distances, places in find(codes, radius, mask):
            yield Pairs(distances, segments.ids_at(places))

    def groups_within(
        self,
        radius: int,
        *,
        allowed: ArrayLike | None = None,
        confirm: Confirm | None = None,
        max_pairs: int | None = None,
    ) -> Groups:
        """Join codes that differ in at most `radius` bits to groups.

        No pair is kept, and equal codes are joined without any, so that there may be
        far more pairs than fit in memory: beside 64-bit codes, it takes less than five
        times as much as they do.

        Parameters
        ----------
        radius : int
            0 or more.
        allowed : array-like, default=None
            Look at these codes only, see `search`.
        confirm : callable, default=None
            From ids of pairs, (n_pairs, 2), to a mask of those that connect a group.
            Then pairs of equal codes are looked at one by one, too.
        max_pairs : int, default=None
            More pairs of different codes are an error, which bounds the time; with
            `confirm`, those of equal codes count, too. None takes any number.

        Returns
        -------
        Groups

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.index import FlatIndex
        >>> index = FlatIndex(np.array([[0], [255], [1], [3], [64]], np.uint8))
        >>> found = index.groups_within(radius=1)
        >>> [ids.tolist() for ids in found], found.n_pairs
        ([[0, 2, 3, 4]], 3)
        """
        masks, radius = self._segments.masks(allowed), check_radius(radius)
        segments = self._segments
        codes, mask = segments.by_place(masks)
        if confirm is None:
            found = near_groups(codes, radius, mask, max_pairs)
        else:
            of_ids = confirm
            found = confirmed_groups(
                codes,
                radius,
                mask,
                lambda places: of_ids(segments.ids_at(places)),
                max_pairs,
            )
        return replace(found, members=segments.ids_at(found.members))

    def search_reranked(
        self,
        queries: CodeArray,
        k: int,
        *,
        scores: ArrayLike | None = None,
        offsets: Offsets | None = None,
        vectors: ArrayLike | Int8Vectors | VectorParts | None = None,
        query_vectors: ArrayLike | None = None,
        metric: str = "euclidean",
        shortlist: int | None = None,
        finalists: int | None = None,
        allowed: ArrayLike | None = None,
    ) -> Ranked:
        """Search by Hamming distance, then order what was found by a better distance.

        The `shortlist` nearest codes are ordered by the distance between vectors if
        these are given, else by the asymmetric distance of `scores`. With both and
        `finalists`, scores choose so many of the shortlist, and only their vectors are
        read.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_bytes), dtype uint8
        k : int
            At least 1; where fewer codes can be found, the rest is inf and -1.
        scores : array-like of shape (n_queries, n_bits), default=None
            The queries before thresholding, ``encoder.query_scores(X)``.
        offsets : callable or Corrections, default=None
            ``encoder.offsets``, from codes to what is added to their asymmetric
            distances; or ``encoder.corrections(X, codes)`` of the rows, in their order.
        vectors : array-like (n, n_features), Int8Vectors or VectorParts, default=None
            A vector for each row of the index, in the order given; float16, float32 or
            a memory map of such. Only rows of the shortlist are read; other dtypes and
            layouts are converted, which takes several times as long.
        query_vectors : array-like of shape (n_queries, n_features), default=None
        metric : {"euclidean", "cosine", "dot"}, default="euclidean"
            How vectors are compared.
        shortlist : int or None, default=None
            None means 10 `k`, but 100 at least. Less than `k` counts as `k`.
        finalists : int or None, default=None
            With both `scores` and `vectors`: how many of the shortlist have their
            vectors read. None reads all of them. Less than `k` counts as `k`.
        allowed : array-like, default=None
            As in `search`.

        Returns
        -------
        Ranked
            ``distances`` float32 of the last step and ``ids`` int64, each
            (n_queries, k), ordered by (distance, id). The asymmetric distance is the
            sum of ``|score|`` over scores whose sign is not the bit; the others are the
            Euclidean distance, 1 - cosine, and minus the dot product.

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
        >>> from fewbits.index import FlatIndex
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
        plan = Reranking.of(
            k, (queries, len(self)), scores, (vectors, query_vectors), metric, offsets
        ).sized(shortlist, finalists)
        wanted = max(1, min(plan.shortlist, len(self)))
        check_padding(len(queries), k, min(k, wanted))
        places = self._nearest(queries, wanted, self._segments.masks(allowed))[1]
        distances, places = plan.ranked(self._segments, places)
        ids = self._segments.ids_at(places)
        return Ranked(pad(distances, k, np.inf), pad(ids, k))

    def _nearest(
        self, queries: CodeArray, k: int, masks: Masks
    ) -> tuple[NDArray[np.int32], IdArray]:
        """Return distances and places among all segments, in at most `k` columns."""
        segments = self._segments
        if len(masks) == 1 and k <= len(self):
            return self._topk(segments.parts[0], queries, k, masks[0])
        found = [
            (start, self._topk(part, queries, min(k, len(part)), mask))
            for part, start, mask in zip(
                segments.parts, segments.starts, masks, strict=False
            )
            if len(part)
        ]
        return merged_nearest(found, len(queries), min(k, len(self)))
