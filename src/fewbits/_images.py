"""The one place where images are opened: upright, on white, as RGB of 8 bits.

Numbers of any type become bytes where it is certain what they mean, or are refused.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import widened
from fewbits._extras import missing_extra
from fewbits.errors import FeatureError

#: What decides the pixels of an image; part of the fingerprint of image backbones.
PIXEL_RULE = "RGB bytes, upright by EXIF, wider numbers scaled, on white, version 3"

_ORIENTATION_TAG = 0x0112  # of EXIF
#: Numbers of Pillow's turns and flips by that tag.
_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
_PHOTOMETRIC_TAG, _BITS_TAG = 262, 258  # of TIFF
#: A broken PNG raises SyntaxError; an `open` that gives no image, AttributeError.
_UNREADABLE = (OSError, ValueError, TypeError, SyntaxError, AttributeError, EOFError)


def open_rgb(item: Any) -> Any:
    """Return an image as a PIL image of mode RGB, turned as its EXIF orientation says.

    Of a path, a PIL image, an array (h, w) or (h, w, 1, 3 or 4), or what has `open`. Of
    animated images it is the first frame; what is transparent is shown on white. What
    cannot be opened, or has numbers of no certain meaning, is named by a FeatureError.
    """
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("images need Pillow", "vision") from None

    try:
        if isinstance(item, str | Path):
            with Image.open(item) as image:
                return _as_rgb(image)
        if isinstance(item, np.ndarray):
            pixels = _array_to_bytes(item)
            return _on_white(Image.fromarray(np.ascontiguousarray(pixels)))
        if isinstance(item, Image.Image):
            return _as_rgb(item)
        if hasattr(item, "open"):
            return _as_rgb(item.open())
        kind = type(item).__name__
        raise TypeError(f"expected a path, an image or an array, got {kind}")
    except FileNotFoundError as error:
        raise FeatureError(f"there is no file {_name(item)}") from error
    except (Image.DecompressionBombError, *_UNREADABLE) as error:
        raise FeatureError(f"{_name(item)} is not a readable image: {error}") from error


def _as_rgb(image: Any) -> Any:
    tiles = getattr(image, "tile", [])
    depth = str(tiles[0][3]) if tiles and image.format == "PNG" else ""
    name = getattr(image, "filename", "")
    is_tiff = image.format == "TIFF"  # which turns itself
    if is_tiff and name:
        # Pillow to 13 at least mixes up the lines of a TIFF that lies on its side where
        # it maps the file into memory, as it does when it knows the file's name.
        image.filename = ""
    try:
        image.load()
    finally:
        if is_tiff and name:
            image.filename = name
    # Pillow to 13 leaves the transparent colour in the numbers of the file.
    if (colour := image.info.get("transparency")) is not None:
        if not tiles and image.format in ("PNG", None):  # loaded before
            depth = _depth_of_loaded(image, colour)
        if depth in ("L;2", "L;4"):
            image.info["transparency"] = colour * (85 if depth == "L;2" else 17)
        elif depth == "RGB;16B":
            image.info["transparency"] = tuple(number >> 8 for number in colour)
    rgb, turn = _on_white(image), None
    if not is_tiff:  # older versions of Pillow kept the tag
        with suppress(Exception):  # damaged EXIF: viewers show the picture as stored
            turn = _TURNS.get(int(image.getexif().get(_ORIENTATION_TAG, 1)))
    if turn is not None:
        rgb = rgb.transpose(turn)
    rgb.info.clear()  # a copy that was saved with its EXIF would be turned once more
    return rgb


def _depth_of_loaded(image: Any, colour: Any) -> str:
    """Return how Pillow called the numbers in the file of a PNG, while it was open.

    Once loaded, an image says no more in which of them its transparent colour is.
    """
    if image.mode == "RGB":
        return "RGB;16B" if max(colour) > 255 else ""
    if image.mode != "L" or not 0 < colour < 16:
        return ""
    with suppress(OSError), open(getattr(image, "filename", ""), "rb") as file:
        if (head := file.read(25)).startswith(b"\x89PNG"):
            return f"L;{head[24]}"
    if all(grey % 17 == 0 for _, grey in image.getcolors()):
        raise ValueError(
            "a grey image that is loaded, whose transparent colour may be of few bits: "
            "give its path, or the image before it is loaded"
        )
    return ""


def _on_white(image: Any) -> Any:
    """Return a loaded image as RGB, as a viewer with a white ground shows it."""
    from PIL import Image

    colour = image.info.get("transparency")
    shown = _eight_bits(image)
    if shown is not image and colour is not None:  # 16 bits, one of whose greys is none
        pixels = np.where(np.asarray(image) == colour, np.uint8(255), shown)
        return Image.fromarray(pixels).convert("RGB")
    if not shown.has_transparency_data:
        rgb = shown.convert("RGB")
        if image.format != "GIF" or image.tell():
            return rgb
        area = image.dispose_extent  # of the first frame: nothing is around it
        ground = Image.new("RGB", image.size, "white")
        ground.paste(rgb.crop(area), area)
        return ground
    # Pillow knows no way from La to RGBA.
    rgba = (shown.convert("LA") if shown.mode == "La" else shown).convert("RGBA")
    if image.format == "BMP" and not rgba.getchannel("A").getbbox():
        return rgba.convert("RGB")  # nobody filled the fourth byte: viewers pass it by
    ground = Image.new("RGB", image.size, "white")
    ground.paste(rgba, mask=rgba)
    return ground


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
    name = getattr(item, "name", None) or getattr(item, "filename", None)
    return str(name or f"the {type(item).__name__}")


def _array_to_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an array that shows a picture as uint8 (h, w), (h, w, 3) or (h, w, 4)."""
    if np.ma.is_masked(array):
        raise ValueError("masked pixels have no value")
    array = widened(np.asarray(array))
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    shape = array.shape
    picture = len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4))
    if array.size == 0 or not picture:
        hint = ""
        if len(shape) == 3 and shape[0] in (1, 3, 4):
            hint = "; channels come last"
        elif len(shape) == 4:
            hint = "; pass the images one by one, as a sequence"
        raise ValueError(
            f"arrays must be (h, w), or (h, w, 1, 3 or 4), got {shape}{hint}"
        )
    pixels = to_bytes(array)
    if shape[2:] == (4,) and pixels[..., 3].max() == 1:
        raise ValueError("alpha goes from 0 to 255 (opaque), got 0 and 1")
    return pixels


