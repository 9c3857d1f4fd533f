"""Products of real polynomials modulo ``X^(2 size) + 1``, in NumPy.

A real polynomial of ``2 size`` coefficients is a complex one of ``size``, its upper
half the imaginary part, modulo ``X^size - i``. That splits into ``X^(size/2) - root``
and ``X^(size/2) + root``, and so on down to single numbers: a tree whose nodes are
numbered from 1 on, with children ``2 k`` and ``2 k + 1``. Unlike in a Fourier transform
all numbers of a node share one root, and nothing is reordered.

Matrices hold one polynomial a row; real and imaginary parts are apart.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Parts = tuple[Floats, Floats]


def turns(size: int) -> NDArray[np.float64]:
    """Return the angle of the root of each node, divided by pi; entry 0 is unused."""
    angles = np.zeros(size)
    angles[1:2] = 0.25
    start = 1
    while 2 * start < size:
        parents = angles[start : 2 * start]
        angles[2 * start : 4 * start : 2] = parents / 2
        angles[2 * start + 1 : 4 * start : 2] = (parents + 1) / 2
        start *= 2
    return angles


def forward(z: Parts, roots: Floats) -> Parts:
    """Split each row down to single numbers; `roots` (2, size) has their dtype."""
    size = z[0].shape[1]
    nodes = 1
    while nodes < size:
        (a, b), root = _halves(z, nodes), _roots(roots, nodes)
        p = product(root, b)
        low, high = (a[0] + p[0], a[1] + p[1]), (a[0] - p[0], a[1] - p[1])
        z = _joined(low, high, size)
        nodes *= 2
    return z


def back(z: Parts, roots: Floats) -> Parts:
    """Undo `forward`, but for a factor of `size`."""
    size = z[0].shape[1]
    nodes = size // 2
    while nodes:
        (a, b), root = _halves(z, nodes), _roots(roots, nodes)
        re, im = a[0] - b[0], a[1] - b[1]
        high = root[0] * re + root[1] * im, root[0] * im - root[1] * re
        z = _joined((a[0] + b[0], a[1] + b[1]), high, size)
        nodes //= 2
    return z


def product(w: Parts, x: Parts) -> Parts:
    """Return the complex product of `w` and `x`, each operation rounded."""
    return w[0] * x[0] - w[1] * x[1], w[0] * x[1] + w[1] * x[0]


def _halves(z: Parts, nodes: int) -> tuple[Parts, Parts]:
    n, size = z[0].shape
    re, im = (part.reshape(n, nodes, 2, size // nodes // 2) for part in z)
    return (re[:, :, 0], im[:, :, 0]), (re[:, :, 1], im[:, :, 1])


def _roots(roots: Floats, nodes: int) -> Parts:
    re, im = roots[:, nodes : 2 * nodes, None]
    return re, im


def _joined(low: Parts, high: Parts, size: int) -> Parts:
    re, im = (
        np.stack(halves, axis=2).reshape(-1, size)
        for halves in zip(low, high, strict=True)
    )
    return re, im
