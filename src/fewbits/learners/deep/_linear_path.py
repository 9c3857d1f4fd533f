"""A network with a linear path and memberships beside it, as one network."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder
from fewbits.learners.deep._memberships import LIMIT, Memberships

Float64Array = NDArray[np.float64]
Layer = tuple[Float64Array, Float64Array]  # weights and bias


def with_linear_path(
    network: Encoder,
    members: Memberships | None,
    outer: Float64Array,
    bias: Float64Array,
) -> Encoder:
    """Return the map ``[x, g(x), m(g(x))] @ outer + bias`` of a network g.

    Hidden layers pass on x, or its bits where they are fewer, beside their own units:
    ``relu(x)`` and ``relu(-x)``, whose difference is x. Another passes on all of that
    beside memberships, ``relu(u + 3) - relu(u - 3) - 3``.

    Parameters
    ----------
    network : LinearEncoder or MLPEncoder
    members : Memberships or None
        None leaves memberships out.
    outer : ndarray of shape (n_features + n_scores [+ n_classes], n_bits)
    bias : ndarray of shape (n_bits,)
    """
    d, n_scores = network.n_features, network.n_bits
    direct, of_scores, of_members = np.split(outer, [d, d + n_scores])
    *hidden, (W, b) = _layers(network)
    bias = bias + b @ of_scores
    if not hidden:
        direct = direct + W @ of_scores
        if members is None:
            return LinearEncoder(direct, bias, zero_bit=1)
    inner, last = _through(direct)
    carry, last = _both(inner), _both(last.T).T
    layers = _passing(hidden, carry)
    if hidden:
        last = np.vstack([W @ of_scores, last])
        carry = np.eye(len(last))
    if members is not None:
        U, u = W @ members.weights, b @ members.weights + members.bias
        U = np.vstack([U, np.zeros((len(carry) - len(U), U.shape[1]))])
        thresholds = np.concatenate([u + LIMIT, u - LIMIT])
        layers.append((np.hstack([U, U, carry]), _padded(thresholds, carry.shape[1])))
        last = np.vstack([of_members, -of_members, last])
        bias = bias - LIMIT * of_members.sum(axis=0)
    layers.append((last, bias))
    return MLPEncoder([W for W, _ in layers], [b for _, b in layers], zero_bit=1)


def _through(direct: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return two maps whose product it is, with bits or features between them."""
    d, n_bits = direct.shape
    return (direct, np.eye(n_bits)) if n_bits < d else (np.eye(d), direct)


def _passing(hidden: list[Layer], carry: Float64Array) -> list[Layer]:
    """Return hidden layers that pass on what `carry` makes of x."""
    layers: list[Layer] = []
    for W, b in hidden:
        # The first layer meets x, the others what the one before has passed on.
        wide = block_diag(W, carry) if layers else np.hstack([W, carry])
        layers.append((wide, _padded(b, carry.shape[1])))
        carry = np.eye(carry.shape[1])
    return layers


def _both(M: Float64Array) -> Float64Array:
    """Return a map beside its negative."""
    return np.hstack([M, -M])


def _layers(network: Encoder) -> list[Layer]:
    """Return the weights and biases of all layers."""
    if isinstance(network, LinearEncoder):
        found = [(network.weights, network.bias)]
    else:
        assert isinstance(network, MLPEncoder)
        found = list(zip(network.weights, network.biases, strict=True))
    return [(W.astype(np.float64), b.astype(np.float64)) for W, b in found]


def _padded(bias: Float64Array, n: int) -> Float64Array:
    """Return a bias, and n zeros behind it."""
    return np.concatenate([bias, np.zeros(n)])
