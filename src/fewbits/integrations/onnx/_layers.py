"""The dense affine maps that an encoder consists of."""

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import (
    BlockDiagonalEncoder,
    Encoder,
    LinearEncoder,
    MLPEncoder,
    SparseEncoder,
)
from fewbits.errors import ArgumentError

#: Of one protocol buffer, which an ONNX file is; a little is left for the rest.
_MAX_BYTES = 2**31 - 2**20

#: Weights (n_in, n_out) and one bias for each output, float32.
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]


def affine_layers(encoder: Encoder) -> list[Layer]:
    """Return the layers of an encoder; between two of them is ReLU.

    Raises
    ------
    ArgumentError
        When it is not a chain of affine maps, or one too large for a file.
    """
    if isinstance(encoder, SparseEncoder | BlockDiagonalEncoder):
        _check_size([(encoder.n_features, encoder.n_bits)])
        return [(_dense(encoder), encoder.bias)]
    if isinstance(encoder, LinearEncoder):
        layers = [(encoder.weights, encoder.bias)]
    elif isinstance(encoder, MLPEncoder):
        layers = list(zip(encoder.weights, encoder.biases, strict=True))
    else:
        raise ArgumentError(
            "ONNX models are made of LinearEncoder, SparseEncoder, "
            f"BlockDiagonalEncoder and MLPEncoder, got {encoder!r}"
        )
    _check_size([weights.shape for weights, _ in layers])
    return layers


def _dense(encoder: SparseEncoder | BlockDiagonalEncoder) -> NDArray[np.float32]:
    # Leaving zeros out changes no score: x * 0 + total is total for a finite x. Only
    # the sign of a total of zero may change, and both are zero to a threshold.
    weights = np.zeros((encoder.n_features, encoder.n_bits), np.float32)
    if isinstance(encoder, BlockDiagonalEncoder):
        for features, each, matrix in encoder.blocks():
            weights[features, each] = matrix
        return weights
    bits = np.repeat(np.arange(encoder.n_bits), np.diff(encoder.indptr))
    weights[encoder.indices, bits] = encoder.values
    return weights


def _check_size(shapes: list[tuple[int, ...]]) -> None:
    n_bytes = 4 * sum(n_in * n_out + n_out for n_in, n_out in shapes)
    if n_bytes > _MAX_BYTES:
        raise ArgumentError(
            f"an ONNX file holds at most 2 GB, but the dense weights of this encoder "
            f"take {n_bytes / 1e9:.1f} GB; its prefix of fewer bits takes less"
        )
