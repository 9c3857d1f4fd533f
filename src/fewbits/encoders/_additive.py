"""Bits that are chosen together, so that a sum of vectors comes near the row."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._features import as_rows
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import pack, unpack
from fewbits.encoders._base import Encoder, NotFiniteError, Tensors, frozen
from fewbits.encoders._linear import LinearEncoder, as_query_encoder
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.index import Corrections

_ROUNDS = 3
_TOLERANCE = 1e-6  # of the mean squared length of a vector


@final
class AdditiveEncoder(Encoder):
    """Approximate a centred row by a sum of vectors, one per bit, added or subtracted.

    A code h of -1 and 1 stands for ``weights @ h``. The bits of a row are chosen
    together: from the signs of its products with the vectors on, the bit is changed
    that brings the sum nearest, until none does. `project` gives the score of each bit
    given all the others; its sign is the bit. `query_scores` and `offsets` rank codes
    by the distance of a query to sums of vectors: of the same ones, or of those of
    `query_weights`.

    Parameters
    ----------
    weights : array-like of shape (n_features, n_bits)
        The vectors.
    bias : array-like of shape (n_bits,)
        Minus their products with the mean row.
    n_kept : int or None, default=None
        Bits of a code, the first ones of those chosen; None means all.
    query_weights, query_bias : array-like, default=None
        Of the shapes of `weights` and `bias`, in their place for ranking: what
        `query_scores`, `offsets` and `corrections` are computed from.
    mean, table : array-like of shape (n_features,) and (256, 2), default=None
        The mean row, and the rising factors and offsets that bytes of `corrections`
        stand for; without both there are none.

    References
    ----------
    Babenko and Lempitsky, "Additive Quantization for Extreme Vector Compression", CVPR
    2014: here with codebooks of two opposite vectors.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = AdditiveEncoder([[2.0, 1.0, 1.0]], np.zeros(3))
    >>> encoder.encode([[4.0], [2.0]])
    array([[224],
           [160]], dtype=uint8)
    >>> encoder.decode(encoder.encode([[4.0], [2.0]]))
    array([[4.],
           [2.]], dtype=float32)
    """

    kind: ClassVar[str] = "additive"

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        *,
        n_kept: int | None = None,
        query_weights: ArrayLike | None = None,
        query_bias: ArrayLike | None = None,
        mean: ArrayLike | None = None,
        table: ArrayLike | None = None,
        zero_bit: int = 0,
    ) -> None:
        self._linear = LinearEncoder(weights, bias, zero_bit=zero_bit)
        self.weights, self.bias = self._linear.weights, self._linear.bias
        self.zero_bit = self._linear.zero_bit
        n_kept = len(self.bias) if n_kept is None else int(n_kept)
        if not 1 <= n_kept <= len(self.bias):
            raise ArgumentError(
                f"n_kept must be between 1 and {len(self.bias)}, got {n_kept}"
            )
        self.n_kept = self.n_bits = n_kept
        shape = self.weights.shape
        self.n_features = shape[0]
        self._queries = as_query_encoder(query_weights, query_bias, shape)
        if (mean is None) != (table is None):
            raise ArgumentError("corrections need both mean and table")
        self._mean = _checked(mean, "mean", (self.n_features,))
        self._table: NDArray[np.float32] | None = _checked(table, "table", (256, 2))
        gram = ranking = frozen(_products(self.weights))
        if self._queries is not None:
            ranking = frozen(_products(self._queries.weights))
        self._gram, self._ranking_gram = gram, ranking
        self._tolerance = _TOLERANCE * float(
            np.mean(np.diagonal(self._gram), dtype=float)
        )

    def tensors(self) -> Tensors:
        learnt = {"mean": self._mean, "table": self._table}
        queries = {} if self._queries is None else self._queries.tensors()
        return {
            "weights": self.weights,
            "bias": self.bias,
            "n_kept": np.array([self.n_kept], np.int64),
            **{f"query_{name}": tensor for name, tensor in queries.items()},
            **{name: array for name, array in learnt.items() if array is not None},
        }

    @classmethod
    def from_tensors(cls, tensors: Tensors, zero_bit: int) -> Self:
        rest: dict[str, Any] = dict(tensors)
        n_kept = int(rest.pop("n_kept")[0])
        return cls(**rest, n_kept=n_kept, zero_bit=zero_bit)

    def query_scores(self, X: ArrayLike) -> ScoreArray:
        """Return the products of centred rows with the vectors of ranking."""
        features = as_rows(X, self.n_features, self.feature_names)
        return (self._queries or self._linear).project(features)[:, : self.n_kept]

    def offsets(self, codes: CodeArray) -> NDArray[np.float32]:
        """Return a quarter of the squared length of each sum of vectors of ranking."""
        products, step, squares = self._pairs
        sums = np.empty(len(codes), np.int64)
        codes = np.ascontiguousarray(codes)
        _kernels.pair_sums(products, codes, sums, _kernels.num_threads())
        return ((squares + 2 * step * sums) / 4).astype(np.float32)

    @property
    def correction_table(self) -> NDArray[np.float32] | None:
        return self._table

    def corrections(self, X: ArrayLike, codes: CodeArray) -> Corrections | None:
        """Return a factor and an offset for each row, of a byte each, if learnt.

        With them, codes are ranked by estimates of the distances of rows themselves.
        """
        from fewbits.index import Corrections

        if self._table is None:
            return None
        features = as_rows(X, self.n_features, self.feature_names)
        values = np.empty((len(features), 2), np.uint8)
        between = (self._table[1:] + self._table[:-1]) / 2
        for span, block in self._blocks(features):
            terms = self.correction_terms(block, self._mean, codes[span])
            for i, term in enumerate(terms):
                values[span, i] = np.searchsorted(between[:, i], term)
        return Corrections(values, self._table)

    def correction_terms(
        self, X: NDArray[np.float32], mean: Any, codes: CodeArray
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return factors and offsets before they are rounded to a table.

        The factor is the geometric mean of the one that gives the sum the length of the
        row, and of RaBitQ's, which gives it the row's component along the row. The
        offset is a quarter of the squared length of the row.

        Parameters
        ----------
        X : ndarray of shape (n, n_features), dtype float32
        mean : ndarray of shape (n_features,)
        codes : ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
        """
        row = _total(np.square(X - mean)) / 4
        signs = _signs(codes, self.n_kept)
        along = _total(self.query_scores(X) * signs) / 4
        offsets = self.offsets(codes)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.sqrt(row / along * np.sqrt(row / offsets))
        return np.where((along > 0) & (offsets > 0), factors, 1.0), row

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int8], float, float]:
        """The products of different vectors in steps, a step, and all squares."""
        gram = self._ranking_gram[: self.n_kept, : self.n_kept].astype(np.float64)
        above = np.triu(gram, 1)
        step = float(np.abs(above).max(initial=0)) / 127 or 1.0
        products = np.zeros((self.n_kept, -(-self.n_kept // 64) * 64), np.int8)
        products[:, : self.n_kept] = np.rint(above / step)
        return products, step, float(np.trace(gram))

    def decode(self, codes: CodeArray) -> NDArray[np.float32]:
        """Return what codes stand for: centred rows.

        Parameters
        ----------
        codes : ndarray of shape (n, ceil(n_bits / 8)), dtype uint8

        Returns
        -------
        ndarray of shape (n, n_features), dtype float32
        """
        weights = self.weights[:, : self.n_kept].T
        return _sums(_signs(codes, self.n_kept), weights)

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        products = self._linear.project(X)
        signs = np.where(products > 0, np.float32(1), np.float32(-1))
        sums, threads = _sums(signs, self._gram), _kernels.num_threads()
        _kernels.additive_scores(
            products, sums, self._gram, _ROUNDS, self._tolerance, threads
        )
        scores[:] = products[:, : self.n_kept]

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        scores = np.empty((len(X), self.n_kept), np.float32)
        self._project(X, scores)
        codes[:] = pack(scores >= 0 if self.zero_bit else scores > 0)

    def _prefix(self, n_bits: int) -> Self:
        # Query weights, factors and offsets were learnt of whole codes.
        return type(self)(
            self.weights, self.bias, n_kept=n_bits, zero_bit=self.zero_bit
        )


def _products(weights: NDArray[np.float32]) -> ScoreArray:
    """Return the products of vectors with each other."""
    products = _sums(weights.T, weights)
    if not np.isfinite(products).all():
        raise NotFiniteError("the weights are too large for float32: scale them")
    return products


def _sums(rows: NDArray[np.float32], weights: NDArray[np.float32]) -> ScoreArray:
    """Return products that are the same on every processor."""
    products = np.empty((len(rows), weights.shape[1]), np.float32)
    none, threads = np.zeros(weights.shape[1], np.float32), _kernels.num_threads()
    rows, weights = map(np.ascontiguousarray, (rows, weights))
    _kernels.linear_scores(rows, weights, none, products, threads)
    return products


def _checked(values: ArrayLike | None, name: str, shape: tuple[int, ...]) -> Any:
    if values is None:
        return None
    array = frozen(values)
    if array.shape != shape or not np.isfinite(array).all():
        raise ArgumentError(f"{name} must be finite numbers of shape {shape}")
    return array


def _total(terms: NDArray[Any]) -> NDArray[np.float64]:
    """Return sums of rows, one after the other, alike on every processor."""
    return np.asarray(np.cumsum(terms, axis=1, dtype=np.float64)[:, -1])


def _signs(codes: CodeArray, n_bits: int) -> NDArray[np.float32]:
    return unpack(codes, n_bits).astype(np.float32) * 2 - 1
