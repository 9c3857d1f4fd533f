"""Sums of precision over the ranks of relevant items, group by group of ties.

In a group of ``n`` items, ``r`` of them relevant, that follows ``t`` items with ``p``
relevant ones, the item at place ``j`` is relevant with probability ``r / n``, and the
places before it then hold ``(j - 1)(r - 1)/(n - 1)`` relevant items on average. So the
first ``m`` places contribute

    sum_{j <= m}  r/n (p + 1 + (j - 1)(r - 1)/(n - 1)) / (t + j)

which, as (j - 1)/(t + j) = 1 - (t + 1)/(t + j), needs only the difference of two
harmonic numbers, and costs the same for a group of any size.
"""

import numpy as np
from numpy.typing import ArrayLike

from fewbits._typing import Array, IdArray
from fewbits.evaluation._ties import FloatArray, TieGroups

_EXACT = 64
_HARMONIC = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, _EXACT + 1))])


def precision_sums(groups: TieGroups, length: IdArray, ties: str) -> FloatArray:
    """Return what each group adds to the sum over the first `length` ranks.

    Parameters
    ----------
    groups : TieGroups
        Matrices (n_queries, n_groups).
    length : ndarray of shape (n_queries,)
        Ranks that count.
    ties : str
        ``optimistic``, ``pessimistic``; anything else is the mean over all orders.

    Returns
    -------
    ndarray of shape (n_queries, n_groups), dtype float64
    """
    n, r = groups
    if (n == 1).all():
        return _one_by_one(r, length)
    t, p = np.cumsum(n, axis=1) - n, np.cumsum(r, axis=1) - r
    rest = length[:, None] - t
    if ties == "optimistic":
        return _consecutive(t, p, np.clip(rest, 0, r))
    if ties == "pessimistic":
        return _consecutive(t + n - r, p, np.clip(rest - (n - r), 0, r))
    return _expected(t, p, n, r, np.clip(rest, 0, n))


def harmonic_span(start: ArrayLike, length: ArrayLike) -> FloatArray:
    """Return the sum of ``1 / i`` over ``start < i <= start + length``.

    Its relative error is a few ulp, also far from the start, where subtracting two
    harmonic numbers would lose most digits.
    """
    start = np.asarray(start)
    stop = start + np.asarray(length)
    near = _HARMONIC[np.minimum(stop, _EXACT)] - _HARMONIC[np.minimum(start, _EXACT)]
    far = _tail(np.maximum(start, _EXACT), np.maximum(stop, _EXACT))
    result: FloatArray = near + far
    return result


def expected_over_hits(
    groups: TieGroups,
    parts: FloatArray,
    row: int,
    group: int,
    inside: int,
    empty: float,
) -> float:
    """Return the mean of sum / hits for a query whose ranking ends inside a tie.

    How many of the group's relevant items come first, ``h``, is hypergeometric; given
    ``h``, their places among the first `inside` are again equally likely.
    """
    n, r = groups.sizes[row, group], groups.relevant[row, group]
    t, p = groups.sizes[row, :group].sum(), groups.relevant[row, :group].sum()
    h, weights = _hypergeometric(int(n), int(r), inside)
    if p == 0 and h[0] == 0:
        if np.isnan(empty):  # a query that may drop out counts where it does not
            h, weights = h[1:], weights[1:] / weights[1:].sum()
        else:
            return float(weights[1:] @ _group_mean(t, p, inside, h[1:], 0.0))
    return float(weights @ _group_mean(t, p, inside, h, parts[row, :group].sum()))


def _group_mean(t: int, p: int, inside: int, h: IdArray, before: float) -> FloatArray:
    sums: FloatArray = before + _expected(t, p, inside, h, inside)
    return sums / (p + h)


def _expected(
    t: ArrayLike, p: ArrayLike, n: ArrayLike, r: ArrayLike, m: ArrayLike
) -> FloatArray:
    t, p, n, r, m = (np.asarray(x, np.int64) for x in (t, p, n, r, m))
    slope = (r - 1) / np.maximum(n - 1, 1)
    span = harmonic_span(t, m)
    sums: FloatArray = (p + 1) * span + slope * (m - (t + 1) * span)
    return sums * (r / np.maximum(n, 1))


def _one_by_one(relevant: IdArray, length: IdArray) -> FloatArray:
    ranks = np.arange(1, relevant.shape[1] + 1)
    counted = relevant * (ranks <= length[:, None])
    return counted * (np.cumsum(relevant, axis=1) / ranks)


def _consecutive(t: IdArray, p: IdArray, m: IdArray) -> FloatArray:
    """Sum ``(p + j) / (t + j)`` over ``j <= m``: relevant items in a row."""
    return m + (p - t) * harmonic_span(t, m)


def _tail(start: Array, stop: Array) -> FloatArray:
    # H(n) = ln x + gamma + 1/(24 x^2) - 7/(960 x^4) + 31/(8064 x^6) - ..., x = n + 1/2
    def correction(n: Array) -> FloatArray:
        z = (n + 0.5) ** -2.0
        result: FloatArray = z * (1 / 24 - z * (7 / 960 - z * (31 / 8064)))
        return result

    result: FloatArray = np.log1p((stop - start) / (start + 0.5))
    return result + correction(stop) - correction(start)


def _hypergeometric(n: int, r: int, m: int) -> tuple[IdArray, FloatArray]:
    """Return the possible numbers of relevant items among `m` of `n`, and the odds."""
    h = np.arange(max(0, m - (n - r)), min(r, m) + 1)
    low = h[:-1].astype(np.float64)
    steps = np.log((r - low) * (m - low) / ((low + 1) * (n - r - m + low + 1)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return h, weights / weights.sum()
