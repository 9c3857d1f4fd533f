"""Loss between neighbours by codes and neighbours by vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fewbits.learners._core._device import Matrix, namespace
from fewbits.learners.neighbours._graph import Batch


class LossAndGradients(NamedTuple):
    """A loss and its gradients.

    Attributes
    ----------
    value : float
    grad_bits : ndarray or Tensor of shape (m, n_bits)
        By the bits, as -1 and 1.
    grad_log_scale : ndarray or Tensor of shape (n_lengths,)
        By the logarithm of the scale of each length.
    """

    value: float
    grad_bits: Matrix
    grad_log_scale: Matrix


def neighbour_probabilities(X: Matrix, batch: Batch) -> Matrix:
    """Return the probability of each row of the batch as a neighbour of each anchor.

    That is ``softmax(-precision |x_i - x_j|^2)``, without the anchor itself, as in
    stochastic neighbour embedding (Hinton and Roweis, 2002).

    Parameters
    ----------
    X : ndarray or Tensor of shape (m, n_features)
        The rows of the batch.

    Returns
    -------
    ndarray or Tensor of shape (a, m)
    """
    squares = namespace(X).einsum("ij,ij->i", X, X)
    products = X[batch.anchors] @ X.T
    distances = (squares[batch.anchors, None] + squares - 2 * products).clip(min=0)
    return _softmax(-batch.precision[:, None] * distances, batch.anchors)[0]


def divergence(
    bits: Matrix,
    targets: Matrix,
    anchors: Matrix,
    lengths: Sequence[int],
    log_scale: Matrix,
) -> LossAndGradients:
    """Return the cross-entropy of probabilities by vectors with those by codes.

    The latter are ``softmax(scale * h_i'h_j / b)`` for the bits h as -1 and 1; the mean
    is over the anchors and over the lengths, each of which takes a prefix of b bits.

    Parameters
    ----------
    bits : ndarray or Tensor of shape (m, n_bits)
        -1 and 1.
    targets : ndarray or Tensor of shape (a, m)
        Of `neighbour_probabilities`.
    lengths : sequence of int
        Rising; the last is the number of bits.
    """
    xp, mine = namespace(bits), bits[anchors]
    grad_bits, grad_log_scale = xp.zeros_like(bits), xp.zeros_like(log_scale)
    agreement, start, value = xp.zeros_like(targets), 0, 0.0
    weight = 1 / (len(anchors) * len(lengths))
    for i, length in enumerate(lengths):
        agreement += mine[:, start:length] @ bits[:, start:length].T
        start = length
        factor = xp.exp(log_scale[i]) / length
        found, logarithms = _softmax(factor * agreement, anchors)
        value -= float(weight * xp.dot(targets.ravel(), logarithms.ravel()))
        gradient = weight * (found - targets)
        grad_log_scale[i] = factor * xp.dot(gradient.ravel(), agreement.ravel())
        grad_bits[:, :length] += factor * (gradient.T @ mine[:, :length])
        grad_bits[anchors, :length] += factor * (gradient @ bits[:, :length])
    return LossAndGradients(value, grad_bits, grad_log_scale)


def _softmax(logits: Matrix, itself: Matrix) -> tuple[Matrix, Matrix]:
    """Return the softmax of each row and its logarithm; 0 and 0 for the row itself."""
    xp = namespace(logits)
    place = xp.arange(len(logits), device=logits.device), itself
    logits[place] = -np.inf
    logits -= xp.amax(logits, axis=1, keepdims=True)
    probabilities = xp.exp(logits)
    total = probabilities.sum(axis=1, keepdims=True)
    probabilities /= total
    logits -= xp.log(total)
    logits[place] = 0
    return probabilities, logits
