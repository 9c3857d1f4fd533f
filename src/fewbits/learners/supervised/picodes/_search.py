"""A search that PiCoDes' authors do not have: exact, between two hyperplanes."""

import numpy as np

from fewbits.learners._linalg._svm import Float64Array, Hyperplane


def best_between(
    X: Float64Array, old: Hyperplane, new: Hyperplane, deltas: Float64Array
) -> Hyperplane:
    """Return the hyperplane on the way from `old` to `new` that minimises eq. (5).

    Along ``(1 - t) old + t new``, both of length 1, the score of an example is linear
    in t and changes sign once at most. So eq. (5), ``sum_i deltas_i 1[a'x_i > 0]``,
    changes only where examples cross over, and sums over those, in the order of their
    t, find its least value on the whole way. Places where all examples share the bit do
    not count.

    Returns
    -------
    w : ndarray of shape (n_features,)
    b : float
        Of `old` where nothing on the way is better.
    """
    (w0, b0), (w1, b1) = _unit(*old), _unit(*new)
    s0, s1 = X @ w0 + b0, X @ w1 + b1
    crossing = np.flatnonzero((s0 > 0) != (s1 > 0))
    if not crossing.size:
        return old
    at = s0[crossing] / (s0[crossing] - s1[crossing])
    order = np.argsort(at, kind="stable")
    at, crossing = at[order], crossing[order]
    turn = np.where(s1[crossing] > 0, 1, -1)
    ones = np.count_nonzero(s0 > 0) + np.cumsum(turn)
    following = np.append(at[1:], 1.0)
    # Examples that cross together cannot be parted.
    allowed = (at < following) & (ones > 0) & (ones < len(X))
    costs = np.where(allowed, np.cumsum(turn * deltas[crossing]), np.inf)
    best = int(costs.argmin())
    if costs[best] >= 0:
        return old
    t = (at[best] + following[best]) / 2
    return (1 - t) * w0 + t * w1, float((1 - t) * b0 + t * b1)


def _unit(w: Float64Array, b: float) -> Hyperplane:
    length = float(np.linalg.norm(w)) or 1.0
    return w / length, b / length
