"""Vectors that re-rank a shortlist, in other forms than a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._arrow import as_array
from fewbits._frozen import Immutable, frozen_array
from fewbits._rank_select import RankSelect
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError, FeatureError

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

BLOCK = 32  # numbers that share a scale and an offset, as the kernels have it
_ENTRIES = 1 << 20  # of vectors looked at at once
_LARGEST = 1e150  # its square is a float64


@final
class Int8Vectors(Immutable):
    """Scalar quantization to 8 bits, with a scale and an offset for each 32 numbers.

    Number ``j`` of vector ``i`` is ``values[i, j] * scale + offset``, where ``scale,
    offset = blocks[i, j // 32]``. This takes 1.25 bytes a number; recall@10 of a
    re-ranked shortlist was within .002 of float32's on ICD-10. Distances are those
    between float queries and these numbers. Features of different scales should be
    scaled first, since those of a block share a quantization step.

    Parameters
    ----------
    values : ndarray of shape (n, n_features), dtype int8
    blocks : ndarray of shape (n, ceil(n_features / 32), 2), dtype float32
        Memory maps opened for reading are not copied. A vector whose scales or offsets
        are not finite is refused when it is compared. Both stay, read-only, as
        attributes of their names.

    Raises
    ------
    FeatureError
        When an array has another shape or dtype.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(3, 40)).astype(np.float32)
    >>> vectors = Int8Vectors.from_vectors(X)
    >>> vectors
    Int8Vectors(3 vectors of 40 features)
    >>> bool(np.abs(vectors.to_float() - X).max() <= vectors.blocks[..., 0].max())
    True
    >>> same = Int8Vectors(vectors.values, vectors.blocks)
    >>> np.array_equal(same.to_float(), vectors.to_float())
    True
    """

    def __init__(self, values: NDArray[np.int8], blocks: Float32Array) -> None:
        _check(values, "values", np.int8, 2)
        _check(blocks, "blocks", np.float32, 3)
        n, n_features = values.shape
        expected = (n, -(-n_features // BLOCK), 2)
        if not n_features or blocks.shape != expected:
            raise FeatureError(
                f"blocks of values of shape {values.shape} must have shape {expected}, "
                f"and a feature or more, got {blocks.shape}"
            )
        self.values = frozen_array(np.ascontiguousarray(values))
        self.blocks = frozen_array(np.ascontiguousarray(blocks))
        self.shape: tuple[int, int] = n, n_features

    @classmethod
    def from_vectors(cls, X: ArrayLike) -> Self:
        """Quantise vectors.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Real numbers within 1e37. Read once, a few rows at a time.

        Raises
        ------
        FeatureError
            When `X` is not a matrix of such numbers.
        """
        vectors = as_vectors(X)
        n, d = vectors.shape
        values = np.empty((n, d), np.int8)
        blocks = np.empty((n, -(-d // BLOCK), 2), np.float32)
        for span in spans(n, max(1, _ENTRIES // d)):
            part = vectors[span].astype(np.float64)
            check_finite(part, "vectors", np.arange(n)[span], 1e37)
            for b in range(blocks.shape[1]):
                columns = slice(b * BLOCK, (b + 1) * BLOCK)
                steps, blocks[span, b] = _quantised(part[:, columns])
                values[span, columns] = steps
        return cls(values, blocks)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        n, n_features = self.shape
        return f"Int8Vectors({n:,} vectors of {n_features:,} features)"

    def to_float(self, rows: IdArray | slice | None = None) -> Float32Array:
        """Return the vectors, or some `rows` of them, as float32.

        The product and the sum are rounded to float32 each, as in distances.
        """
        chosen = slice(None) if rows is None else rows
        values = self.values[chosen].astype(np.float32)
        blocks = np.repeat(self.blocks[chosen], BLOCK, axis=1)[:, : values.shape[1]]
        result: Float32Array = values * blocks[..., 0] + blocks[..., 1]
        return result


def _quantised(X: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return a block of each vector in steps, and its scale and offset.

    These are fitted anew to the steps, by least squares: then the error of a vector is
    orthogonal to the vector, which lowers the error of dot products with neighbours.
    """
    low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
    scale = (high - low) / 255
    wide = scale > np.finfo(np.float32).tiny
    steps = np.rint((X - low) / np.where(wide, scale, 1)) - 128
    steps = np.where(wide, np.clip(steps, -128, 127), 0)
    centred = steps - steps.mean(axis=1, keepdims=True)
    square = np.square(centred).sum(axis=1, keepdims=True)
    product = (centred * X).sum(axis=1, keepdims=True)
    fitted = np.where(wide, product / np.where(square > 0, square, 1), 0)
    offset = X.mean(axis=1, keepdims=True) - fitted * steps.mean(axis=1, keepdims=True)
    return steps, np.hstack([fitted, offset])


