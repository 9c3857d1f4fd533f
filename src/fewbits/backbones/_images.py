"""Opening images of any kind as RGB bytes of one size."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    from PIL import Image, UnidentifiedImageError

    try:
        image = _open(item)
        square = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
    except (UnidentifiedImageError, OSError, ValueError, TypeError) as error:
        raise FeatureError(f"{_name(item)} is no readable image: {error}") from error
    return np.asarray(square, dtype=np.uint8)


def _open(item: Any) -> Any:
    from PIL import Image

    if isinstance(item, str | Path):
        return Image.open(item)
    if isinstance(item, np.ndarray):
        if item.dtype != np.uint8:
            raise ValueError(f"arrays must be uint8, got {item.dtype}")
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
