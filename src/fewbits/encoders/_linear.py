"""Sign of an affine map."""

from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import n_bytes
from fewbits.encoders._base import Encoder, Tensors, as_zero_bit, frozen
from fewbits.errors import ArgumentError


@final
class LinearEncoder(Encoder):
    """One hyperplane per bit.

    Every learner whose result is a hyperplane per bit (LSH, PCA, ITQ, linear
    supervised methods) deploys as this class.

    Parameters
    ----------
    weights : array-like of shape (n_features, n_bits)
    bias : array-like of shape (n_bits,)
    query_weights, query_bias : array-like, default=None
        Of the shapes of `weights` and `bias`: what `query_scores` takes in their place.
        A prefix goes without them.
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    weights : ndarray of shape (n_features, n_bits), dtype float32
        Read-only, as is `bias`.
    bias : ndarray of shape (n_bits,), dtype float32

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = LinearEncoder(np.eye(2), np.zeros(2))
    >>> encoder
    LinearEncoder(2 -> 2 bits)
    >>> encoder.encode([[1.0, -1.0], [1.0, 1.0]])
    array([[128],
           [192]], dtype=uint8)
    """

    kind: ClassVar[str] = "linear"

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        *,
        query_weights: ArrayLike | None = None,
        query_bias: ArrayLike | None = None,
        zero_bit: int = 0,
    ) -> None:
        self.weights, self.bias = frozen(weights), frozen(bias)
        self.zero_bit = as_zero_bit(zero_bit)
        check_affine(self.weights.shape, self.weights, self.bias)
        shape = self.weights.shape
        self._queries = as_query_encoder(query_weights, query_bias, shape)

    @property
    def n_features(self) -> int:
        return int(self.weights.shape[0])

    @property
    def n_bits(self) -> int:
        return int(self.weights.shape[1])

    def tensors(self) -> Tensors:
        own = {"weights": self.weights, "bias": self.bias}
        return own | query_tensors(self._queries)

    def query_scores(self, X: ArrayLike) -> ScoreArray:
        return (self._queries or self).project(X)

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        _kernels.linear_scores(
            X, self.weights, self.bias, scores, _kernels.num_threads()
        )

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        _kernels.linear_encode(
            X, self.weights, self.bias, self.zero_bit, codes, _kernels.num_threads()
        )

    def _prefix(self, n_bits: int) -> Self:
        # Weights of queries were trained for whole codes.
        return type(self)(
            self.weights[:, :n_bits], self.bias[:n_bits], zero_bit=self.zero_bit
        )


def as_query_encoder(
    weights: ArrayLike | None, bias: ArrayLike | None, shape: tuple[int, ...]
) -> LinearEncoder | None:
    """Return the map of queries to scores, if there is one.

    Raises
    ------
    ArgumentError
        When one of both is missing, or has another shape than those of encoding.
    """
    if weights is None and bias is None:
        return None
    if weights is None or bias is None:
        raise ArgumentError("query_weights and query_bias need each other")
    try:
        found = LinearEncoder(weights, bias)
    except ArgumentError as error:
        raise ArgumentError(f"query_weights and query_bias: {error}") from None
    if found.weights.shape != shape:
        raise ArgumentError(
            f"query_weights must have the shape of weights, {shape}, got "
            f"{found.weights.shape}"
        )
    return found


def query_tensors(queries: LinearEncoder | None) -> Tensors:
    """Return what `as_query_encoder` takes."""
    if queries is None:
        return {}
    return {"query_weights": queries.weights, "query_bias": queries.bias}


def check_affine(
    shape: tuple[int, ...], values: NDArray[Any], bias: NDArray[Any]
) -> None:
    """Refuse weights of `shape` (n_features, n_bits) that make no encoder."""
    if len(shape) != 2 or bias.shape != shape[1:]:
        raise ArgumentError(
            f"need weights (n_features, n_bits) and one bias per bit, got weights "
            f"{shape} and bias {bias.shape}"
        )
    if shape[0] < 1:
        raise ArgumentError("an encoder needs at least one feature")
    n_bytes(shape[1])
    if not (np.isfinite(values).all() and np.isfinite(bias).all()):
        raise ArgumentError("weights and bias must be finite in float32")
