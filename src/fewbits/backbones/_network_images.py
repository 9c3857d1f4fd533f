"""Images through a network in ONNX Runtime."""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits._kernels import num_threads
from fewbits.backbones._base import Backbone, Progress
from fewbits.backbones._images import as_rgb

_BATCH = 64


class NetworkImages(Backbone):
    """Squeeze each image into a square and run it through a network.

    Images run one by one, several at a time, so that an image has the same features
    whatever else is extracted with it.
    """

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
        with ThreadPoolExecutor(num_threads()) as pool:
            for start in range(0, len(items), _BATCH):
                stop = min(start + _BATCH, len(items))
                some = (items[row] for row in range(start, stop))
                rows = pool.map(lambda item: self._one(session, item), some)
                features[start:stop] = list(rows)
                if progress is not None:
                    progress(stop, len(items))
        return features

    def _one(self, session: Any, item: Any) -> NDArray[np.float32]:
        return self._row(session, pixels([item], self.size).astype(np.float32))


def pixels(items: Sequence[Any], size: int) -> NDArray[np.uint8]:
    """Return images as a network sees them that `load` finds: to train one on.

    Parameters
    ----------
    items : sequence
        Paths, PIL images (both turned as their EXIF orientation says), or arrays (h, w)
        or (h, w, 3) of bytes, of booleans, or of floats from 0 to 1. Of uint16 the
        upper byte counts, other integers must be bytes.
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
        images[row] = as_rgb(item, size)
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


def session_of(network: bytes, needed: str) -> Any:
    """Return a session of an ONNX model, in one thread.

    Raises
    ------
    MissingExtraError
        That says what is `needed`, when ONNX Runtime or Pillow is not installed.
    """
    try:
        import PIL  # noqa: F401
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError:
        raise missing_extra(needed, "vision") from None
    options = SessionOptions()
    options.intra_op_num_threads = 1
    return InferenceSession(network, options, providers=["CPUExecutionProvider"])
