"""Two bytes for each row, which make its asymmetric distances more exact."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError

Float32Array = NDArray[np.float32]

N_BYTES = 2


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
            (values, "values", np.uint8, (len(values), N_BYTES)),
            (table, "table", np.float32, (256, N_BYTES)),
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
        return N_BYTES

    def apply(
        self, distances: Float32Array, scores: Float32Array, rows: IdArray
    ) -> None:
        """Correct the asymmetric distances of queries to rows; those of -1 stay.

        Parameters
        ----------
        distances : ndarray of shape (n_queries, m), dtype float32
            Changed in place.
        scores : ndarray of shape (n_queries, n_bits), dtype float32
        rows : ndarray of shape (n_queries, m), dtype int64
        """
        there = rows >= 0
        bytes_of = self.values[rows[there]]
        half = np.abs(scores).sum(axis=1, keepdims=True, dtype=np.float64) / 2
        half = np.broadcast_to(half.astype(np.float32), rows.shape)[there]
        moved = self._table[bytes_of[:, 0], 0] * (distances[there] - half) + half
        distances[there] = moved + self._table[bytes_of[:, 1], 1]
