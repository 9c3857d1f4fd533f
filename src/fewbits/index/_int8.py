"""Vectors in a third of the room, for ranking a shortlist again."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._frozen import frozen_array
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.errors import FeatureError
from fewbits.index._matrices import as_vectors, check_finite

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

BLOCK = 32  # numbers that share a scale and an offset, as the kernels have it
_ENTRIES = 1 << 20  # of vectors looked at at once


@final
class Int8Vectors:
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
        are not finite is refused when it is compared.

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

    __slots__ = ("_blocks", "_values")
    _values: NDArray[np.int8]
    _blocks: Float32Array

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
        own = super().__setattr__
        own("_values", frozen_array(np.ascontiguousarray(values)))
        own("_blocks", frozen_array(np.ascontiguousarray(blocks)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Int8Vectors are immutable, got another {name}")

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

    @property
    def values(self) -> NDArray[np.int8]:
        """The numbers in steps, (n, n_features), read-only."""
        return self._values.view()

    @property
    def blocks(self) -> Float32Array:
        """Scale and offset of each block, (n, n_blocks, 2), float32, read-only."""
        return self._blocks.view()

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
        return type(self), (np.array(self._values), np.array(self._blocks))

    def to_float(self, rows: IdArray | slice | None = None) -> Float32Array:
        """Return the vectors, or some `rows` of them, as float32.

        The product and the sum are rounded to float32 each, as in distances.
        """
        chosen = slice(None) if rows is None else rows
        values = self._values[chosen].astype(np.float32)
        each = np.repeat(self._blocks[chosen], BLOCK, axis=1)[:, : values.shape[1]]
        result: Float32Array = values * each[..., 0] + each[..., 1]
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
