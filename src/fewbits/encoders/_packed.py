"""Pass-through of given binary codes."""

from __future__ import annotations

from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._features import as_features, row_spans
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import MAX_BITS, n_bytes, prefix
from fewbits.encoders._base import Encoder, Progress, Tensors
from fewbits.errors import FeatureError


@final
class PackedEncoder(Encoder):
    """Take packed codes of another system as they are.

    Such as those of `numpy.packbits` and of the precision ``ubinary`` of
    sentence-transformers: bytes, the most significant bit first, and zeros where the
    last byte has room left.

    Parameters
    ----------
    n_bits : int
        1 to 65,536.
    input_bits : int, default=None
        Length of the codes that are given, of which the first `n_bits` are taken: what
        `prefix` makes. Codes of any other width are refused.

    Examples
    --------
    >>> codes = np.array([[0b10110000], [0b01000000]], np.uint8)
    >>> PackedEncoder(4).encode(codes).tolist(), PackedEncoder(4).project(codes)[0]
    ([[176], [64]], array([ 1., -1.,  1.,  1.], dtype=float32))
    >>> PackedEncoder(4).prefix(2)
    PackedEncoder(the first 2 of 4 bits)
    """

    kind: ClassVar[str] = "packed"
    zero_bit = 0

    def __init__(self, n_bits: int, input_bits: int | None = None) -> None:
        self.n_bits = check_count(n_bits, "n_bits")
        whole = n_bits if input_bits is None else input_bits
        self.input_bits = check_count(whole, "input_bits")
        if self.input_bits > MAX_BITS:
            raise FeatureError(f"codes have at most {MAX_BITS:,} bits, got {whole:,}")
        if self.n_bits > self.input_bits:
            raise FeatureError(f"codes of {whole:,} bits have no {n_bits:,} bits")
        self.n_features = n_bytes(self.input_bits)

    @classmethod
    def from_tensors(cls, tensors: Tensors, zero_bit: int) -> Self:
        return cls(*tensors["n_bits"].tolist())

    def __repr__(self) -> str:
        if self.n_bits < self.input_bits:
            first = f"the first {self.n_bits:,} of {self.input_bits:,} bits"
            return f"PackedEncoder({first})"
        return f"PackedEncoder({self.n_bits:,} bits)"

    def tensors(self) -> Tensors:
        lengths = [self.n_bits, self.input_bits]
        whole = self.n_bits == self.input_bits
        return {"n_bits": np.array(lengths[:1] if whole else lengths, np.int64)}

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        bits = np.unpackbits(self._bytes(X), axis=1, count=self.n_bits)
        np.multiply(bits, 2, out=scores, casting="unsafe")
        scores -= 1

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        codes[:] = prefix(self._bytes(X), self.n_bits)

    def encode(self, X: ArrayLike, *, progress: Progress | None = None) -> CodeArray:
        rows = as_features(X, self.n_features)
        if rows.dtype != np.uint8:
            return super().encode(rows, progress=progress)
        # Bytes need no way through floats, which takes ten times as long.
        codes = np.empty((len(rows), n_bytes(self.n_bits)), np.uint8)
        for span in row_spans(rows):
            codes[span] = prefix(self._checked(rows[span]), self.n_bits)
            if progress is not None:
                progress(span.stop, len(rows))
        return codes

    def _bytes(self, X: NDArray[np.float32]) -> CodeArray:
        """Return whole numbers from 0 to 255 as bytes."""
        codes: Any = X.astype(np.uint8)
        if not np.array_equal(codes, X):
            wrong = X[codes != X][0]
            raise FeatureError(
                f"packed codes are whole numbers from 0 to 255, got {wrong:g}"
            )
        return self._checked(codes)

    def _checked(self, codes: CodeArray) -> CodeArray:
        """Refuse codes with a bit beyond the last."""
        room = 8 * codes.shape[1] - self.input_bits
        if room and (codes[:, -1] & ((1 << room) - 1)).any():
            raise FeatureError(
                f"the last {room} bits of codes of {self.input_bits} bits must be 0"
            )
        return np.asarray(codes, np.uint8)

    def _prefix(self, n_bits: int) -> Self:
        return type(self)(n_bits, self.input_bits)
