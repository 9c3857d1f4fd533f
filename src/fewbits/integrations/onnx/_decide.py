"""Scores that have the right sign, most of them without the chain that defines them."""

import numpy as np

from fewbits.integrations.onnx._chain import some_scores
from fewbits.integrations.onnx._graph import Graph, described
from fewbits.integrations.onnx._layers import Layer

_FLOAT32 = np.finfo(np.float32)
#: Covers the errors of float64, which are millions of times smaller.
_SLACK = 1.05


def decided_scores(g: Graph, X: str, weights: str, bias: str, layer: Layer) -> str:
    """Return float64 scores (n, b) on the side of zero on which the exact ones are.

    A matrix product in float64 decides wherever it is farther from zero than a chain in
    float32 may be from the truth; the chain itself decides the rest.
    """
    scores = g.add("Gemm", X, weights, bias)
    undecided = _undecided(g, X, scores, layer)
    n_undecided = g.add("ReduceSum", g.cast(undecided, np.int64), keepdims=0)
    settle, keep = g.branch(), g.branch()
    places = settle.add("NonZero", undecided)
    exact = some_scores(settle, X, weights, bias, places)
    at = settle.add("Transpose", places, perm=[1, 0])
    settled = settle.add("ScatterND", scores, at, exact)
    kept = keep.add("Identity", scores)
    return g.add(
        "If",
        g.add("Greater", n_undecided, g.constant(0, np.int64)),
        then_branch=settle.proto("settle", [], [described(settled)]),
        else_branch=keep.proto("keep", [], [described(kept)]),
    )


def _undecided(g: Graph, X: str, scores: str, layer: Layer) -> str:
    """Mark scores whose sign in float64 may differ from the chain's.

    A chain of d fused multiply-adds errs by at most gamma A + d tiny, where A is the
    sum of the absolute values of all terms, gamma = d u / (1 - d u), u = 2^-24, and
    tiny the smallest float32 (Higham 2002, section 3.1). Norms bound A. Where A is
    near the largest float32, the chain may overflow.
    """
    weights, bias = (array.astype(np.float64) for array in layer)
    relative = len(weights) * 2.0**-24
    gamma = _SLACK * relative / (1 - relative)
    tiny = _SLACK * len(weights) * float(_FLOAT32.smallest_subnormal)
    largest = 0.5 * float(_FLOAT32.max) if relative < 0.5 else 0.0

    norms = g.constant(np.linalg.norm(weights, axis=0))
    axis = g.constant([1], np.int64)
    length = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", X, X), axis, keepdims=1))
    terms = g.add("Add", g.add("Mul", length, norms), g.constant(np.abs(bias)))
    bound = g.add("Add", g.add("Mul", terms, g.constant(gamma)), g.constant(tiny))
    near_zero = g.add("LessOrEqual", g.add("Abs", scores), bound)
    large = g.add("GreaterOrEqual", terms, g.constant(largest))
    return g.add("Or", near_zero, large)
