"""Queries of a request, as the engine takes them."""

import base64
import binascii
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_array
from fewbits.bundle import Bundle
from fewbits.codes import n_bytes
from fewbits.errors import ArgumentError, CodeError, FeatureError
from fewbits.server._models import Queries
from fewbits.server._settings import Settings

if TYPE_CHECKING:
    from PIL.Image import Image

#: The ways to say what is asked about, and whether they are raw items.
KINDS = {"texts": True, "vectors": True, "images": True, "ids": False, "codes": False}


#: As many images of the most pixels may come in one request.
_IMAGES_AT_MOST = 4
#: Pieces in which the file of an image may be read.
_READS = 100_000
#: Others, such as EPS, Pillow gives to programs that may do more than to draw.
_FORMATS = "PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"


@dataclass(frozen=True)
class Asked:
    """One kind of queries and their values.

    Attributes
    ----------
    kind : {"texts", "vectors", "images", "ids", "codes"}
    values : sequence
    """

    kind: str
    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def fields(self, bundle: Bundle, settings: Settings) -> dict[str, Any]:
        """Return the one field of a request of the engine that is asked by.

        Raises
        ------
        ArgumentError, FeatureError, CodeError
            When the bundle takes something else, or values cannot be read.
        """
        if self.kind == "ids":
            return {"ids": self.values}
        if self.kind == "codes":
            return {"codes": as_codes(self.values, bundle.encoder.n_bits)}
        return {"queries": self.raw(bundle, settings)}

    def raw(self, bundle: Bundle, settings: Settings) -> Any:
        """Return raw items as the bundle takes them."""
        wanted = "vectors" if bundle.item_kind == "codes" else bundle.item_kind
        if self.kind != wanted:
            raise ArgumentError(f"this bundle takes {wanted}, got {self.kind}")
        if self.kind == "vectors":
            return as_matrix(self.values, packed=bundle.item_kind == "codes")
        if self.kind == "texts":
            return self.values
        images = [
            Upload(data, f"image {i}", settings.max_pixels)
            for i, data in enumerate(self.values)
        ]
        _check_pixels(images, _IMAGES_AT_MOST * settings.max_pixels)
        return images


def asked_by(body: Queries, settings: Settings) -> Asked:
    """Return the queries of a body.

    Raises
    ------
    ArgumentError
        When it gives none or several kinds of queries, or too many.
    """
    given = {x: getattr(body, x) for x in KINDS if getattr(body, x) is not None}
    table, image = body.table, body.image
    if table is not None:
        given |= {x: table[x] for x in KINDS if x in table.column_names}
    if image is not None:
        given |= {"images": [*given.get("images", ()), image]}
    if len(given) != 1:
        raise ArgumentError(f"give exactly one of {', '.join(KINDS)}")
    ((kind, values),) = given.items()
    if not 1 <= len(values) <= settings.max_queries:
        raise ArgumentError(
            f"give 1 to {settings.max_queries:,} {kind}, got {len(values):,}"
        )
    if table is not None:
        values = as_array(values, kind) if kind == "vectors" else values.to_pylist()
        if kind in ("texts", "ids") and None in values:
            raise ArgumentError(f"{kind} may not be null")
    return Asked(kind, values)


def _check_pixels(images: Sequence["Upload"], most: int) -> None:
    """Refuse images that take too long together; what is no image is told later."""
    if (total := sum(image.n_pixels() for image in images)) > most:
        raise ArgumentError(
            f"these images have {total:,} pixels; {most:,} are allowed: ask in parts"
        )


def as_matrix(rows: Any, *, packed: bool = False) -> NDArray[Any]:
    """Return vectors as a matrix; of packed codes, as bytes."""
    try:
        matrix = np.asarray(rows)
    except ValueError:
        raise FeatureError("all vectors need the same length") from None
    if packed and matrix.dtype != np.uint8:
        if not np.isin(matrix, np.arange(256)).all():
            raise CodeError("packed codes are whole numbers from 0 to 255")
        matrix = matrix.astype(np.uint8)
    return matrix


def as_codes(texts: Any, n_bits: int) -> NDArray[np.uint8]:
    """Return codes that are given in hexadecimal, or as bytes, as a matrix."""
    try:
        rows = [x if isinstance(x, bytes) else bytes.fromhex(x) for x in texts]
    except (ValueError, TypeError):
        raise CodeError("codes are given in hexadecimal, two digits a byte") from None
    wanted = n_bytes(n_bits)
    for text, row in zip(texts, rows, strict=True):
        if len(row) != wanted:
            unit, n = ("bytes", 1) if text is row else ("hexadecimal digits", 2)
            raise CodeError(
                f"a code of {n_bits} bits has {n * wanted} {unit}, got {n * len(row)}"
            )
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)


class _FewReads(io.BytesIO):
    """A file that is read in a bounded number of pieces.

    Pillow takes 10 microseconds for a part of a PNG, of which 32 MiB hold millions.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._left = _READS

    def read(self, size: int | None = -1, /) -> bytes:
        self._left -= 1
        if self._left < 0:
            raise ValueError("it has too many parts")
        return super().read(size)


class Upload:
    """An image that was sent: decoded only if it is not too large.

    Parameters
    ----------
    data : bytes or str
        A file, or that in base64.
    name : str
    max_pixels : int
    """

    def __init__(self, data: bytes | str, name: str, max_pixels: int) -> None:
        self.name, self._max_pixels = name, max_pixels
        try:
            self._data = (
                base64.b64decode(data, validate=True) if isinstance(data, str) else data
            )
        except (binascii.Error, ValueError):
            raise FeatureError(f"{name} is not base64") from None

    def n_pixels(self) -> int:
        """Return the number of pixels that the head tells; 0 of what is no image."""
        try:
            with self.open() as image:
                return int(image.width * image.height)
        except Exception:  # which opening it in earnest reports, with its name
            return 0

    def open(self) -> "Image":
        """Return the image; its size is checked before its pixels are read."""
        from PIL import Image, UnidentifiedImageError

        try:
            image = Image.open(_FewReads(self._data), formats=_FORMATS)
        except UnidentifiedImageError:  # whose message has no name of a file
            raise ValueError(f"known are {', '.join(_FORMATS)}") from None
        width, height = image.size
        if width * height > self._max_pixels:
            raise ValueError(
                f"it has {width * height:,} pixels; {self._max_pixels:,} are allowed"
            )
        return image
