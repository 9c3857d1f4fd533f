"""What projections add and multiply for a vector, beside the time they take."""

import math

from experiments._cells import Cell
from experiments._projections import DENSITIES, named
from experiments._summary import decimal, markdown, shortest
from fewbits.encoders._rounds import padded_size
from fewbits.learners.structured._bilinear import near_square

DENSE = "LSH"  # measured at every length, and encodes as ITQ does
SHOWN = (
    *("SP 1%", "SP 5%", "SP 10%", "SP 15%", "SP 100%"),
    *("BP-opt", "CBE-opt", "Hadamard 1", "Hadamard 2", "Hadamard 3"),
)
TEXT = """### Multiply-adds beside time

How many times fewer operations than a dense map's a method takes for a vector, at d
bits, by the shapes; and how many times as fast as LSH's dense map it encodes a vector
alone, and one in a batch. A multiply-add counts as two operations: dense maps take
2bd, sparse ones that times the share of weights, bilinear ones those of two small
products, circulant ones 10 D log D (two transforms of D complex numbers, D the power of
2 that d is padded to), and Hadamard's D (log D + 1) additions and signs in a round.
What is counted is not what limits: a vector alone waits for the weights to be read, and
for the call."""


def operations(method: str, n_bits: int, d: int) -> float:
    """Return the additions and multiplications for a vector, a pair of them as two."""
    size = padded_size(d)
    if method.startswith("BP"):
        d1, d2 = near_square(d)
        b1 = near_square(n_bits)[0]
        b2 = math.ceil(n_bits / b1)
        return 2 * d1 * b2 * (d2 + b1)
    if method.startswith("CBE"):
        return 5 * size * math.log2(size) * (1 + math.ceil(n_bits / d))
    if method.startswith("Hadamard"):
        rounds = int(method.split()[1]) * math.ceil(n_bits / size)
        return rounds * size * (math.log2(size) + 1)
    density = next((each for each in DENSITIES if method == named(each)), 1.0)
    return 2 * density * n_bits * d


def work(times: list[Cell], titles: dict[str, str], widths: dict[str, int]) -> str:
    """Return a table of operations and time at d bits, a column for each set."""
    rows = [
        [method, *(beside(times, method, name, widths[name]) for name in titles)]
        for method in SHOWN
    ]
    rows = [row for row in rows if any(row[1:])]
    table = markdown(["operations; alone; in a batch", *titles.values()], rows)
    return f"{TEXT}\n\n{table}" if rows else ""


def beside(times: list[Cell], method: str, name: str, d: int) -> str:
    """Return ``10; 2.3; 5.0``, or nothing where a method is not timed."""
    known = [shortest(times, figure) for figure in ("single_us", "batch_us")]
    one, dense = (d, name, method), (d, name, DENSE)
    if not {one, dense} <= set(known[0]):
        return ""
    fewer = operations(DENSE, d, d) / operations(method, d, d)
    faster = (decimal(us[dense] / us[one], 1) for us in known)
    return "; ".join([decimal(fewer, 1), *faster])
