"""The one place where images are opened: upright, and as RGB of 8 bits."""

from pathlib import Path
from typing import Any

import numpy as np

from fewbits._extras import missing_extra
from fewbits._pixels import array_to_bytes, to_bytes
from fewbits.errors import FeatureError

#: What decides the pixels of an image; part of the fingerprint of image backbones.
PIXEL_RULE = "RGB bytes, upright by EXIF, wider numbers scaled, no alpha, version 2"

_ORIENTATION_TAG = 0x0112  # of EXIF
_PHOTOMETRIC_TAG, _BITS_TAG = 262, 258  # of TIFF


def open_rgb(item: Any) -> Any:
    """Return an image as a PIL image of mode RGB.

    It is turned as its EXIF orientation says. Grey, palette, CMYK and transparent
    images become RGB (transparency is dropped), animated ones their first frame.
    Numbers of more than 8 bits are scaled as `fewbits._pixels.to_bytes` says; a file
    says itself how many bits its grey has.

    Parameters
    ----------
    item : str, Path, PIL image, ndarray (h, w), (h, w, 1) or (h, w, 3), or ImageItem

    Raises
    ------
    MissingExtraError
        When Pillow is not installed.
    FeatureError
        When the image cannot be opened, or it is not certain what its numbers mean,
        naming it.
    """
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("images need Pillow", "vision") from None

    # A broken PNG raises SyntaxError; an `open` that gives no image, AttributeError.
    unreadable = (
        Image.DecompressionBombError,
        OSError,
        ValueError,
        TypeError,
        SyntaxError,
        AttributeError,
        EOFError,
    )
    try:
        return _open(item)
    except FileNotFoundError as error:
        raise FeatureError(f"there is no file {_name(item)}") from error
    except unreadable as error:
        raise FeatureError(f"{_name(item)} is not a readable image: {error}") from error


def _open(item: Any) -> Any:
    from PIL import Image

    if isinstance(item, str | Path):
        with Image.open(item) as image:
            return _as_rgb(image)
    if isinstance(item, np.ndarray):
        pixels = array_to_bytes(item)
        return Image.fromarray(np.ascontiguousarray(pixels)).convert("RGB")
    if isinstance(item, Image.Image):
        return _as_rgb(item)
    if hasattr(item, "open"):
        return _as_rgb(item.open())
    raise TypeError(f"expected a path, an image or an array, got {type(item).__name__}")


def _as_rgb(image: Any) -> Any:
    _load(image)
    rgb = _upright(_eight_bits(image).convert("RGB"), _orientation(image))
    rgb.info.clear()  # a copy that was saved with its EXIF would be turned once more
    return rgb


def _load(image: Any) -> None:
    """Read the pixels; a TIFF turns itself then.

    Pillow to 13 at least mixes up the lines of a TIFF that lies on its side where it
    maps the file into memory, which it does when it knows the file's name.
    """
    name = getattr(image, "filename", "")
    if image.format != "TIFF" or not name:
        image.load()
        return
    image.filename = ""
    try:
        image.load()
    finally:
        image.filename = name


def _orientation(image: Any) -> int:
    """Return how a loaded image is still to be turned, 1 when it stands upright."""
    if image.format == "TIFF":  # turned; older versions of Pillow kept the tag
        return 1
    try:
        return int(image.getexif().get(_ORIENTATION_TAG, 1))
    except Exception:  # damaged EXIF: every viewer shows such a picture as stored
        return 1


def _upright(image: Any, orientation: int) -> Any:
    """Return a PIL image turned upright by its EXIF `orientation`."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(turns[orientation]) if orientation in turns else image


def _eight_bits(image: Any) -> Any:
    """Scale wider numbers, which Pillow would otherwise clip to white or black."""
    from PIL import Image

    if image.mode[0] not in "IF":
        return image
    values = np.asarray(image)
    tags = getattr(image, "tag_v2", {})
    if tags.get(_PHOTOMETRIC_TAG) == 0:
        raise ValueError(f"grey of mode {image.mode} whose zero is white")
    if image.mode.startswith("I;16") and image.format is not None:
        pixels = (values >> (4 if tags.get(_BITS_TAG) == (12,) else 8)).astype(np.uint8)
    elif image.mode == "I" and image.format in ("PNG", "PPM"):
        pixels = (values >> 8).clip(0, 255).astype(np.uint8)  # 16 bits, in older Pillow
    else:
        pixels = to_bytes(values)
    return Image.fromarray(pixels)


def _name(item: Any) -> str:
    if isinstance(item, str | Path):
        return str(item)
    known = getattr(item, "name", None) or getattr(item, "filename", None)
    return str(known or f"the {type(item).__name__}")
