"""Opening images of any kind as RGB bytes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits.errors import FeatureError


def as_rgb(item: Any, size: int) -> NDArray[np.uint8]:
    """Return an image as uint8 (size, size, 3).

    Parameters
    ----------
    item : str, Path, PIL image, ndarray of uint8 (h, w) or (h, w, 3), or ImageItem
        Grey, palette, CMYK and transparent images become RGB (transparency is
        dropped). Whatever the shape, the image is squeezed into a square.
    size : int
        Pixels on each side; bilinear, with antialiasing when it shrinks.

    Raises
    ------
    FeatureError
        When the image cannot be opened, naming it.
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
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise missing_extra("images need Pillow", "vision") from None

    # A broken PNG raises SyntaxError; an `open` that gives no image, AttributeError.
    unreadable = (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        ValueError,
        TypeError,
        SyntaxError,
        AttributeError,
    )
    try:
        image = _eight_bits(_open(item)).convert("RGB")
        resized = image.resize(size(*image.size), Image.Resampling.BILINEAR)
    except FileNotFoundError as error:
        raise FeatureError(f"there is no file {_name(item)}") from error
    except unreadable as error:
        raise FeatureError(f"{_name(item)} is no readable image: {error}") from error
    return np.asarray(resized, dtype=np.uint8)


def _eight_bits(image: Any) -> Any:
    """Scale 16-bit grey, which Pillow would otherwise clip to white."""
    from PIL import Image

    if not image.mode.startswith("I"):
        return image
    return Image.fromarray((np.asarray(image) >> 8).clip(0, 255).astype(np.uint8))


def _open(item: Any) -> Any:
    from PIL import Image

    if isinstance(item, str | Path):
        return Image.open(item)
    if isinstance(item, np.ndarray):
        grey_or_rgb = item.ndim == 2 or (item.ndim == 3 and item.shape[2] == 3)
        if item.dtype != np.uint8 or not grey_or_rgb or item.size == 0:
            raise ValueError(
                "arrays must be uint8 (h, w) or (h, w, 3), got "
                f"{item.dtype} {item.shape}"
            )
        return Image.fromarray(item)
    if isinstance(item, Image.Image):
        return item
    if hasattr(item, "open"):
        return item.open()
    raise TypeError(f"expected a path, an image or an array, got {type(item).__name__}")


def _name(item: Any) -> str:
    if isinstance(item, str | Path):
        return str(item)
    return str(getattr(item, "name", None) or f"the {type(item).__name__}")
