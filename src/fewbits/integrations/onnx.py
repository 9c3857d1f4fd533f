"""Encoders as ONNX models: codes without this package, and without Python."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fewbits._extras import missing_extra
from fewbits._files import atomic_write
from fewbits._version import __version__
from fewbits.codes import n_bytes
from fewbits.encoders import (
    BlockDiagonalEncoder,
    Encoder,
    LinearEncoder,
    MLPEncoder,
    SparseEncoder,
)
from fewbits.errors import ArgumentError

__all__ = ["export_onnx"]

#: Of one protocol buffer, which an ONNX file is; a little is left for the rest.
_MAX_BYTES = 2**31 - 2**20
#: Weights (n_in, n_out) and one bias for each output, float32.
_Layer = tuple[NDArray[np.float32], NDArray[np.float32]]
_FLOAT32 = np.finfo(np.float32)
#: Covers the errors of float64, which are millions of times smaller.
_SLACK = 1.05
#: What float32 would have behind its largest number.
_OVERFLOW = 2.0**128
#: ONNX Runtime 1.18, the oldest that is supported, reads up to 21.
_OPSET, _IR_VERSION = 17, 8


def export_onnx(
    encoder: Encoder, path: str | Path, *, exact: bool = True, scores: bool = False
) -> None:
    """Write an encoder as an ONNX model, which gives the same codes.

    The input ``features`` is float32 (n, n_features), the output ``codes`` uint8 (n,
    ceil(n_bits / 8)), packed as by `fewbits.codes.pack`. The model's metadata name the
    encoder: ``fewbits.fingerprint`` is that of collections.

    Parameters
    ----------
    encoder : LinearEncoder, SparseEncoder, BlockDiagonalEncoder or MLPEncoder
        The zero weights of a sparse one are written out.
    path : str or Path
        Replaced when it exists; left as it is when anything goes wrong.
    exact : bool, default=True
        Compute what the encoder computes, to the last bit and in any batch. A model
        that is not exact is one matrix product for each layer: it may give another bit
        where a score is about zero.
    scores : bool, default=False
        Add an output ``scores``, float32 (n, n_bits): what `Encoder.project` gives,
        which is slow where the model is exact.

    Raises
    ------
    ArgumentError
        When the encoder is of another kind, or its weights take more than the 2 GB
        that an ONNX file may hold.
    MissingExtraError
        When the package onnx is not installed.

    Notes
    -----
    Any runtime with operator set 17 runs the model; an exact one needs float64
    arithmetic with denormals. A row that the encoder refuses (NaN, infinity, a hidden
    layer that overflows) is an error of the runtime, which names the node
    ``features_must_be_finite`` or ``hidden_layer_1_overflows``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import onnxruntime
    >>> from fewbits.encoders import LinearEncoder
    >>> encoder = LinearEncoder([[1.0, -2.0]], [0.0, 1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(encoder, f"{folder}/encoder.onnx")
    ...     session = onnxruntime.InferenceSession(f"{folder}/encoder.onnx")
    >>> session.run(["codes"], {"features": np.array([[3], [-3]], np.float32)})[0]
    array([[128],
           [ 64]], dtype=uint8)
    """
    layers = _layers(encoder)
    try:
        from onnx import helper
    except ImportError:
        what = "writing ONNX models needs the package onnx"
        raise missing_extra(what, "onnx") from None
    g = _Graph()
    values = _exact_scores(g, layers, scores) if exact else _fast_scores(g, layers)
    outputs = []
    if scores:
        values = g.promise("scores")
        outputs = [_described(values, np.float32, ["n", encoder.n_bits])]
    # Threshold float32 scores, and pack the bits, most significant first.
    above = "GreaterOrEqual" if encoder.zero_bit else "Greater"
    bits = g.add(above, values, g.constant(0.0, np.float32))
    width = n_bytes(encoder.n_bits)
    filling = g.constant([0, 0, 0, 8 * width - encoder.n_bits], np.int64)
    padded = g.add("Pad", g.cast(bits, np.float32), filling)
    # A length of 0 stands for the one that is there.
    bytes_ = g.add("Reshape", padded, g.constant([0, width, 8], np.int64))
    weighted = g.add("Mul", bytes_, g.constant(2.0 ** np.arange(7, -1, -1), np.float32))
    sums = g.add("ReduceSum", weighted, g.constant([2], np.int64), keepdims=0)
    g.cast(sums, np.uint8)
    codes = _described(g.promise("codes"), np.uint8, ["n", width])
    features = _described("features", np.float32, ["n", encoder.n_features])
    model = helper.make_model(
        helper.make_graph(
            g.nodes, "fewbits", [features], [codes, *outputs], g.constants
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="fewbits",
        producer_version=__version__,
    )
    facts = {
        "version": __version__,
        "encoder": encoder.kind,
        "fingerprint": encoder.fingerprint,
        "n_features": encoder.n_features,
        "n_bits": encoder.n_bits,
        "zero_bit": encoder.zero_bit,
        "exact": int(exact),
    }
    named = {f"fewbits.{name}": str(value) for name, value in facts.items()}
    helper.set_model_props(model, named)
    content = model.SerializeToString(deterministic=True)
    with atomic_write(path) as file:
        file.write(content)


@final
class _Graph:
    """Nodes in the order of the computation; methods return the names of values.

    A branch sees the values of the graph that it belongs to.
    """

    def __init__(self, parent: "_Graph | None" = None) -> None:
        self.nodes: list[Any] = []
        # Names are unique, and constants kept, in the outermost graph.
        self._count: count[int] = count() if parent is None else parent._count
        self.constants: list[Any] = [] if parent is None else parent.constants

    def branch(self) -> Self:
        """Return an empty graph for the inside of a node."""
        return type(self)(self)

    def add(
        self, kind: str, *inputs: str, name: str | None = None, **attributes: Any
    ) -> str:
        """Add a node and return the name of its only output."""
        from onnx import helper

        output = self.new_name(kind)
        node = helper.make_node(kind, inputs, [output], name or output, **attributes)
        self.nodes.append(node)
        return output

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.float64) -> str:
        """Keep a constant and return its name."""
        from onnx import numpy_helper

        name = self.new_name("constant")
        array = np.asarray(value, dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def cast(self, value: str, dtype: DTypeLike) -> str:
        """Add a conversion and return its name."""
        return self.add("Cast", value, to=_element(dtype))

    def new_name(self, kind: str) -> str:
        return f"{kind.lower()}_{next(self._count)}"

    def promise(self, name: str) -> str:
        """Give the value that was added last a name that users know."""
        self.nodes[-1].output[0] = name
        return name

    def proto(self, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
        """Return the inside of a node, without constants: those are outside."""
        from onnx import helper

        return helper.make_graph(self.nodes, name, inputs, outputs)


def _described(
    name: str, dtype: DTypeLike = np.float64, shape: Sequence[str | int] | None = None
) -> Any:
    """Describe a value as the ends of graphs want it; no shape stands for any."""
    from onnx import helper

    return helper.make_tensor_value_info(name, _element(dtype), shape)


def _element(dtype: DTypeLike) -> int:
    from onnx import helper

    element: int = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return element


def _layers(encoder: Encoder) -> list[_Layer]:
    """Return the affine layers of an encoder; between two of them is ReLU."""
    kinds = LinearEncoder, SparseEncoder, BlockDiagonalEncoder, MLPEncoder
    if not isinstance(encoder, kinds):
        raise ArgumentError(
            "ONNX models are made of LinearEncoder, SparseEncoder, "
            f"BlockDiagonalEncoder and MLPEncoder, got {encoder!r}"
        )
    shapes = [(encoder.n_features, encoder.n_bits)]
    if isinstance(encoder, MLPEncoder):
        shapes = [weights.shape for weights in encoder.weights]
    size = 4 * sum(n_in * n_out + n_out for n_in, n_out in shapes)
    if size > _MAX_BYTES:
        raise ArgumentError(
            f"an ONNX file holds at most 2 GB, but the dense weights of this encoder "
            f"take {size / 1e9:.1f} GB; its prefix of fewer bits takes less"
        )
    if isinstance(encoder, LinearEncoder):
        return [(encoder.weights, encoder.bias)]
    if isinstance(encoder, MLPEncoder):
        return list(zip(encoder.weights, encoder.biases, strict=True))
    # Leaving zeros out changes no score: x * 0 + total is total for a finite x. Only
    # the sign of a total of zero may change, and both are zero to a threshold.
    weights = np.zeros(shapes[0], np.float32)
    if isinstance(encoder, BlockDiagonalEncoder):
        for features, columns, matrix in encoder.blocks():
            weights[features, columns] = matrix
    else:
        bits = np.repeat(np.arange(encoder.n_bits), np.diff(encoder.indptr))
        weights[encoder.indices, bits] = encoder.values
    return [(weights, encoder.bias)]


def _exact_scores(g: _Graph, layers: list[_Layer], all_of_them: bool) -> str:
    """Return float32 scores: the exact ones, or else some of the same sign."""
    values = g.cast(_finite(g, "features", "features_must_be_finite"), np.float64)
    for number, layer in enumerate(layers[:-1], 1):
        hidden = _all_scores(g, values, *_float64(g, layer))
        hidden = _finite(g, hidden, f"hidden_layer_{number}_overflows", np.float64)
        # Not the operator ReLU, which may make 0 or -0 of -0.
        zero = g.constant(0.0)
        values = g.add("Where", g.add("Greater", hidden, zero), hidden, zero)
    weights, bias = _float64(g, layers[-1])
    if all_of_them:
        return g.cast(_all_scores(g, values, weights, bias), np.float32)
    # What is decided without the chain is larger than the smallest float32.
    decided = _decided_scores(g, values, weights, bias, layers[-1])
    return g.cast(decided, np.float32)


def _fast_scores(g: _Graph, layers: list[_Layer]) -> str:
    """Return float32 scores as the runtime rounds them."""
    values = _finite(g, "features", "features_must_be_finite")
    for number, layer in enumerate(layers[:-1], 1):
        hidden = g.add("Gemm", values, *_float32(g, layer))
        values = g.add("Relu", _finite(g, hidden, f"hidden_layer_{number}_overflows"))
    return g.add("Gemm", values, *_float32(g, layers[-1]))


def _float32(g: _Graph, layer: _Layer) -> tuple[str, str]:
    weights, bias = (g.constant(array, np.float32) for array in layer)
    return weights, bias


def _float64(g: _Graph, layer: _Layer) -> tuple[str, str]:
    weights, bias = _float32(g, layer)
    return g.cast(weights, np.float64), g.cast(bias, np.float64)


def _finite(g: _Graph, values: str, name: str, dtype: DTypeLike = np.float32) -> str:
    """Return `values`, or fail where one of them is not finite.

    ONNX has no operator that fails, but reading behind the end of a list does; the
    message of a runtime names the node.
    """
    is_nan = g.add("IsNaN", g.add("Sub", values, values))
    place = g.add("ReduceSum", g.cast(is_nan, np.int64), keepdims=0)
    one = g.add("Gather", g.constant([1.0], dtype), place, name=name)
    return g.add("Mul", values, one)


def _decided_scores(g: _Graph, X: str, weights: str, bias: str, layer: _Layer) -> str:
    """Return float64 scores (n, b) on the side of zero on which the exact ones are.

    A matrix product in float64 decides wherever it is farther from zero than a chain in
    float32 may be from the truth; the chain itself decides the rest.

    A chain of d fused multiply-adds errs by at most gamma A + d tiny, where A is the
    sum of the absolute values of all terms, gamma = d u / (1 - d u), u = 2^-24, and
    tiny the smallest float32 (Higham 2002, section 3.1). Norms bound A. Where A is
    near the largest float32, the chain may overflow.
    """
    scores = g.add("Gemm", X, weights, bias)
    numbers, constants = (array.astype(np.float64) for array in layer)
    relative = len(numbers) * 2.0**-24
    gamma = _SLACK * relative / (1 - relative)
    tiny = _SLACK * len(numbers) * float(_FLOAT32.smallest_subnormal)
    largest = 0.5 * float(_FLOAT32.max) if relative < 0.5 else 0.0
    norms = g.constant(np.linalg.norm(numbers, axis=0))
    axis = g.constant([1], np.int64)
    length = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", X, X), axis, keepdims=1))
    terms = g.add("Add", g.add("Mul", length, norms), g.constant(np.abs(constants)))
    bound = g.add("Add", g.add("Mul", terms, g.constant(gamma)), g.constant(tiny))
    near_zero = g.add("LessOrEqual", g.add("Abs", scores), bound)
    large = g.add("GreaterOrEqual", terms, g.constant(largest))
    undecided = g.add("Or", near_zero, large)
    n_undecided = g.add("ReduceSum", g.cast(undecided, np.int64), keepdims=0)
    settle, keep = g.branch(), g.branch()
    places = settle.add("NonZero", undecided)
    exact = _some_scores(settle, X, weights, bias, places)
    at = settle.add("Transpose", places, perm=[1, 0])
    settled = settle.add("ScatterND", scores, at, exact)
    kept = keep.add("Identity", scores)
    return g.add(
        "If",
        g.add("Greater", n_undecided, g.constant(0, np.int64)),
        then_branch=settle.proto("settle", [], [_described(settled)]),
        else_branch=keep.proto("keep", [], [_described(kept)]),
    )


def _all_scores(g: _Graph, X: str, weights: str, bias: str) -> str:
    """Return the exact score of every row and output, all float64.

    `X` is (n, d), `weights` (d, b), `bias` (b,); all of them hold float32 numbers.
    """
    n = g.add("Shape", X, start=0, end=1)
    b = g.add("Shape", bias)
    start = g.add("Expand", bias, g.add("Concat", n, b, axis=0))
    axis = g.constant([1], np.int64)

    def factors(body: _Graph, x: str, w: str) -> tuple[str, str]:
        return body.add("Unsqueeze", x, axis), w

    return _chain(g, X, weights, start, factors)


def _some_scores(g: _Graph, X: str, weights: str, bias: str, places: str) -> str:
    """Return the exact scores at `places` (2, k), rows and outputs: (k,)."""
    rows, outputs = (g.add("Gather", places, g.constant(i, np.int64)) for i in (0, 1))
    start = g.add("Gather", bias, outputs)

    def factors(body: _Graph, x: str, w: str) -> tuple[str, str]:
        return body.add("Gather", x, rows), body.add("Gather", w, outputs)

    return _chain(g, X, weights, start, factors)


#: Turns the inputs of one step, a feature of all rows and its weights, into factors.
_Factors = Callable[[_Graph, str, str], tuple[str, str]]


def _chain(g: _Graph, X: str, weights: str, start: str, factors: _Factors) -> str:
    """Walk over the features, and add the product of two factors at each.

    Scores as they are defined: one chain of fused multiply-adds in float32. ONNX has no
    operator that multiplies and adds with a single rounding. It follows from operators
    that IEEE 754 defines: the product of two float32 numbers is exact in float64, and
    the error of a float64 sum is a float64 number that a few sums find. It remains to
    round the exact value, which is the float64 sum plus that error, to float32. Totals
    are float32 numbers that are kept in float64.
    """
    body = g.branch()
    total, x, w = (g.new_name(kind) for kind in ("total", "x", "w"))
    result = _fused_multiply_add(body, *factors(body, x, w), total)
    inputs = [_described(name) for name in (total, x, w)]
    step = body.proto("fused_multiply_add", inputs, [_described(result)])
    columns = g.add("Transpose", X, perm=[1, 0])
    return g.add("Scan", start, columns, weights, body=step, num_scan_inputs=2)


def _fused_multiply_add(g: _Graph, x: str, w: str, total: str) -> str:
    """Return ``x * w + total`` rounded once to float32.

    Rounding the float64 sum goes wrong in one case: the sum lies in the middle between
    two float32 numbers, where ties go to the even one, but the exact value lies nearer
    to the other.
    """
    product = g.add("Mul", x, w)
    sum_ = g.add("Add", product, total)
    # The exact error of the sum, or NaN where that is infinite (TwoSum).
    virtual = g.add("Sub", sum_, product)
    of_product = g.add("Sub", product, g.add("Sub", sum_, virtual))
    error = g.add("Add", of_product, g.add("Sub", total, virtual))
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


def _rounded(g: _Graph, value: str) -> str:
    """Return the float32 number that is nearest to a float64 one, kept in float64."""
    return g.cast(g.cast(value, np.float32), np.float64)
