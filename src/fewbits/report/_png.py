"""Pictures of few colours, without a library for images."""

import struct
import zlib
from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

from fewbits.report.html import Html, element

Pixels = NDArray[np.uint8]


def picture(
    pixels: Pixels, palette: Pixels, x: float, y: float, width: float, height: float
) -> Html:
    """Draw a matrix of colour numbers, enlarged without smoothing.

    Parameters
    ----------
    pixels : ndarray of shape (rows, columns), dtype uint8
    palette : ndarray of shape (n_colours, 3), dtype uint8
    x, y, width, height : float
        Place in the drawing.
    """
    # Not all programs enlarge without smoothing; a picture large enough needs none.
    down, across = round(height / pixels.shape[0]), round(width / pixels.shape[1])
    enlarged = pixels.repeat(max(1, down), axis=0).repeat(max(1, across), axis=1)
    source = b64encode(encode_png(enlarged, palette)).decode()
    return element(
        "image",
        href=f"data:image/png;base64,{source}",
        x=x,
        y=y,
        width=width,
        height=height,
        preserveAspectRatio="none",
        class_="pixels",
    )


def encode_png(pixels: Pixels, palette: Pixels) -> bytes:
    """Return the bytes of a PNG file with a palette (ISO/IEC 15948)."""
    height, width = pixels.shape
    # Eight bits for each pixel, which are numbers in the palette.
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.zeros((height, width + 1), np.uint8)  # each begins with "not filtered"
    rows[:, 1:] = pixels
    chunks = [
        (b"IHDR", header),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    length = len(content)
    return struct.pack(">I", length) + kind + content + struct.pack(">I", checksum)
