"""Images of any kind, resized for a backbone."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._images import open_rgb


def as_rgb(item: Any, size: int) -> NDArray[np.uint8]:
    """Return an image as uint8 (size, size, 3).

    Parameters
    ----------
    item : str, Path, PIL image, ndarray (h, w), (h, w, 1) or (h, w, 3), or ImageItem
        See `fewbits._images.open_rgb`. Whatever the shape, the image is squeezed into a
        square.
    size : int
        Pixels on each side; bilinear, with antialiasing when it shrinks.

    Raises
    ------
    FeatureError
        When the image cannot be opened, or it is not certain what its numbers mean,
        naming it.
    """
    return _resized(item, lambda width, height: (size, size))


def as_rgb_within(item: Any, longest: int, shortest: int) -> NDArray[np.uint8]:
    """Return an image as uint8 (height, width, 3), its longer side `longest` pixels.

    The shape stays, except that no side gets fewer than `shortest` pixels. Items,
    modes, resizing and errors are those of `as_rgb`.
    """

    def size(width: int, height: int) -> tuple[int, int]:
        scale = longest / max(width, height)
        across, down = (max(shortest, round(side * scale)) for side in (width, height))
        return across, down

    return _resized(item, size)


def _resized(
    item: Any, size: Callable[[int, int], tuple[int, int]]
) -> NDArray[np.uint8]:
    """Return the image with the (width, height) that `size` makes of its own."""
    image = open_rgb(item)
    from PIL import Image

    resized = image.resize(size(*image.size), Image.Resampling.BILINEAR)
    return np.asarray(resized, dtype=np.uint8)
