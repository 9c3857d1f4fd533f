"""Plans to find all pairs of near codes: which bits to sort them by.

Two codes that differ in at most r bits differ in at most ``r // m`` bits of one of any
m parts (the pigeonhole principle); more exactly, in at most ``t = r // m`` bits of one
of the first ``r - m * t + 1`` parts, or in less than t of one of the others.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray

# Picoseconds of sorting a code, of a look-up, and of a comparison in a bucket; and of a
# comparison of 64 bits in a scan, which finds each pair twice.
_SORT, _LOOKUP, _CANDIDATE, _SCAN = 50_000, 20_000, 1_000, 170
_LONGEST = 56  # bits of a part, which the kernels read at once
_MOST_FLIPS = 2  # what takes more is a scan
_SAMPLE, _TRIED = 1024, 4


class Plan(NamedTuple):
    """Parts of codes: first bit, number of bits, and flips, -1 for none to look at."""

    parts: IdArray
    cost: float


def best_plan(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None = None
) -> Plan | None:
    """Return what finds all pairs soonest, None for a scan.

    Bits that are often equal make large buckets: a sample of the codes tells.
    """
    n, n_bytes = codes.shape
    rows = np.arange(n) if mask is None else np.flatnonzero(mask)
    n = len(rows)
    scan = n**2 * -(-n_bytes // 8) * _SCAN
    plans = [
        _plan(n, 8 * n_bytes, radius, m)
        for m in range(1, min(radius + 1, 8 * n_bytes) + 1)
        if radius // m <= _MOST_FLIPS
    ]
    best = sorted(plans, key=lambda plan: plan.cost)[:_TRIED]
    sample = rows[:: max(1, n // _SAMPLE)][:_SAMPLE]
    bits = np.unpackbits(codes[sample], axis=1)
    best = [plan._replace(cost=plan.cost + _skew(bits, plan, n)) for plan in best]
    plan = min(best, key=lambda plan: plan.cost, default=None)
    return plan if plan is not None and plan.cost < scan else None


def _plan(n: int, n_bits: int, radius: int, m: int) -> Plan:
    """Return the plan of m parts, with its cost where bits are even and independent."""
    cuts = np.linspace(0, n_bits, m + 1).astype(np.int64)
    lengths = np.minimum(np.diff(cuts), _LONGEST)
    most = radius // m
    flips = np.where(np.arange(m) <= radius - m * most, most, most - 1)
    cost = 0.0
    for length, most in zip(lengths.tolist(), flips.tolist(), strict=True):
        cost += n * _SORT if most >= 0 else 0
        for number in range(most + 1):
            lookups = n * comb(length, number) / 2
            bucket = n / 2 ** min(length, n.bit_length())
            cost += lookups * ((_LOOKUP if number else 0) + _CANDIDATE * bucket)
    return Plan(np.stack([cuts[:-1], lengths, flips], axis=1), cost)


def _skew(bits: NDArray[np.uint8], plan: Plan, n: int) -> float:
    """Return the cost of comparisons with equal parts, estimated from a sample."""
    if len(bits) < 2:
        return 0.0
    cost = 0.0
    for begin, length, flips in plan.parts.tolist():
        if flips >= 0:
            weights = 1 << np.arange(length, dtype=np.int64)
            values = bits[:, begin : begin + length].astype(np.int64) @ weights
            counts = np.unique(values, return_counts=True)[1]
            equal = int((counts * (counts - 1)).sum()) / (len(bits) * (len(bits) - 1))
            cost += n**2 / 2 * equal * _CANDIDATE
    return cost
