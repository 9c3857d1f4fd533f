"""Feature matrices as they are taken: checked and in float32, block by block."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._arrow import as_array, frame_names, known_names, named_array
from fewbits._spans import spans
from fewbits._warnings import warn_user
from fewbits.errors import FeatureError

_BLOCK_BYTES = 1 << 26


def as_features(X: ArrayLike, n_features: int | None = None) -> NDArray[Any]:
    """Return `X` as a matrix of real numbers, without reading its values."""
    usual = type(X) is np.ndarray and X.dtype == np.float32
    array: NDArray[Any] = np.asarray(X) if usual else as_array(X)
    if array.shape == (0,) and n_features is not None:  # an empty list
        return array.reshape(0, n_features)
    if array.ndim != 2:
        hint = "; for a single item give [x]" if array.ndim == 1 else ""
        raise FeatureError(
            f"features must have 2 dimensions (n, n_features), got shape "
            f"{array.shape}{hint}"
        )
    if n_features is not None and array.shape[1] != n_features:
        raise FeatureError(
            f"expected {n_features} features, got {array.shape[1]} (shape "
            f"{array.shape})"
        )
    return array


class SparseRows:
    """The rows of a sparse matrix of SciPy, which are dense where they are read."""

    ndim = 2

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix.tocsr()
        if self.matrix.ndim != 2 or self.matrix.dtype.kind not in "fiub":
            raise FeatureError(
                "features must be a matrix of real numbers, got a sparse one of shape "
                f"{matrix.shape} and dtype {matrix.dtype}"
            )
        self.shape: tuple[int, int] = self.matrix.shape
        self.dtype, self.size = self.matrix.dtype, self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray[Any]:
        dense: NDArray[Any] = self.matrix[rows].toarray()
        return dense

    def take(self, rows: NDArray[np.intp]) -> "SparseRows":
        """Return some rows, sparse as well."""
        return SparseRows(self.matrix[rows])

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise FeatureError("they are sparse; give X.toarray()")


def as_rows(X: Any, n_features: int, names: Sequence[str] | None = None) -> Any:
    """Return an array or `SparseRows`, as encoders take them; columns by `names`."""
    usual = type(X) is np.ndarray and X.dtype == np.float32 and X.ndim == 2
    if usual and X.shape[1] == n_features:
        return X
    if isinstance(X, SparseRows) or hasattr(X, "tocsr"):
        sparse = X if isinstance(X, SparseRows) else SparseRows(X)
        if sparse.shape[1] != n_features:
            raise FeatureError(
                f"expected {n_features} features, got {sparse.shape[1]} (shape "
                f"{sparse.shape})"
            )
        return sparse
    if names is not None and not isinstance(X, np.ndarray):
        X, columns = named_array(X)
        if columns is not None:
            X = in_order(X, columns, names, "the data frame")
    return as_features(X, n_features)


def in_order(
    X: NDArray[Any], columns: Sequence[str], names: Sequence[str], source: str
) -> NDArray[Any]:
    """Return named columns of numbers in the order in which they were learnt from."""
    if (columns := list(columns)) == list(names):
        return X
    missing = [name for name in names if name not in set(columns)]
    others = [name for name in columns if name not in set(names)]
    if missing or others:
        lacks = f"lacks {known_names(missing)}" if missing else ""
        has = f"has {known_names(others)} besides" if others else ""
        raise FeatureError(
            f"{source} has other columns than the encoder was learnt from: it "
            f"{' and '.join(filter(None, [lacks, has]))}"
        )
    return X[:, [columns.index(name) for name in names]]


def warn_of_others(frame: Any, known: Iterable[str | None]) -> None:
    """Tell which columns of a frame are none of those that a collection knows."""
    if others := [name for name in frame_names(frame) if name not in {*known}]:
        listed = known_names(map(repr, others))
        warn_user(f"left out {listed}: no features, and no columns of the collection")


def as_finite(X: ArrayLike, n_features: int | None = None) -> NDArray[Any]:
    """Return what `as_features` does, all of whose values are finite in float32."""
    array = as_features(X, n_features)
    for _ in feature_blocks(array):
        pass
    return array


def row_spans(X: NDArray[Any] | SparseRows) -> Iterator[slice]:
    """Cut `X` into rows that are some tens of MB in float32."""
    return spans(len(X), _BLOCK_BYTES // (4 * max(1, X.shape[1])))


def feature_blocks(
    X: NDArray[Any] | SparseRows,
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield slices of rows, and `X` there in finite, C-ordered float32.

    FeatureError names the row of a value that is not finite in float32.
    """
    whole = 0 < 4 * X.size <= _BLOCK_BYTES
    for span in (slice(0, len(X)),) if whole else row_spans(X):
        part = X if whole and isinstance(X, np.ndarray) else X[span]
        if part.dtype == np.float32 and part.flags.c_contiguous:
            block = part
        else:
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(part, dtype=np.float32)
        finite = np.isfinite(block)
        if np.count_nonzero(finite) < block.size:  # sooner done than `all`
            row, column = np.argwhere(~finite)[0]
            raise FeatureError(
                f"features must be finite in float32, got {part[row, column]} in row "
                f"{span.start + row}, column {column}"
            )
        yield span, block
