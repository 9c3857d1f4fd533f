"""Numbers of any type as the bytes of a picture: certain, or refused."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def array_to_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an array that shows a picture as uint8 (h, w) or (h, w, 3).

    Parameters
    ----------
    array : ndarray of shape (h, w), (h, w, 1) or (h, w, 3)
        Grey or RGB; numbers as in `to_bytes`.

    Raises
    ------
    ValueError
        When it is certain neither what the axes mean nor what the numbers do.
    """
    if np.ma.is_masked(array):
        raise ValueError("masked pixels have no value")
    array = np.asarray(array)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    grey_or_rgb = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if array.size == 0 or not grey_or_rgb:
        raise ValueError(
            "arrays must be (h, w), (h, w, 1) or (h, w, 3), got "
            f"{array.shape}{_shape_hint(array.shape)}"
        )
    return to_bytes(array)


def _shape_hint(shape: tuple[int, ...]) -> str:
    if len(shape) == 3 and shape[2] == 4:
        return "; leave out the fourth channel, or pass a PIL image, which names it"
    if len(shape) == 3 and shape[0] in (1, 3, 4):
        return "; channels come last"
    if len(shape) == 4:
        return "; pass the images one by one, as a sequence"
    return ""


def to_bytes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return numbers of any type as bytes, from 0 for black to 255 for white.

    Booleans are black and white. Floats are from 0 to 1. Of uint16 the upper half
    counts. Other integers are bytes in a wider type.

    A picture that is all but black could be on another scale: floats of at most 1 on
    that of bytes, say. In a collection this does no harm: the first brighter picture is
    refused. Where it would do harm, integers up to 1 (a mask?) and uint16 up to 255
    (bytes?), nothing is guessed.

    Raises
    ------
    ValueError
        When the scale is not certain.
    """
    kind = values.dtype.kind
    if values.dtype == np.uint8:
        return values
    if kind == "b":
        return values * np.uint8(255)
    if kind not in "iuf":
        raise ValueError(f"pixels must be numbers, got {values.dtype}")
    low, high = values.min(), values.max()
    found = f"{values.dtype} from {low} to {high}"
    if kind == "f":
        return _floats(values, found, within=bool(low >= 0 and high <= 1))
    if values.dtype.newbyteorder("=") == np.uint16:
        return _sixteen_bits(values, found, bytes_too=0 < high <= 255)
    if low < 0 or high > 255:
        raise ValueError(f"integers must be from 0 to 255, got {found}")
    if high == 1:
        raise ValueError(f"0 and 1 may be a mask or two blacks, got {found}: use bool")
    return values.astype(np.uint8)


def _floats(values: NDArray[Any], found: str, *, within: bool) -> NDArray[np.uint8]:
    if not within:  # nor are numbers that are not finite
        raise ValueError(f"floats must be from 0 (black) to 1 (white), got {found}")
    # Rounded, so that a byte divided by 255 is the same byte again.
    return np.rint(values.astype(np.float32) * 255).astype(np.uint8)


def _sixteen_bits(
    values: NDArray[Any], found: str, *, bytes_too: bool
) -> NDArray[np.uint8]:
    if bytes_too:
        raise ValueError(
            f"16 bits reach 65535, bytes 255, got {found}: use uint8 for bytes"
        )
    return (values >> 8).astype(np.uint8)
