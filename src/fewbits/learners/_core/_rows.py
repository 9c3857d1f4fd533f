"""Walking over the rows of a matrix that may be larger than memory.

Every learner sees a row as its encoder will: rounded to float32 first, then centred
in float64. Blocks are C-ordered copies, so the strides of X never change a result.
"""

from collections.abc import Iterator
from hashlib import sha256
from mmap import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fewbits._features import SparseRows
from fewbits._typing import Array, FeatureArray
from fewbits.errors import FeatureError
from fewbits.learners._core._device import current_backend

#: Projected rows up to this many bytes are kept between iterations in any case.
KEEP_BYTES = 1 << 26
_BLOCK_ENTRIES = 1 << 20
_MIN_ROWS = 1024
#: Sums of products of smaller features are finite in float32.
HUGE = 1e25
#: Of rows that a learner draws; `check_values` has looked at all of them.
SAME_ROWS = "every row that is learnt from is the same: there is nothing to learn"
#: Matrices of more entries are held in float32, and worked on in parts of this size.
LARGE = 1 << 26
#: One pass of more multiply-adds than this is done in float32, summed in float64.
_DOUBLE_LIMIT = 1 << 30


class ChosenRows:
    """The rows of these numbers of a matrix, each read when it is asked for."""

    def __init__(self, X: Array, numbers: NDArray[np.intp]) -> None:
        self._X, self._numbers = X, numbers
        self.shape = (len(numbers), X.shape[1])

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, key: slice | NDArray[np.intp]) -> Array:
        return self._X[self._numbers[key]]


Readable = Array | ChosenRows | SparseRows


def line_spans(length: int, width: int, least: int | None = None) -> Iterator[slice]:
    """Cut `length` lines of `width` entries into slices of some megabytes each."""
    step = max(_MIN_ROWS if least is None else least, _BLOCK_ENTRIES // max(1, width))
    return (slice(i, min(length, i + step)) for i in range(0, length, step))


def parts(n_rows: int, width: int) -> Iterator[slice]:
    """Cut a matrix into slices of `LARGE` entries: a small one is whole."""
    return line_spans(n_rows, width, least=max(1, LARGE // max(1, width)))


def as_float32(X: Array) -> NDArray[np.float32]:
    """Return a C-ordered float32 copy or view, infinite where float32 overflows."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(X, dtype=np.float32)


def check_values(X: Array, *, vary: bool = False) -> float:
    """Refuse NaN, infinity and what becomes infinite in float32, naming the first."""
    # If they must `vary`, rows that are all the same are refused, too, and features
    # that are all below the numbers of float32 with all digits. Return the largest
    # absolute value.
    largest, first, same = 0.0, as_float32(X[:1]), vary
    for span in line_spans(*X.shape):
        block = as_float32(X[span])
        # The least and the largest are NaN or infinite where any number is.
        ends = block.min(initial=0), block.max(initial=0)
        largest = max(largest, float(-ends[0]), float(ends[1]))
        if not np.isfinite(ends).all():
            row, column = np.argwhere(~np.isfinite(block))[0]
            row += span.start
            raise FeatureError(
                "Input X contains NaN, infinity or a value too large for float32: "
                f"got {X[row : row + 1][0, column]} in row {row}, column {column}"
            )
        same = same and bool((block == first).all())
    if same:
        raise FeatureError("every row of X is the same: there is nothing to learn")
    if vary and largest < np.finfo(np.float32).tiny:
        raise FeatureError("the features of X are too small for float32: scale them")
    return largest


def column_means(X: Readable) -> NDArray[np.float64]:
    total = np.zeros(X.shape[1])
    for span in line_spans(*X.shape):
        total += as_float32(X[span]).sum(axis=0, dtype=np.float64)
    return total / len(X)


def checksum(X: Readable) -> str:
    """Return the SHA-256 of all rows, as float32, and of their number and width."""
    digest = sha256(repr(X.shape).encode())
    for span in line_spans(*X.shape):
        digest.update(as_float32(X[span]).data)
    return digest.hexdigest()


def working_dtype(n_rows: int, n_in: int, n_out: int) -> DTypeLike:
    """Return float64 where a pass over the rows is cheap, else float32."""
    return np.float64 if n_rows * n_in * n_out <= _DOUBLE_LIMIT else np.float32


class Rows:
    """The rows ``(X - mean) @ axes``, block by block."""

    # They are computed once and kept when they take little memory, or at most twice
    # that of an X that is in memory itself; otherwise each walk reads X again. `n_out`
    # is the number of columns that the caller makes of a block; it bounds the size of
    # blocks.

    def __init__(
        self,
        X: Readable,
        mean: FeatureArray,
        axes: FeatureArray | None = None,
        dtype: DTypeLike = np.float64,
        *,
        n_out: int = 0,
        keep: bool = True,
    ) -> None:
        self.X, self.mean, self.dtype = X, mean, np.dtype(dtype)
        self._backend = current_backend()
        self._axes = None
        if axes is not None:
            self._axes = self._backend.put(axes.astype(dtype, copy=False))
        width = X.shape[1] if axes is None else axes.shape[1]
        self.shape = (len(X), width)
        self._widest = max(X.shape[1], width, n_out)
        self._cached: FeatureArray | None = None
        allowed = KEEP_BYTES
        if isinstance(X, np.ndarray) and not is_mapped(X):
            allowed = max(KEEP_BYTES, 2 * X.nbytes)
        if keep and self.shape[0] * width * self.dtype.itemsize <= allowed:
            self._cached = self.gather()

    def __iter__(self) -> Iterator[FeatureArray]:
        for span in line_spans(len(self.X), self._widest):
            yield self._compute(span) if self._cached is None else self._cached[span]

    def blocks_of(self, rows: NDArray[np.intp]) -> Iterator[FeatureArray]:
        for span in line_spans(len(rows), self._widest):
            chosen = rows[span]
            yield (
                self._compute(chosen) if self._cached is None else self._cached[chosen]
            )

    def gather(self) -> FeatureArray:
        rows = np.empty(self.shape, self.dtype)
        for span in line_spans(len(self.X), self._widest):
            rows[span] = self._compute(span)
        return rows

    def _compute(self, span: slice | NDArray[np.intp]) -> FeatureArray:
        centred = (as_float32(self.X[span]) - self.mean).astype(self.dtype, copy=False)
        if self._axes is None:
            return centred
        return self._backend.get(self._backend.put(centred) @ self._axes)


def is_mapped(X: Any) -> bool:
    while X is not None and not isinstance(X, mmap):
        X = getattr(X, "base", None)
    return X is not None
