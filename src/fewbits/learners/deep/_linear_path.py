"""A network with a linear path beside it, as one network."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder

Float64Array = NDArray[np.float64]


def with_linear_path(
    network: Encoder, outer: Float64Array, bias: Float64Array
) -> Encoder:
    """Return the map ``[x, g(x)] @ outer + bias`` of a network g.

    Hidden layers pass the features on beside their own units: ``relu(x)`` and
    ``relu(-x)``, whose difference is x.

    Parameters
    ----------
    network : LinearEncoder or MLPEncoder
    outer : ndarray of shape (n_features + n_scores, n_bits)
    bias : ndarray of shape (n_bits,)
    """
    direct, behind = np.split(outer, [network.n_features])
    if isinstance(network, LinearEncoder):
        W = direct + network.weights @ behind
        return LinearEncoder(W, bias + network.bias @ behind, zero_bit=1)
    assert isinstance(network, MLPEncoder)
    passed = np.eye(network.n_features)
    none = np.zeros(2 * network.n_features)
    weights: list[Float64Array] = []
    biases: list[Float64Array] = []
    for hidden, b in zip(network.weights[:-1], network.biases[:-1], strict=True):
        W = hidden.astype(np.float64)
        # The first layer meets x, the others what the one before has passed on.
        first = not weights
        wide = (
            np.hstack([W, passed, -passed])
            if first
            else block_diag(W, np.eye(len(none)))
        )
        weights.append(wide)
        biases.append(np.concatenate([b, none]))
    last = network.weights[-1] @ behind
    weights.append(np.vstack([last, direct, -direct]))
    biases.append(bias + network.biases[-1] @ behind)
    return MLPEncoder(weights, biases, zero_bit=1)