def to_bytes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return numbers of any type as bytes, from 0 for black to 255 for white.

    Booleans are black and white. Floats are from 0 to 1. Of uint16 the upper half
    counts. Other integers are bytes in a wider type. ValueError says where the scale is
    not certain.
    """
    kind = values.dtype.kind
    if values.dtype == np.uint8:
        return values
    if kind == "b":
        return values * np.uint8(255)
    if kind not in "iuf":
        raise ValueError(f"pixels must be numbers, got {values.dtype}")
    low, high = values.min(), values.max()
    shown = f"{values.dtype} from {low} to {high}"
    if kind == "f":
        if not (low >= 0 and high <= 1):  # nor are numbers that are not finite
            raise ValueError(f"floats must be from 0 (black) to 1 (white), got {shown}")
        # Rounded, so that a byte divided by 255 is the same byte again.
        return np.rint(values.astype(np.float32) * 255).astype(np.uint8)
    if values.dtype.newbyteorder("=") == np.uint16:
        if 0 < high <= 255:
            raise ValueError(
                f"16 bits reach 65535, bytes 255, got {shown}: use uint8 for bytes"
            )
        return (values >> 8).astype(np.uint8)
    if low < 0 or high > 255:
        raise ValueError(f"integers must be from 0 to 255, got {shown}")
    if high == 1:
        raise ValueError(f"0 and 1 may be a mask or two blacks, got {shown}: use bool")
    return values.astype(np.uint8)
