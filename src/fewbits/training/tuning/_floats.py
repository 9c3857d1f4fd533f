"""Full scans of the vectors themselves, to hold codes against."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.index import Int8Vectors

#: Times of one query at a time are the shortest of so many.
QUERIES_ALONE = 10
_BLOCK = 32  # numbers of int8 vectors that share a scale and an offset, of 4 bytes each


@dataclass(frozen=True)
class FloatScan:
    """A full scan of vectors of some precision.

    Attributes
    ----------
    name : str
        ``float32``, ``float16`` or ``int8``.
    bytes_per_item : int
        In memory and on disk.
    quality : float
    query_us : float
        Microseconds for a single query, by a product of float32 in any case: it is
        what NumPy is fast at.
    """

    name: str
    bytes_per_item: int
    quality: float
    query_us: float


def stored(X: NDArray[Any]) -> Iterator[tuple[str, int, NDArray[np.float32]]]:
    """Yield each precision, the bytes of a row, and the rows as they are read back.

    Without float16 where a number is too large for it.
    """
    d = X.shape[1]
    yield "float32", 4 * d, np.asarray(X, np.float32)
    for name, rows in reduced(X).items():
        if isinstance(rows, Int8Vectors):
            yield name, vector_bytes(name, d), rows.to_float()
        else:
            yield name, vector_bytes(name, d), rows.astype(np.float32)


def reduced(X: NDArray[Any]) -> dict[str, NDArray[np.float16] | Int8Vectors]:
    """Return vectors as they are stored in fewer bytes, by precision."""
    with np.errstate(over="ignore"):
        half = np.asarray(X, np.float16)
    fits = {"float16": half} if np.isfinite(half).all() else {}
    return {**fits, "int8": Int8Vectors.from_vectors(X)}


def vector_bytes(name: str, n_features: int) -> int:
    """Return the bytes of a vector as float16 or int8."""
    if name == "float16":
        return 2 * n_features
    return n_features + 8 * -(-n_features // _BLOCK)


def scan_seconds(X: NDArray[Any], queries: NDArray[Any], k: int) -> float:
    """Return the shortest time of a product with one query and a partial sort."""
    X = np.ascontiguousarray(X, np.float32)
    squares = np.einsum("ij,ij->i", X, X)
    times = []
    for query in np.asarray(queries[:QUERIES_ALONE], np.float32):
        start = time.perf_counter()
        np.argpartition(squares - 2 * (X @ query), min(k, len(X) - 1))
        times.append(time.perf_counter() - start)
    return min(times)
