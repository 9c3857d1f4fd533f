"""Vectors in a quarter of the room, for ranking a shortlist again."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._frozen import frozen_array
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import FeatureError
from fewbits.index._matrices import as_vectors, check_finite

Float32Array = NDArray[np.float32]

_LEVELS = 255  # steps between -128 and 127
_ENTRIES = 1 << 20  # of vectors looked at at once


@final
class Int8Vectors:
    """Vectors as one byte a number, with a scale and an offset for each feature.

    Number ``j`` of a vector is ``values[i, j] * scale[j] + offset[j]``, which is at
    most half a scale from the number it was made of. Distances are those between float
    queries and these numbers.

    Parameters
    ----------
    values : ndarray of shape (n, n_features), dtype int8
        May be a memory map opened for reading, which is not copied.
    scale, offset : array-like of shape (n_features,)
        Finite; kept as float32.

    Raises
    ------
    FeatureError
        When an array has another shape or dtype, or a number is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 10.0], [1.0, 30.0], [0.5, 20.0]], np.float32)
    >>> vectors = Int8Vectors.from_vectors(X)
    >>> vectors
    Int8Vectors(3 vectors of 2 features)
    >>> np.abs(vectors.to_float() - X).max(axis=0) <= 0.51 * vectors.scale
    array([ True,  True])
    >>> same = Int8Vectors(vectors.values, vectors.scale, vectors.offset)
    >>> np.array_equal(same.to_float(), vectors.to_float())
    True
    """

    __slots__ = ("_offset", "_scale", "_values")
    _values: NDArray[np.int8]
    _scale: Float32Array
    _offset: Float32Array

    def __init__(
        self, values: NDArray[np.int8], scale: ArrayLike, offset: ArrayLike
    ) -> None:
        if (
            not isinstance(values, np.ndarray)
            or values.dtype != np.int8
            or values.ndim != 2
            or not values.shape[1]
        ):
            got = getattr(values, "dtype", type(values).__name__)
            raise FeatureError(
                "values must be an int8 matrix with a column per feature, "
                f"got {got} and shape {np.shape(values)}"
            )
        own = super().__setattr__
        own("_values", frozen_array(np.ascontiguousarray(values)))
        own("_scale", _parameter(scale, values.shape[1], "scale"))
        own("_offset", _parameter(offset, values.shape[1], "offset"))
        ends = np.array([[-128], [127]]) * self._scale.astype(np.float64) + self._offset
        if not (np.abs(ends) <= np.finfo(np.float32).max).all():
            raise FeatureError("scale and offset must keep every number in float32")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Int8Vectors are immutable, got another {name}")

    @classmethod
    def from_vectors(cls, X: ArrayLike) -> Self:
        """Quantise vectors; the least and the largest of a feature are kept.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Real numbers that fit into float32. Read twice, a few rows at a time.

        Raises
        ------
        FeatureError
            When `X` is no matrix of such numbers.
        """
        vectors = as_vectors(X)
        low, high = _ranges(vectors)
        scale = ((high - low) / _LEVELS).astype(np.float32)
        offset = (low - -128.0 * scale).astype(np.float32)
        values = np.empty(vectors.shape, np.int8)
        divisor = np.where(scale > 0, scale, 1).astype(np.float64)
        for span in spans(len(vectors), max(1, _ENTRIES // vectors.shape[1])):
            steps = np.rint((vectors[span].astype(np.float64) - offset) / divisor)
            values[span] = np.clip(steps, -128, 127)
        return cls(values, scale, offset)

    @property
    def values(self) -> NDArray[np.int8]:
        """The numbers in steps, (n, n_features), read-only."""
        return self._values.view()

    @property
    def scale(self) -> Float32Array:
        """How much a step is worth, (n_features,), float32, read-only."""
        return self._scale.view()

    @property
    def offset(self) -> Float32Array:
        """What a value of zero stands for, (n_features,), float32, read-only."""
        return self._offset.view()

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n_features)``."""
        n, n_features = self._values.shape
        return n, n_features

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        n, n_features = self.shape
        return f"Int8Vectors({n:,} vectors of {n_features:,} features)"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (np.asarray(self._values), self._scale, self._offset)

    def to_float(self, rows: IdArray | slice | None = None) -> Float32Array:
        """Return the vectors, or some `rows` of them, as float32.

        The product and the sum are rounded to float32 each, as in distances.
        """
        values = self._values if rows is None else self._values[rows]
        return values.astype(np.float32) * self._scale + self._offset


def _ranges(vectors: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest of each feature; all must be finite."""
    low = np.full(vectors.shape[1], np.inf)
    high = -low
    for span in spans(len(vectors), max(1, _ENTRIES // vectors.shape[1])):
        part = vectors[span].astype(np.float64)
        rows = np.arange(len(vectors))[span]
        check_finite(part, "vectors", rows, float(np.finfo(np.float32).max))
        low, high = (
            np.minimum(low, part.min(axis=0)),
            np.maximum(high, part.max(axis=0)),
        )
    return (low, high) if len(vectors) else (np.zeros_like(low), np.zeros_like(low))


def _parameter(values: ArrayLike, n_features: int, name: str) -> Float32Array:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu" or array.shape != (n_features,):
        raise FeatureError(
            f"{name} must hold a number for each of {n_features} features, "
            f"got dtype {array.dtype} and shape {array.shape}"
        )
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise FeatureError(f"{name} must be finite")
    return frozen_array(numbers)
