"""Networks that were trained here and exported: images to features without torch."""

import hashlib
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewbits._images import PIXEL_RULE
from fewbits.backbones._network_images import NetworkImages, session_of
from fewbits.backbones._onnx_files import id_of
from fewbits.errors import ArtefactError, MissingExtraError

_RULE = "squeezed bilinearly, x / 255, version 1"
_NEEDED = "images need Pillow and ONNX Runtime"


@final
class OnnxImages(NetworkImages):
    """Image to the features of a network that `learners.deep.export_backbone` wrote.

    The network is a plain ONNX model from ``image``, float32 (n, 3, size, size) with
    RGB from 0 to 1, to ``features`` (n, n_features).

    Parameters
    ----------
    network : bytes
        The content of the file; `fewbits.backbones.load` finds it by its id.

    Attributes
    ----------
    id : str
        ``onnx-`` and the first 8 digits of the file's checksum.
    size : int
        Pixels on each side of what the network sees.
    format : str
        What the metadata of a file must say: other models expect other pixels.

    Raises
    ------
    ArtefactError
        When `network` is something else, or damaged.
    MissingExtraError
        When ONNX Runtime or Pillow is not installed.
    """

    format: ClassVar[str] = "fewbits-onnx-images-1"

    def __init__(self, network: bytes) -> None:
        self.id = id_of(network)
        self._checksum = hashlib.sha256(network).hexdigest()
        self._loaded = _loaded(network, self.id)
        (image,), (features,) = self._loaded.get_inputs(), self._loaded.get_outputs()
        self.size, self.n_features = image.shape[2], features.shape[1]

    @cached_property
    def fingerprint(self) -> str:
        rules = f"{PIXEL_RULE}, {_RULE}"
        return hashlib.sha256(f"{rules} {self._checksum}".encode()).hexdigest()

    @property
    def _session(self) -> Any:
        return self._loaded

    def _row(self, session: Any, image: NDArray[np.float32]) -> NDArray[np.float32]:
        (found,) = session.run(None, {"image": image / 255})
        row: NDArray[np.float32] = found[0]
        return row


def _loaded(network: bytes, name: str) -> Any:
    try:
        session = session_of(network, _NEEDED)
    except MissingExtraError:
        raise
    except Exception as error:  # ONNX Runtime has a class for each, without a base
        message = str(error).splitlines()[0]
        raise ArtefactError(f"{name} is not a network: {message}") from error
    found = session.get_modelmeta().custom_metadata_map.get("format", "none")
    if found != OnnxImages.format:
        raise ArtefactError(
            f"{name} is not a network that this version reads: its format is "
            f"{found!r}, "
            f"expected {OnnxImages.format!r}"
        )
    return session
