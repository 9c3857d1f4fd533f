"""Images through a network in ONNX Runtime, and networks that were trained here."""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits._files import atomic_write
from fewbits._images import PIXEL_RULE, open_rgb
from fewbits._kernels import num_threads
from fewbits._spans import spans
from fewbits.backbones._base import Backbone, Progress, cache_folder
from fewbits.errors import ArtefactError, MissingDataError, MissingExtraError

_BATCH = 64
_RULE = "squeezed bilinearly, x / 255, version 1"
#: Ids of networks that were trained here: 8 digits of a checksum.
ID = re.compile("onnx-[0-9a-f]{8}")


class NetworkImages(Backbone):
    """Squeeze each image into a square and run it alone through a network."""

    kind: ClassVar[str] = "images"
    size: int

    @property
    @abstractmethod
    def _session(self) -> Any:
        """The network, see `session_of`."""

    @abstractmethod
    def _row(self, session: Any, image: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the features of one image (1, 3, size, size) of numbers 0 to 255."""

    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        features = np.empty((len(items), self.n_features), np.float32)
        session = self._session

        def row_of(item: Any) -> NDArray[np.float32]:
            return self._row(session, pixels([item], self.size).astype(np.float32))

        with ThreadPoolExecutor(num_threads()) as pool:
            for span in spans(len(items), _BATCH):
                batch = [items[row] for row in range(span.start, span.stop)]
                features[span] = list(pool.map(row_of, batch))
                if progress is not None:
                    progress(span.stop, len(items))
        return features


def pixels(items: Sequence[Any], size: int) -> NDArray[np.uint8]:
    """Return images as a network sees them that `load` finds: to train one on.

    Parameters
    ----------
    items : sequence
        Paths, PIL images (both turned as their EXIF orientation says), or arrays
        (h, w), (h, w, 3) of RGB or (h, w, 4) of RGBA, of bytes, of booleans, or of
        floats from 0 to 1. Of uint16 the upper byte counts, other integers must be
        bytes. What is transparent is seen on white.
    size : int
        Pixels on each side. Whatever the shape, an image is squeezed into a square:
        bilinear, with antialiasing when it shrinks.

    Returns
    -------
    ndarray of shape (n, 3, size, size), dtype uint8

    Raises
    ------
    FeatureError
        When an image cannot be opened, or it is not certain what its numbers mean,
        naming it.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.backbones import pixels
    >>> pixels([np.zeros((40, 60, 3), np.uint8), np.zeros((9, 9), np.uint8)], 32).shape
    (2, 3, 32, 32)
    """
    images = np.empty((len(items), size, size, 3), np.uint8)
    for row, item in enumerate(items):
        image = open_rgb(item)
        from PIL.Image import Resampling

        images[row] = image.resize((size, size), Resampling.BILINEAR)
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


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
        self.id = _id_of(network)
        self._checksum = hashlib.sha256(network).hexdigest()
        try:
            self._loaded = session_of(network, "images need Pillow and ONNX Runtime")
        except MissingExtraError:
            raise
        except Exception as error:  # ONNX Runtime has a class for each, without a base
            message = str(error).splitlines()[0]
            raise ArtefactError(f"{self.id} is not a network: {message}") from error
        metadata = self._loaded.get_modelmeta().custom_metadata_map
        if (stated := metadata.get("format", "none")) != self.format:
            raise ArtefactError(
                f"{self.id} is not a network that this version reads: its format is "
                f"{stated!r}, expected {self.format!r}"
            )
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
        (features,) = session.run(None, {"image": image / 255})
        row: NDArray[np.float32] = features[0]
        return row


def keep_network(network: bytes) -> str:
    """Write a network into the cache folder, and return the id `load` finds it by.

    Parameters
    ----------
    network : bytes
        The content of an ONNX file that `OnnxImages` takes.

    Returns
    -------
    str

    Raises
    ------
    OSError
        When the cache folder cannot be written to.
    """
    name = _id_of(network)
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(network)
    return name


def kept_networks() -> list[str]:
    """Return the ids of the networks in the cache folder."""
    names = (path.stem for path in cache_folder().glob("onnx-*.onnx"))
    return sorted(name for name in names if ID.fullmatch(name))


def kept_network(name: str) -> bytes:
    """Return the network of that id."""
    path = _path(name)
    if not path.is_file():
        raise MissingDataError(
            f"there is no network {path}: write it with "
            "fewbits.learners.deep.export_backbone, or put a copy of that file there"
        )
    network = path.read_bytes()
    if _id_of(network) != name:
        raise ArtefactError(f"{path} is damaged: its checksum is not that of its name")
    return network


def _path(name: str) -> Path:
    return cache_folder() / f"{name}.onnx"


def _id_of(network: bytes) -> str:
    return "onnx-" + hashlib.sha256(network).hexdigest()[:8]


def session_of(network: bytes, needed: str) -> Any:
    """Return a session of an ONNX model, in one thread."""
    try:
        import PIL  # noqa: F401
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError:
        raise missing_extra(needed, "vision") from None
    options = SessionOptions()
    options.intra_op_num_threads = 1
    return InferenceSession(network, options, providers=["CPUExecutionProvider"])
