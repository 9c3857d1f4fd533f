"""Codes that are equal, made different; and what all that make codes check."""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError
from fewbits.learners._core._parameters import N_BITS, Interval, check

Centres = NDArray[np.int8]


class UniqueCodes(NamedTuple):
    """Codes (n_classes, n_bits) of -1 and 1, and how many had to be changed."""

    codes: NDArray[np.int8]
    n_changed: int


def unique(C: NDArray[Any], length: int | None = None) -> UniqueCodes:
    """Return the signs of C, equal ones made different where C is least certain."""
    # Of classes with equal codes the one with the largest numbers keeps it. The others
    # flip bits, those with the smallest numbers first, until their code is free. The
    # first bits up to `length`, and with them every longer prefix, distinguish all.
    C = np.asarray(C, np.float64)
    codes = np.where(C >= 0, 1, -1).astype(np.int8)
    sure, signs = np.abs(C[:, :length]), codes[:, :length]
    check_sizes(*signs.shape)
    taken: set[bytes] = {row.tobytes() for row in signs}
    first: set[bytes] = set()
    n_changed = 0
    for i in np.argsort(-sure.min(axis=1), kind="stable"):
        code = signs[i].tobytes()
        if code in first:
            signs[i] = _nearest_free(signs[i], sure[i], taken)
            code = signs[i].tobytes()
            taken.add(code)
            n_changed += 1
        first.add(code)
    return UniqueCodes(codes, n_changed)


def _nearest_free(
    code: NDArray[np.int8], cost: NDArray[np.float64], taken: set[bytes]
) -> NDArray[np.int8]:
    """Return a free code, trying flips of small total cost first."""
    by_cost = np.argsort(cost, kind="stable")
    queue: list[tuple[float, tuple[int, ...]]] = [(float(cost[by_cost[0]]), (0,))]
    while queue:
        total, flips = heappop(queue)
        free = code.copy()
        free[by_cost[list(flips)]] *= -1
        if free.tobytes() not in taken:
            return free
        last = flips[-1]
        if last + 1 < len(code):  # each set of flips is reached in exactly one way
            more, old = float(cost[by_cost[last + 1]]), float(cost[by_cost[last]])
            heappush(queue, (total + more, (*flips, last + 1)))
            heappush(queue, (total + more - old, (*flips[:-1], last + 1)))
    raise AssertionError("more classes than codes")


def check_sizes(n_classes: Any, n_bits: Any) -> None:
    """Refuse more classes than codes."""
    check("n_bits", n_bits, N_BITS)
    check("n_classes", n_classes, [Interval(int, 1)])
    if bits_needed(n_classes) > n_bits:
        raise ArgumentError(
            f"{n_classes} classes need at least {bits_needed(n_classes)} bits to get "
            f"codes of their own, got {n_bits}"
        )


def bits_needed(n_classes: int) -> int:
    """Return the shortest length that has a code for each class."""
    return max(1, (int(n_classes) - 1).bit_length())


def all_live(centres: Centres) -> bool:
    return bool((centres != centres[0]).any(axis=0).all())


def opposed(centres: Centres) -> Centres:
    """Return them with the last the opposite of the first: no bit is constant then."""
    if len(centres) > 1:
        centres[-1] = -centres[0]
    return centres
