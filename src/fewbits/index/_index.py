"""Containers of codes that answer nearest-neighbour queries exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Self, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._allowed import as_allowed, check_no_mask
from fewbits._checks import check_k, check_radius
from fewbits._frozen import read_only
from fewbits._padding import check_padding, pad
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits._warnings import warn_user
from fewbits.codes import Neighbours, RangeSearchResult, as_codes
from fewbits.errors import ArgumentError, ArtefactError, CodeError, FewbitsError
from fewbits.index._chunk import Chunk, Mask, ids_of_new, rising, whole_ids
from fewbits.index._files import read_index, write_index
from fewbits.index._near_groups import Confirm, Groups, near_groups
from fewbits.index._pairs import Pairs, near_pairs, ordered_pairs
from fewbits.index._rerank import (
    Offsets,
    RerankedNeighbours,
    add_offsets,
    as_scores,
    as_vector_pair,
    asymmetric,
    best,
    exact,
    usable_offsets,
)
from fewbits.index._vectors import Corrections, Int8Vectors, VectorParts

Bits = NDArray[np.uint8]  # a mask, one bit a code, most significant first

AnyIndex = TypeVar("AnyIndex", bound="Index")

_PLACE_BITS = 44  # that number the codes of all chunks; distances have 17
_SMALL = 1 << 16  # codes: up to here a chunk grows, beyond it a new one begins


class Index(ABC):
    """Codes with ids that answer nearest-neighbour queries exactly.

    Every index gives the answers of `FlatIndex`, ordered by (distance, id), and differs
    in how long it takes. A subclass implements `_topk` and `_within`, which search one
    chunk, and `_configure`, which keeps its parameters in slots of their names; see
    "Adding an index" in CONTRIBUTING.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; may be empty. They are copied, unless nothing can change them: a
        memory map opened for reading is searched where it lies.
    ids : array-like of shape (n,), default=None
        Unique whole numbers from 0 on, in any order; None numbers the codes. Ids that
        do not rise cost a sorted copy of the codes.

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

    __slots__ = (
        "__weakref__",
        "_chunks",
        "_live_bits",
        "_n_live",
        "_room",
        "_starts",
    )
    #: One or more; the ids of each are larger than all of those before. Positions count
    #: through all chunks, so that (distance, position) orders as (distance, id) does.
    _chunks: tuple[Chunk, ...]
    _starts: list[int]
    _live_bits: list[Bits | None]
    _n_live: int
    #: Arrays of codes and ids that the last chunk is the beginning of, if it may grow
    #: there. They belong to no other index; what a chunk holds stays.
    _room: tuple[CodeArray, IdArray] | None

    def __init__(self, codes: CodeArray, ids: ArrayLike | None = None) -> None:
        codes = as_codes(codes)
        sample = codes[:: max(1, len(codes) // 100)]
        if sample.size >= 100 and sample.max() == 1:  # of one in 128 random bits
            warn_user(
                f"each code holds {codes.shape[1]:,} bytes that are 0 or 1: if these "
                "are bits, pack them (fewbits.codes.pack, or encode in place of "
                "transform), which takes an eighth of the room"
            )
        self._room = None
        self._hold((Chunk.of(codes, ids_of_new(ids, len(codes), -1)),))

    @abstractmethod
    def _configure(self) -> None:
        """Check the parameters of the subclass, and set the slots of their names."""

    @classmethod
    def from_chunks(cls, chunks: Iterable[tuple[Any, ...]], **settings: Any) -> Self:
        """Return an index over several chunks of codes, which are not copied.

        Parameters
        ----------
        chunks : iterable of (codes, ids, live) or (codes, ids, live, tables)
            One at least: packed codes (n, n_bytes) of one width; their ids (n,), int64
            or a range, which rise from one to the next through all chunks; a mask (n,)
            over those that can be found, None for all; and perhaps the
            `fewbits.index.table_files.LazyTables` of the codes.
        **settings
            Further parameters of the index.
        """
        return _new_index(cls, tuple(Chunk(*part) for part in chunks), settings)

    # What it holds

    def __len__(self) -> int:
        return self._n_live

    def __repr__(self) -> str:
        unit = "byte" if self._width == 1 else "bytes"
        return f"{type(self).__name__}({len(self):,} codes of {self._width} {unit})"

    @property
    def codes(self) -> CodeArray:
        """The codes in the order given, read-only."""
        parts = [chunk.inserted()[0] for chunk in self._chunks]
        return parts[0].view() if len(parts) == 1 else read_only(np.concatenate(parts))

    @property
    def ids(self) -> IdArray:
        """The ids in the order given, read-only."""
        parts = [chunk.inserted()[1] for chunk in self._chunks]
        return parts[0].view() if len(parts) == 1 else read_only(np.concatenate(parts))

    def add(self, codes: CodeArray, ids: ArrayLike | None = None) -> Self:
        """Append codes, and return this index.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        ids : array-like of shape (n,), default=None
            Must be new; None continues from the largest. While ids rise, the cost of
            many small additions is that of one large one.

        Raises
        ------
        CodeError, ArgumentError
            As at construction, or when an id is there already. The index is unchanged.
        """
        codes = self._checked(codes, "codes")
        new = ids_of_new(ids, len(codes), self._chunks[-1].last_id)
        existing = new[self._find(new)[1]]
        if existing.size:
            raise ArgumentError(
                f"ids must be new, the index holds {existing[0]} already"
            )
        if len(new):
            self._append(codes, new)
        return self

    def remove(self, ids: ArrayLike) -> Self:
        """Remove codes by their ids; those after them move up.

        Codes are marked first, and their memory is free once half a chunk is gone.

        Parameters
        ----------
        ids : array-like of int

        Raises
        ------
        ArgumentError
            When an id is unknown, or the ids could be meant as a mask, see `search`;
            the index is unchanged.
        """
        gone = whole_ids(ids)
        check_no_mask(np.asarray(ids), len(self), "ids to remove")
        positions = self._positions_of(gone, "ids to remove")
        parts = []
        for chunk, _, local in self._split(positions):
            parts.append(chunk.without(local) if local.size else chunk)
        self._hold(tuple(part for part in parts if len(part)) or (parts[0],))
        return self

    # What it answers

    @abstractmethod
    def _topk(
        self, chunk: Chunk, queries: CodeArray, k: int, mask: Bits | None
    ) -> tuple[DistanceArray, IdArray]:
        """Find the `k` nearest codes of a chunk that a mask of bits allows.

        `k` is 1 to ``len(chunk)``. Returns distances and positions, -1 where fewer
        are allowed; equal distances are ordered by position. Tables that are made of a
        chunk once are kept by ``chunk.tables``.
        """

    @abstractmethod
    def _within(
        self, chunk: Chunk, queries: CodeArray, radius: int, mask: Bits | None
    ) -> RangeSearchResult:
        """Find all codes of a chunk within a radius that a mask of bits allows.

        `radius` is at most the number of bits. Returns positions in place of ids,
        ordered by (distance, position) for each query.
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
            What may be found: a boolean mask over the codes in the order given, or ids;
            these may repeat. Columns of pandas, polars and pyarrow pass where nothing
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
        queries, k = self._checked(queries, "queries"), check_k(k)
        bits = self._live_bits if allowed is None else self._bits(allowed)
        width = k if k <= self._n_live else self._n_live
        if width < k:
            check_padding(len(queries), k, width)
        if len(bits) == 1 and width:
            distances, positions = self._topk(self._chunks[0], queries, width, bits[0])
        else:
            distances, positions = self._nearest(queries, width, bits)
        ids = self._ids_at(positions)
        if width < k:
            distances, ids = pad(distances, k), pad(ids, k)
        return Neighbours(distances, ids)

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
        queries, radius = self._checked(queries, "queries"), check_radius(radius)
        radius = min(radius, 8 * self._width)
        bits = self._live_bits if allowed is None else self._bits(allowed)
        hits = [
            self._within(chunk, queries, radius, mask)
            for chunk, mask in zip(self._chunks, bits, strict=True)
        ]
        if len(hits) == 1:
            ids = self._ids_at(hits[0].ids)
            return RangeSearchResult(hits[0].offsets, hits[0].distances, ids)
        counts = [np.diff(near.offsets) for near in hits]
        query = np.concatenate([np.repeat(np.arange(len(n)), n) for n in counts])
        distances = np.concatenate([near.distances for near in hits])
        pairs = zip(self._chunks, hits, strict=True)
        ids = np.concatenate([chunk.ids_at(near.ids) for chunk, near in pairs])
        # Stable, and the ids of a chunk come after those of the ones before.
        order = np.lexsort((distances, query))
        offsets = np.concatenate([[0], np.cumsum(sum(counts))])
        return RangeSearchResult(offsets, distances[order], ids[order])

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
        masks, radius = self._masks(allowed), check_radius(radius)
        codes, mask = self._by_position(masks)
        pairs = (ordered_pairs if ordered else near_pairs)(codes, radius, mask)
        return (Pairs(near, self._ids_at(positions)) for near, positions in pairs)

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
        >>> groups = index.groups_within(radius=1)
        >>> [ids.tolist() for ids in groups], groups.n_pairs
        ([[0, 2, 3, 4]], 3)
        """
        masks, radius = self._masks(allowed), check_radius(radius)
        codes, mask = self._by_position(masks)
        groups = near_groups(codes, radius, mask, self._ids_at, confirm, max_pairs)
        return replace(groups, members=self._ids_at(groups.members))

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
    ) -> RerankedNeighbours:
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
            distances; or ``encoder.corrections(X, codes)``, in the order given.
        vectors : array-like (n, n_features), Int8Vectors or VectorParts, default=None
            A vector for each code, in the order given; float16, float32 or a memory map
            of such. Only those of the shortlist are read; other dtypes and layouts are
            converted, which takes several times as long.
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
        RerankedNeighbours
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
        queries, k = self._checked(queries, "queries"), check_k(k)
        floats = None if scores is None else as_scores(scores, *queries.shape)
        pair = as_vector_pair(vectors, query_vectors, len(self), len(queries), metric)
        if floats is None and pair is None:
            raise ArgumentError("re-ranking needs scores, or vectors and query_vectors")
        offsets = usable_offsets(offsets, queries, len(self))
        first = (
            max(100, 10 * k) if shortlist is None else check_k(shortlist, "shortlist")
        )
        first = max(k, first)
        last = first if finalists is None else check_k(finalists, "finalists")
        last = max(k, last)
        width = min(first, len(self))
        check_padding(len(queries), k, min(k, width))
        bits = self._live_bits if allowed is None else self._bits(allowed)
        _, positions = self._nearest(queries, width, bits)
        distances = np.empty(positions.shape, np.float32)
        # Where every vector is read, the order before that decides nothing.
        if floats is not None and (pair is None or last < width):
            codes, numbers = self._codes_at(positions)
            distances = asymmetric(floats, codes, numbers)
            if isinstance(offsets, Corrections):
                offsets.apply(distances, floats, self._caller_positions(positions))
            elif offsets is not None:
                add_offsets(distances, offsets, codes, numbers)
            distances, positions = best(
                distances, positions, k if pair is None else last
            )
        if pair is not None:
            distances = exact(*pair, self._caller_positions(positions), metric)
            distances, positions = best(distances, positions, k)
        ids = pad(self._ids_at(positions), k)
        return RerankedNeighbours(pad(distances, k, np.inf), ids)

    # Copies and files

    def __copy__(self) -> Self:
        return _new_index(type(self), self._chunks, self._settings())

    def __reduce__(self) -> tuple[Any, ...]:
        codes, ids = np.array(self.codes), np.array(self.ids)
        return _unpickle, (type(self), codes, ids, self._settings())

    def save(self, path: str | Path) -> None:
        """Write the index to one file: kind, settings, codes and ids.

        The file is a ``.safetensors`` file with a checksum of all it holds. It replaces
        what `path` was only once it is on the disk as a whole.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        OSError
            When the file cannot be written.

        Examples
        --------
        >>> import numpy as np, os, tempfile
        >>> from fewbits.index import FlatIndex, Index
        >>> path = os.path.join(tempfile.mkdtemp(), "codes.index")
        >>> FlatIndex(np.array([[0], [3]], np.uint8), ids=[7, 5]).save(path)
        >>> index = FlatIndex.load(path)
        >>> index.ids, Index.load(path)
        (array([7, 5]), FlatIndex(2 codes of 1 byte))
        """
        write_index(path, type(self).__name__, self._settings(), self.codes, self.ids)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an index that `save` wrote.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Index
            Of this class; ``Index.load`` reads every kind.

        Raises
        ------
        ArtefactError
            When the file holds something else or another kind of index, or is damaged:
            a single bit that changed is found.
        OSError
            When there is no such file, or it may not be read.
        """
        kind, settings, codes, ids = read_index(path)
        kinds = {x.__name__: x for x in (cls, *cls.__subclasses__())}
        if kind not in kinds or kind == Index.__name__:
            raise ArtefactError(
                f"{path} holds an index of kind {kind!r}, not {cls.__name__}"
            )
        try:
            settings.pop("n_substrings", None)  # of earlier versions, for speed alone
            chunks = (Chunk.of(codes, ids_of_new(ids, len(codes), -1)),)
            index: Self = _new_index(kinds[kind], chunks, settings)
        except (FewbitsError, TypeError) as error:
            raise ArtefactError(f"{path} holds no index: {error}") from error
        return index

    # How chunks are searched as one

    def _hold(self, chunks: tuple[Chunk, ...]) -> None:
        self._chunks = chunks
        self._starts = [0, *accumulate(map(len, chunks[:-1]))]
        self._live_bits = [chunk.live_bits for chunk in chunks]
        self._n_live = sum(chunk.n_live for chunk in chunks)

    @property
    def _width(self) -> int:
        return int(self._chunks[0].codes.shape[1])

    def _settings(self) -> dict[str, Any]:
        """Return the parameters of a subclass, which its slots hold."""
        return {name: getattr(self, name) for name in type(self).__slots__}

    def _checked(self, codes: CodeArray, name: str) -> CodeArray:
        width = self._chunks[0].codes.shape[1]
        if (
            type(codes) is np.ndarray
            and codes.dtype == np.uint8
            and codes.ndim == 2
            and codes.shape[1] == width
            and codes.flags.c_contiguous
        ):
            return codes
        codes = as_codes(codes)
        if codes.shape[1] != width:
            raise CodeError(
                f"{name} have {codes.shape[1]} bytes per code, the index has {width}"
            )
        return codes

    def _nearest(
        self, queries: CodeArray, k: int, bits: Sequence[Bits | None]
    ) -> tuple[DistanceArray, IdArray]:
        """Return the distances and positions of the `k` nearest of all chunks."""
        keys = []
        for chunk, start, mask in zip(self._chunks, self._starts, bits, strict=True):
            if len(chunk) and k:
                near, at = self._topk(chunk, queries, min(k, len(chunk)), mask)
                if len(self._chunks) == 1:
                    return near, at
                # One number that sorts by (distance, position). Padding, -1 and -1, is
                # negative, so that it comes last as uint64.
                keys.append((near.astype(np.int64) << _PLACE_BITS) + (at + start))
        if not keys:
            shape = len(queries), 0
            return np.empty(shape, np.int32), np.empty(shape, np.int64)
        key = np.concatenate(keys, axis=1)
        key.view(np.uint64).sort(axis=1)
        key = key[:, :k]
        distances = (key >> _PLACE_BITS).astype(np.int32)
        positions = key & ((1 << _PLACE_BITS) - 1)
        none = key < 0
        distances[none] = positions[none] = -1
        return distances, positions

    def _masks(self, allowed: ArrayLike | None) -> list[Mask | None]:
        """Return which positions of each chunk may be found, None for all."""
        chunks = self._chunks
        if allowed is None:
            return [chunk.live for chunk in chunks]
        chosen = as_allowed(allowed, len(self))
        if chosen.dtype == np.bool_:
            ends = list(accumulate(chunk.n_live for chunk in chunks))
            masks = np.split(chosen, ends[:-1])
            return [s.mask_of(m) for s, m in zip(chunks, masks, strict=True)]
        mask = np.zeros(sum(map(len, chunks)), np.bool_)
        mask[self._positions_of(whole_ids(chosen, "allowed"), "allowed")] = True
        return [*np.split(mask, self._starts[1:])]

    def _bits(self, allowed: ArrayLike | None) -> list[Bits | None]:
        masks = self._masks(allowed)
        return [None if mask is None else np.packbits(mask) for mask in masks]

    def _find(self, ids: IdArray) -> tuple[IdArray, Mask]:
        """Return the position of each id, and whether it is there."""
        positions, is_held = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        for chunk, start in zip(self._chunks, self._starts, strict=True):
            local, here = chunk.find(ids)
            positions = np.where(here, local + start, positions)
            is_held = is_held | here
        return positions, is_held

    def _positions_of(self, ids: IdArray, name: str) -> IdArray:
        positions, is_held = self._find(ids)
        if not is_held.all():
            unknown = ids[~is_held]
            raise ArgumentError(
                f"{name} must be ids of the index, {unknown.size} are not: "
                f"{unknown[0]} is the first"
            )
        return positions

    def _split(self, positions: IdArray) -> Iterator[tuple[Chunk, Mask, IdArray]]:
        """Yield each chunk, which of the positions lie in it, and where there."""
        for chunk, start in zip(self._chunks, self._starts, strict=True):
            inside = (positions >= start) & (positions < start + len(chunk))
            yield chunk, inside, positions[inside] - start

    def _ids_at(self, positions: IdArray) -> IdArray:
        """Return the ids at positions; -1 stays."""
        if len(self._chunks) == 1:
            (chunk,) = self._chunks
            if chunk.first_id == 0:
                return positions
            return np.where(positions < 0, -1, chunk.ids_at(positions))
        ids = np.full(positions.shape, -1, np.int64)
        for chunk, inside, local in self._split(positions):
            ids[inside] = chunk.ids_at(local)
        return ids

    def _caller_positions(self, positions: IdArray) -> IdArray:
        """Return where codes at positions are in a caller's arrays; -1 stays."""
        if len(self._chunks) == 1:
            return self._chunks[0].caller_positions(positions)
        numbers, before = np.full(positions.shape, -1, np.int64), 0
        for chunk, inside, local in self._split(positions):
            numbers[inside] = chunk.caller_positions(local) + before
            before += chunk.n_live
        return numbers

    def _codes_at(self, positions: IdArray) -> tuple[CodeArray, IdArray]:
        """Return codes, and where among them the codes at positions are; -1 stays."""
        if len(self._chunks) == 1:
            return self._chunks[0].codes, positions
        codes = np.zeros((positions.size, self._width), np.uint8)
        for chunk, inside, local in self._split(positions.ravel()):
            codes[inside] = chunk.codes[local]
        numbers = np.arange(positions.size).reshape(positions.shape)
        return codes, np.where(positions < 0, -1, numbers)

    def _by_position(
        self, masks: Sequence[Mask | None]
    ) -> tuple[CodeArray, Mask | None]:
        """Return all codes in one array, and one mask; None for all."""
        if len(self._chunks) == 1:
            return self._chunks[0].codes, masks[0]
        codes = np.concatenate([chunk.codes for chunk in self._chunks])
        if all(mask is None for mask in masks):
            return codes, None
        whole = [
            np.ones(len(chunk), np.bool_) if mask is None else mask
            for chunk, mask in zip(self._chunks, masks, strict=True)
        ]
        return codes, np.concatenate(whole)

    # How it grows

    def _append(self, codes: CodeArray, ids: IdArray) -> None:
        lowest, parts = int(ids.min()), list(self._chunks)
        last = parts[-1]
        follow = not len(last) or int(last.ids[-1]) < lowest
        if follow and len(last) > _SMALL:
            parts.append(Chunk.of(codes.copy(), ids.copy()))
        elif follow and last.insertion is None and rising(ids):
            parts[-1] = self._grown(last, codes, ids)
        else:
            # Chunks with ids that are larger than a new one are joined with it.
            later = [parts.pop()]
            while parts and len(parts[-1]) and int(parts[-1].ids[-1]) > lowest:
                later.insert(0, parts.pop())
            parts.append(_joined(later, (codes, ids)))
        # Each is at least twice as long as the next: there are few, and over many
        # additions a code is copied a few times only.
        while len(parts) > 1 and len(parts[-2]) < 2 * len(parts[-1]):
            parts[-2:] = [_joined(parts[-2:])]
        self._hold(tuple(parts))

    def _grown(self, last: Chunk, codes: CodeArray, ids: IdArray) -> Chunk:
        """Append to the last chunk; while there is room, nothing is copied."""
        start, size = len(last), len(last) + len(ids)
        room = self._room
        base = getattr(last.ids, "base", None)  # a range has none
        if room is None or base is not room[1] or size > len(room[1]):
            capacity = max(size, 2 * start)
            room = (
                np.empty((capacity, self._width), np.uint8),
                np.empty(capacity, np.int64),
            )
            room[0][:start] = last.codes
            room[1][:start] = last.ids_at(np.arange(start))
            self._room = room
        room[0][start:size], room[1][start:size] = codes, ids
        live = None
        if last.live is not None:
            live = np.append(last.live, np.ones(len(ids), np.bool_))
        return Chunk(room[0][:size], room[1][:size], live)


def scan_nearest(
    chunk: Chunk, queries: CodeArray, k: int, mask: Bits | None
) -> tuple[DistanceArray, IdArray]:
    """Compare queries with every code of a chunk, as `Index._topk` says."""
    distances = np.empty((len(queries), k), np.int32)
    positions = np.empty((len(queries), k), np.int64)
    threads = _kernels.num_threads()
    _kernels.hamming_topk(queries, chunk.codes, mask, distances, positions, threads)
    return distances, positions


def scan_within(
    chunk: Chunk, queries: CodeArray, radius: int, mask: Bits | None
) -> RangeSearchResult:
    """Compare queries with every code of a chunk, as `Index._within` says."""
    threads = _kernels.num_threads()
    hits = _kernels.HammingHits(queries, chunk.codes, radius, mask, threads)
    offsets = np.zeros(len(queries) + 1, np.int64)
    hits.counts(offsets[1:])
    np.cumsum(offsets, out=offsets)
    distances = np.empty(offsets[-1], np.int32)
    positions = np.empty(offsets[-1], np.int64)
    hits.write(distances, positions)
    return RangeSearchResult(offsets, distances, positions)


@final
class FlatIndex(Index):
    """Exact search by a scan of all codes, the reference for the other indexes.

    Answers are ordered by (distance, id), so they depend neither on the order in which
    codes were added, nor on batches or threads.

    Parameters and errors are those of `Index`.

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

    __slots__ = ()

    def _configure(self) -> None:
        """Take no parameters."""

    _topk = staticmethod(scan_nearest)
    _within = staticmethod(scan_within)


def _joined(
    parts: Sequence[Chunk], more: tuple[CodeArray, IdArray] | None = None
) -> Chunk:
    """Return chunks and more codes and ids as one, without what is removed."""
    pieces = [part.inserted() for part in parts]
    if more is not None:
        pieces.append(more)
    codes, ids = zip(*pieces, strict=True)
    return Chunk.of(np.concatenate(codes), np.concatenate(ids))


def _new_index(
    kind: type[AnyIndex], chunks: tuple[Chunk, ...], settings: dict[str, Any]
) -> AnyIndex:
    """Return an index of a kind and its settings over chunks."""
    index: AnyIndex = object.__new__(kind)
    index._room = None
    index._hold(chunks)
    index._configure(**settings)
    return index


def _unpickle(
    kind: type[AnyIndex], codes: CodeArray, ids: IdArray, settings: dict[str, Any]
) -> AnyIndex:
    return _new_index(kind, (Chunk.of(codes, ids),), settings)
