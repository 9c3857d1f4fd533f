"""The model of an encoder, from features to packed codes."""

from typing import Any

import numpy as np

from fewbits._version import __version__
from fewbits.codes import n_bytes
from fewbits.encoders import Encoder
from fewbits.integrations.onnx._graph import IR_VERSION, OPSET, Graph, described
from fewbits.integrations.onnx._layers import Layer
from fewbits.integrations.onnx._scores import exact_scores, fast_scores


def build_model(
    encoder: Encoder, layers: list[Layer], *, exact: bool, scores: bool
) -> Any:
    """Return the ``onnx.ModelProto`` of an encoder that consists of `layers`."""
    from onnx import helper

    g = Graph()
    found = exact_scores(g, layers, scores) if exact else fast_scores(g, layers)
    outputs = []
    if scores:
        found = g.promise("scores")
        outputs = [described(found, np.float32, ["n", encoder.n_bits])]
    _packed(g, found, encoder)
    codes = described(g.promise("codes"), np.uint8, ["n", n_bytes(encoder.n_bits)])
    features = described("features", np.float32, ["n", encoder.n_features])
    model = helper.make_model(
        helper.make_graph(
            g.nodes, "fewbits", [features], [codes, *outputs], g.constants
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="fewbits",
        producer_version=__version__,
    )
    helper.set_model_props(model, _metadata(encoder, exact))
    return model


def _packed(g: Graph, scores: str, encoder: Encoder) -> str:
    """Threshold float32 scores, and pack the bits, most significant first."""
    above = "GreaterOrEqual" if encoder.zero_bit else "Greater"
    bits = g.add(above, scores, g.constant(0.0, np.float32))
    width = n_bytes(encoder.n_bits)
    filling = g.constant([0, 0, 0, 8 * width - encoder.n_bits], np.int64)
    padded = g.add("Pad", g.cast(bits, np.float32), filling)
    # A length of 0 stands for the one that is there.
    bytes_ = g.add("Reshape", padded, g.constant([0, width, 8], np.int64))
    weighted = g.add("Mul", bytes_, g.constant(2.0 ** np.arange(7, -1, -1), np.float32))
    sums = g.add("ReduceSum", weighted, g.constant([2], np.int64), keepdims=0)
    return g.cast(sums, np.uint8)


def _metadata(encoder: Encoder, exact: bool) -> dict[str, str]:
    facts = {
        "version": __version__,
        "encoder": encoder.kind,
        "fingerprint": encoder.fingerprint,
        "n_features": encoder.n_features,
        "n_bits": encoder.n_bits,
        "zero_bit": encoder.zero_bit,
        "exact": int(exact),
    }
    return {f"fewbits.{name}": str(value) for name, value in facts.items()}
