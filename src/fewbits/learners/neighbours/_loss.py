"""How far the neighbours by codes are from the neighbours by vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits.learners.neighbours._graph import Batch

Float32Array = NDArray[np.float32]


class LossAndGradients(NamedTuple):
    """A loss, and what it grows by.

    Attributes
    ----------
    value : float
    grad_bits : ndarray of shape (m, n_bits)
        By the bits, as -1 and 1.
    grad_log_scale : ndarray of shape (n_lengths,)
        By the logarithm of the scale of each length.
    """

    value: float
    grad_bits: Float32Array
    grad_log_scale: Float32Array


def neighbour_probabilities(X: Float32Array, batch: Batch) -> Float32Array:
    """Return how probable each row of the batch is as the neighbour of each anchor.

    That is ``softmax(-precision |x_i - x_j|^2)``, without the anchor itself, as in
    stochastic neighbour embedding (Hinton and Roweis, 2002).

    Parameters
    ----------
    X : ndarray of shape (m, n_features)
        The rows of the batch.

    Returns
    -------
    ndarray of shape (a, m)
    """
    squares = np.einsum("ij,ij->i", X, X)
    products = X[batch.anchors] @ X.T
    distances = np.maximum(squares[batch.anchors, None] + squares - 2 * products, 0)
    return _softmax(-batch.precision[:, None] * distances, batch.anchors)[0]


def divergence(
    bits: Float32Array,
    targets: Float32Array,
    anchors: NDArray[np.int64],
    lengths: Sequence[int],
    log_scale: Float32Array,
) -> LossAndGradients:
    """Return the cross-entropy of probabilities by vectors with those by codes.

    The latter are ``softmax(scale * h_i'h_j / b)`` for the bits h as -1 and 1; the mean
    is over the anchors and over the lengths, each of which takes a prefix of b bits.

    Parameters
    ----------
    bits : ndarray of shape (m, n_bits)
        -1 and 1.
    targets : ndarray of shape (a, m)
        Of `neighbour_probabilities`.
    lengths : sequence of int
        Rising; the last is the number of bits.
    """
    mine = bits[anchors]
    value, grad_bits, grad_log_scale = (
        0.0,
        np.zeros_like(bits),
        np.zeros_like(log_scale),
    )
    agreement, start = np.zeros_like(targets), 0
    weight = np.float32(1 / (len(anchors) * len(lengths)))
    for i, length in enumerate(lengths):
        agreement += mine[:, start:length] @ bits[:, start:length].T
        start = length
        factor = np.exp(log_scale[i]) / np.float32(length)
        found, logarithms = _softmax(factor * agreement, anchors)
        value -= float(weight * np.vdot(targets, logarithms))
        gradient = weight * (found - targets)
        grad_log_scale[i] = factor * np.vdot(gradient, agreement)
        grad_bits[:, :length] += factor * (gradient.T @ mine[:, :length])
        grad_bits[anchors, :length] += factor * (gradient @ bits[:, :length])
    return LossAndGradients(value, grad_bits, grad_log_scale)


def _softmax(
    logits: Float32Array, itself: NDArray[np.int64]
) -> tuple[Float32Array, Float32Array]:
    """Return the softmax of each row and its logarithm; 0 and 0 for the row itself."""
    place = np.arange(len(logits)), itself
    logits[place] = -np.inf
    logits -= logits.max(axis=1, keepdims=True)
    probabilities = np.exp(logits)
    total = probabilities.sum(axis=1, keepdims=True)
    probabilities /= total
    logits -= np.log(total)
    logits[place] = 0
    return probabilities, logits
