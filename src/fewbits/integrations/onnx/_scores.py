"""Scores of a chain of layers: as they are defined, or as the runtime rounds them."""

import numpy as np
from numpy.typing import DTypeLike

from fewbits.integrations.onnx._chain import all_scores
from fewbits.integrations.onnx._decide import decided_scores
from fewbits.integrations.onnx._graph import Graph
from fewbits.integrations.onnx._layers import Layer


def exact_scores(g: Graph, layers: list[Layer], all_of_them: bool) -> str:
    """Return float32 scores: the exact ones, or else some of the same sign."""
    values = g.cast(_finite(g, "features", "features_must_be_finite"), np.float64)
    for number, layer in enumerate(layers[:-1], 1):
        hidden = all_scores(g, values, *_float64(g, layer))
        hidden = _finite(g, hidden, _overflow(number), np.float64)
        # Not the operator ReLU, which may make 0 or -0 of -0.
        zero = g.constant(0.0)
        values = g.add("Where", g.add("Greater", hidden, zero), hidden, zero)
    weights, bias = _float64(g, layers[-1])
    if all_of_them:
        return g.cast(all_scores(g, values, weights, bias), np.float32)
    # What is decided without the chain is larger than the smallest float32.
    decided = decided_scores(g, values, weights, bias, layers[-1])
    return g.cast(decided, np.float32)


def fast_scores(g: Graph, layers: list[Layer]) -> str:
    """Return float32 scores as the runtime rounds them."""
    values = _finite(g, "features", "features_must_be_finite")
    for number, layer in enumerate(layers[:-1], 1):
        hidden = g.add("Gemm", values, *_float32(g, layer))
        values = g.add("Relu", _finite(g, hidden, _overflow(number)))
    return g.add("Gemm", values, *_float32(g, layers[-1]))


def _float32(g: Graph, layer: Layer) -> tuple[str, str]:
    weights, bias = layer
    return g.constant(weights, np.float32), g.constant(bias, np.float32)


def _float64(g: Graph, layer: Layer) -> tuple[str, str]:
    weights, bias = _float32(g, layer)
    return g.cast(weights, np.float64), g.cast(bias, np.float64)


def _overflow(number: int) -> str:
    return f"hidden_layer_{number}_overflows"


def _finite(g: Graph, values: str, name: str, dtype: DTypeLike = np.float32) -> str:
    """Return `values`, or fail where one of them is not finite.

    ONNX has no operator that fails, but reading behind the end of a list does; the
    message of a runtime names the node.
    """
    is_nan = g.add("IsNaN", g.add("Sub", values, values))
    place = g.add("ReduceSum", g.cast(is_nan, np.int64), keepdims=0)
    one = g.add("Gather", g.constant([1.0], dtype), place, name=name)
    return g.add("Mul", values, one)
