"""Scores as they are defined: one chain of fused multiply-adds in float32.

ONNX has no operator that multiplies and adds with a single rounding. It follows from
operators that IEEE 754 defines: the product of two float32 numbers is exact in float64,
and the error of a float64 sum is a float64 number that a few sums find. It remains
to round the exact value, which is the float64 sum plus that error, to float32.

Totals are float32 numbers that are kept in float64.
"""

from collections.abc import Callable

import numpy as np

from fewbits.integrations.onnx._graph import Graph, described

#: What float32 would have behind its largest number.
_OVERFLOW = 2.0**128

#: Turns the inputs of one step, a feature of all rows and its weights, into factors.
Factors = Callable[[Graph, str, str], tuple[str, str]]


def all_scores(g: Graph, X: str, weights: str, bias: str) -> str:
    """Return the exact score of every row and output, all float64.

    `X` is (n, d), `weights` (d, b), `bias` (b,); all of them hold float32 numbers.
    """
    n = g.add("Shape", X, start=0, end=1)
    b = g.add("Shape", bias)
    start = g.add("Expand", bias, g.add("Concat", n, b, axis=0))
    axis = g.constant([1], np.int64)

    def factors(body: Graph, x: str, w: str) -> tuple[str, str]:
        return body.add("Unsqueeze", x, axis), w

    return chain(g, X, weights, start, factors)


def some_scores(g: Graph, X: str, weights: str, bias: str, places: str) -> str:
    """Return the exact scores at `places` (2, k), rows and outputs: (k,)."""
    rows, outputs = (g.add("Gather", places, g.constant(i, np.int64)) for i in (0, 1))
    start = g.add("Gather", bias, outputs)

    def factors(body: Graph, x: str, w: str) -> tuple[str, str]:
        return body.add("Gather", x, rows), body.add("Gather", w, outputs)

    return chain(g, X, weights, start, factors)


def chain(g: Graph, X: str, weights: str, start: str, factors: Factors) -> str:
    """Walk over the features, and add the product of two factors at each."""
    body = g.branch()
    total, x, w = (g.new_name(kind) for kind in ("total", "x", "w"))
    result = fused_multiply_add(body, *factors(body, x, w), total)
    inputs = [described(name) for name in (total, x, w)]
    step = body.proto("fused_multiply_add", inputs, [described(result)])
    columns = g.add("Transpose", X, perm=[1, 0])
    return g.add("Scan", start, columns, weights, body=step, num_scan_inputs=2)


def fused_multiply_add(g: Graph, x: str, w: str, total: str) -> str:
    """Return ``x * w + total`` rounded once to float32.

    Rounding the float64 sum goes wrong in one case: the sum lies in the middle between
    two float32 numbers, where ties go to the even one, but the exact value lies nearer
    to the other.
    """
    product = g.add("Mul", x, w)
    sum_ = g.add("Add", product, total)
    error = _error_of_sum(g, product, total, sum_)
    near = _rounded(g, sum_)
    # There is such a middle behind the largest float32, too. What is beyond it stays
    # infinite: `near` is taken as it is.
    limits = g.constant(-_OVERFLOW), g.constant(_OVERFLOW)
    rest = g.add("Sub", sum_, g.add("Clip", near, *limits))
    other = g.add("Add", sum_, rest)
    is_middle = g.add("Equal", other, _rounded(g, other))
    # Of equal signs; neither is so small that the product would be zero.
    beyond = g.add("Greater", g.add("Mul", error, rest), g.constant(0.0))
    return g.add("Where", g.add("And", is_middle, beyond), other, near)


def _rounded(g: Graph, value: str) -> str:
    """Return the float32 number that is nearest to a float64 one, kept in float64."""
    return g.cast(g.cast(value, np.float32), np.float64)


def _error_of_sum(g: Graph, a: str, b: str, sum_: str) -> str:
    """Return the exact ``a + b - sum``, or NaN where the sum is infinite (TwoSum)."""
    virtual = g.add("Sub", sum_, a)
    rest_of_a = g.add("Sub", a, g.add("Sub", sum_, virtual))
    return g.add("Add", rest_of_a, g.add("Sub", b, virtual))