def _check(array: Any, name: str, dtype: Any, ndim: int) -> None:
    if isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == ndim:
        return
    got = getattr(array, "dtype", type(array).__name__)
    raise FeatureError(
        f"{name} must be an array of {ndim} dimensions and dtype {np.dtype(dtype)}, "
        f"got {got} and shape {np.shape(array)}"
    )


@dataclass(frozen=True, eq=False, repr=False)
class VectorPart:
    """A run of vectors.

    `live` is a mask of those that belong to the collection, None where all do. `check`
    is called with positions before their vectors are read, and raises where these are
    damaged.
    """

    vectors: NDArray[Any] | Int8Vectors
    live: NDArray[np.bool_] | None = None
    check: Callable[[IdArray], None] | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    def __len__(self) -> int:
        if self.live is None:
            return len(self.vectors)
        return int(np.count_nonzero(self.live))

    @cached_property
    def _ranks(self) -> RankSelect:
        return RankSelect(self.live)

    def at(self, ranks: IdArray) -> IdArray:
        """Turn ranks among those that belong into positions to read; -1 stays."""
        positions = self._ranks.select(ranks)
        if self.check is not None:
            self.check(np.unique(positions[positions >= 0]))
        return positions


class VectorParts:
    """Several runs of vectors, whose positions count through all that belong.

    All are of the kind, dtype and number of features of the `first`.
    """

    def __init__(self, parts: Sequence[VectorPart]) -> None:
        runs = [part.vectors for part in parts]
        dtypes = [None if isinstance(x, Int8Vectors) else x.dtype for x in runs]
        if (
            len({(x.shape[1], dtype) for x, dtype in zip(runs, dtypes, strict=True)})
            != 1
        ):
            raise ArgumentError(
                "parts must be one or more, of one kind, dtype and number of features"
            )
        self.first = parts[0].vectors
        self._parts = tuple(parts)
        self._starts = tuple(accumulate(map(len, parts), initial=0))
        self.shape: tuple[int, int] = self._starts[-1], self.first.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"VectorParts({len(self):,} vectors of {self.shape[1]:,} features)"

    def inside(
        self, positions: IdArray
    ) -> Sequence[tuple[NDArray[Any] | Int8Vectors, IdArray]]:
        """Return for each run where in it `positions` are, -1 for those elsewhere."""
        runs = []
        ends = zip(self._parts, pairwise(self._starts), strict=True)
        for part, (start, stop) in ends:
            here = (positions >= start) & (positions < stop)
            if here.any():
                inside = part.at(np.where(here, positions - start, -1))
                runs.append((part.vectors, inside))
        return runs

    def take(self, positions: IdArray) -> NDArray[Any]:
        """Return the vectors at positions as floats, in the dtype that is stored."""
        chosen = np.asarray(positions)
        dtype = np.float32 if isinstance(self.first, Int8Vectors) else self.first.dtype
        floats = np.empty((len(chosen), self.shape[1]), dtype)
        for vectors, inside in self.inside(chosen):
            here = inside >= 0
            if isinstance(vectors, Int8Vectors):
                floats[here] = vectors.to_float(inside[here])
            else:
                floats[here] = vectors[inside[here]]
        return floats


