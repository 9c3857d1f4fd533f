"""A drawing for a page or for a file of its own, and pictures in it."""

import re
import struct
import zlib
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits._files import atomic_write
from fewbits._repr import short_repr
from fewbits.errors import ArgumentError
from fewbits.report.html import DRAWINGS, Html, element

_FONT = "svg { font-family: system-ui, sans-serif; background: var(--card); }"
# What may not occur in XML, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Pixels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False, slots=True)
class Drawing:
    """A vector drawing with a size in pixels and a description for screen readers."""

    width: int
    height: int
    description: str
    parts: tuple[Html, ...] = field(repr=False)

    def __repr__(self) -> str:
        return short_repr(self)

    def inline(self) -> Html:
        """Return the drawing for a page, no larger than its natural size."""
        return self._element(*self.parts, style=f"max-width: {self.width}px")

    def save(self, path: str | Path) -> None:
        """Write the drawing as an SVG file, in light or dark as the reader prefers.

        Raises
        ------
        ArgumentError
            When the name of the file does not end in .svg.
        """
        is_file = Path(path).is_file() or not Path(path).exists()  # no device or pipe
        if is_file and Path(path).suffix.lower() != ".svg":
            raise ArgumentError(f"drawings are written to a .svg file, got {path}")
        style = element("style", Html(f"{DRAWINGS}{_FONT}"))
        size = {"width": self.width, "height": self.height}
        source = _FORBIDDEN.sub("\ufffd", self._element(style, *self.parts, **size))
        with atomic_write(path) as file:
            file.write(f"{source}\n".encode())

    def _element(self, *parts: Html, **attributes: str | int) -> Html:
        return element(
            "svg",
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=self.description,
            **attributes,
        )


def picture(
    pixels: Pixels, palette: Pixels, x: float, y: float, width: float, height: float
) -> Html:
    """Draw a matrix of colour numbers, enlarged without smoothing."""
    # Not all programs enlarge without smoothing; a picture large enough needs none.
    down, across = round(height / pixels.shape[0]), round(width / pixels.shape[1])
    enlarged = pixels.repeat(max(1, down), axis=0).repeat(max(1, across), axis=1)
    # A PNG file with a palette (ISO/IEC 15948), eight bits for each pixel.
    tall, wide = enlarged.shape
    rows = np.zeros((tall, wide + 1), np.uint8)  # each begins with "not filtered"
    rows[:, 1:] = enlarged
    png = b"\x89PNG\r\n\x1a\n"
    for kind, content in (
        (b"IHDR", struct.pack(">IIBBBBB", wide, tall, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ):
        checksum = struct.pack(">I", zlib.crc32(kind + content))
        png += struct.pack(">I", len(content)) + kind + content + checksum
    source = b64encode(png).decode()
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
