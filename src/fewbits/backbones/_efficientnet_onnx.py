"""EfficientNet-Lite0 as an ONNX graph, from the weights that a package ships.

The network is a chain of convolutions, each with its batch normalisation folded in, and
ReLU6. Writing the graph down takes a page, and spares torch's exporter and its
dependencies; torch only reads the checkpoint, without unpickling code.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import MissingExtraError

#: (repeats, kernel, stride, expansion, output channels) of each stage.
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
STEM_CHANNELS = 32
EPSILON = 1e-3
OPSET = 17

Weights = dict[str, NDArray[np.float32]]


def convert(checkpoint: Path) -> bytes:
    """Return the network up to its last feature map.

    The input is float32 (n, 3, height, width), the output (n, 1280, height / 32,
    width / 32).
    """
    import onnx

    model = _Graph(_read(checkpoint)).model()
    onnx.checker.check_model(model)
    network: bytes = model.SerializeToString(deterministic=True)
    return network


def _read(checkpoint: Path) -> Weights:
    try:
        import torch
    except ImportError:
        raise MissingExtraError(
            "reading EfficientNet-Lite0's weights for the first time needs torch, any "
            "CPU build will do: pip install torch==2.13.0"
        ) from None
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    return {name: tensor.numpy() for name, tensor in state.items()}


class _Graph:
    """Nodes and weights, added in the order of the network."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.last = "image"

    def model(self) -> Any:
        from onnx import TensorProto, helper

        self._network()
        self.nodes[-1].output[0] = "features"
        size = [("n", "height", "width"), ("n", "rows", "columns")]
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [n, channels, h, w])
            for name, channels, (n, h, w) in zip(
                ("image", "features"), (3, 1280), size, strict=True
            )
        ]
        graph = helper.make_graph(
            self.nodes, "efficientnet-lite0", ends[:1], ends[1:], self.constants
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8)

    def _network(self) -> None:
        self._constant("zero", np.float32(0))
        self._constant("six", np.float32(6))
        self._convolution("_conv_stem", "_bn0", stride=2)
        n_in, block = STEM_CHANNELS, 0
        for repeats, _, stride, expansion, n_out in STAGES:
            for repeat in range(repeats):
                step = stride if repeat == 0 else 1
                self._block(f"_blocks.{block}.", expansion, step, n_in == n_out)
                n_in, block = n_out, block + 1
        self._convolution("_conv_head", "_bn1")

    def _block(self, name: str, expansion: int, stride: int, same: bool) -> None:
        """Expand, filter each channel, project; add the input where shapes agree."""
        start = self.last
        if expansion > 1:
            self._convolution(f"{name}_expand_conv", f"{name}_bn0")
        self._convolution(f"{name}_depthwise_conv", f"{name}_bn1", stride=stride)
        self._convolution(f"{name}_project_conv", f"{name}_bn2", activate=False)
        if same and stride == 1:
            self._node("Add", [start, self.last])

    def _convolution(
        self, name: str, norm: str, *, stride: int = 1, activate: bool = True
    ) -> None:
        kernel = self.weights[f"{name}.weight"]
        scale, shift, mean, variance = (
            self.weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = scale / np.sqrt(variance + EPSILON)
        self._constant(f"{name}.w", kernel * factor[:, None, None, None])
        self._constant(f"{name}.b", shift - mean * factor)
        depthwise = kernel.shape[1] == 1
        self._node(
            "Conv",
            [self.last, f"{name}.w", f"{name}.b"],
            kernel_shape=list(kernel.shape[2:]),
            strides=[stride, stride],
            group=len(kernel) if depthwise else 1,
            auto_pad="SAME_UPPER",
        )
        if activate:
            self._node("Clip", [self.last, "zero", "six"])

    def _node(self, kind: str, inputs: list[str], **attributes: Any) -> None:
        from onnx import helper

        self.last = f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [self.last], **attributes))

    def _constant(self, name: str, value: Any) -> None:
        from onnx import numpy_helper

        array = np.asarray(value, dtype=np.float32)
        self.constants.append(numpy_helper.from_array(array, name))