@final
class Corrections(Immutable):
    """One-byte factor and offset of each row that correct asymmetric distances.

    They turn an asymmetric distance ``a`` into ``offset + factor * (a - s) + s``, where
    ``s`` is half the sum of ``|score|``.

    Parameters
    ----------
    values : ndarray of shape (n, 2), dtype uint8
        Those of the factor and of the offset of each row; kept as a read-only
        attribute.
    table : ndarray of shape (256, 2), dtype float32
        The factor and the offset that each byte stands for.

    Raises
    ------
    ArgumentError
        When an array has another shape or dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import AdditiveCodes
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> encoder = AdditiveCodes(32, correction=True, random_state=0).fit(X).encoder_
    >>> encoder.corrections(X, encoder.encode(X))
    Corrections(200 rows)
    """

    def __init__(self, values: NDArray[np.uint8], table: Float32Array) -> None:
        for array, name, dtype, shape in (
            (values, "values", np.uint8, (len(values), 2)),
            (table, "table", np.float32, (256, 2)),
        ):
            if array.dtype != dtype or array.shape != shape:
                raise ArgumentError(
                    f"{name} of corrections must be {np.dtype(dtype)} of shape "
                    f"{shape}, got {array.dtype} of shape {array.shape}"
                )
        self.values = frozen_array(np.ascontiguousarray(values))
        self._table = frozen_array(np.ascontiguousarray(table))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Corrections({len(self):,} rows)"

    @property
    def n_bytes(self) -> int:
        """Bytes of a row."""
        return 2

    def apply(
        self, distances: Float32Array, scores: Float32Array, positions: IdArray
    ) -> None:
        """Correct asymmetric distances of queries to codes; those at -1 stay.

        Parameters
        ----------
        distances : ndarray of shape (n_queries, m), dtype float32
            Changed in place.
        scores : ndarray of shape (n_queries, n_bits), dtype float32
        positions : ndarray of shape (n_queries, m), dtype int64
        """
        is_hit = positions >= 0
        bytes_of = self.values[positions[is_hit]]
        half = np.abs(scores).sum(axis=1, keepdims=True, dtype=np.float64) / 2
        half = np.broadcast_to(half.astype(np.float32), positions.shape)[is_hit]
        moved = self._table[bytes_of[:, 0], 0] * (distances[is_hit] - half) + half
        distances[is_hit] = moved + self._table[bytes_of[:, 1], 1]


def as_matrix(X: ArrayLike, name: str, n: int | None = None) -> NDArray[Any]:
    """Return a matrix of real numbers, of `n` rows; memory maps stay memory maps."""
    array = as_array(X, name)
    if array.ndim != 2:
        raise FeatureError(
            f"{name} must be a matrix of real numbers, got shape {array.shape}"
        )
    if n is not None and len(array) != n:
        raise ArgumentError(f"{name} must have {n} rows, got {len(array)}")
    return array


def as_vectors(X: ArrayLike, n: int | None = None) -> NDArray[Any]:
    """Return vectors to compare with, of one feature or more."""
    array = as_matrix(X, "vectors", n)
    if not array.shape[1]:
        raise FeatureError(f"vectors must have features, got shape {array.shape}")
    return array


def check_finite(
    X: NDArray[Any], name: str, rows: IdArray, largest: float = _LARGEST
) -> None:
    """Refuse NaN, infinity, and what lies beyond the largest; `rows` number them."""
    # NaN fails the comparison as well.
    finite = (np.abs(X.astype(np.float64, copy=False)) <= largest).all(axis=1)
    if not finite.all():
        raise not_finite(name, rows[np.argmin(finite)])


def not_finite(name: str, row: Any) -> FeatureError:
    return FeatureError(f"{name} must be finite, got NaN or infinity in row {row}")
