"""What a request is about: texts, vectors, images, ids or codes, in bounds."""

import base64
import binascii
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_array
from fewbits.codes import n_bytes
from fewbits.collection import KINDS, Collection
from fewbits.errors import ArgumentError, CodeError, FeatureError
from fewbits.server._bodies import Body
from fewbits.server._settings import Settings

if TYPE_CHECKING:
    from PIL.Image import Image

#: As many images of the most pixels may come in one request.
_IMAGES_AT_MOST = 4
#: Pieces in which the file of an image may be read.
_READS = 100_000
#: Others, such as EPS, Pillow gives to programs that may do more than to draw.
_FORMATS = "PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"


@dataclass(frozen=True)
class Query:
    """One kind of items, and their values as they were sent."""

    kind: str
    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def arguments(self, collection: Collection, settings: Settings) -> dict[str, Any]:
        """Return the one argument of a method of a collection that says the same.

        Raises
        ------
        ArgumentError, FeatureError, CodeError
            When the collection takes something else, or values cannot be read.
        """
        if self.kind == "codes":
            return {"codes": as_codes(self.values, collection.encoder.n_bits)}
        if self.kind == "vectors":
            return {
                "vectors": as_matrix(self.values, packed=collection.kind == "codes")
            }
        if self.kind == "images":
            images = [
                Upload(data, f"image {i}", settings.max_pixels)
                for i, data in enumerate(self.values)
            ]
            _check_pixels(images, _IMAGES_AT_MOST * settings.max_pixels)
            return {"images": images}
        return {self.kind: self.values}

    def items(self, collection: Collection, settings: Settings) -> Any:
        """Return items of the collection's own kind, for methods that take no other."""
        own = "vectors" if collection.kind == "codes" else collection.kind
        if self.kind != own:
            raise ArgumentError(f"this collection takes {own}, got {self.kind}")
        (items,) = self.arguments(collection, settings).values()
        return items


def query_of(body: Body, settings: Settings) -> Query:
    """Return the query of a body.

    Raises
    ------
    ArgumentError
        When it gives none or several kinds of queries, or too many.
    """
    sent = vars(body)
    values = {kind: sent[kind] for kind in KINDS if sent.get(kind) is not None}
    table, image = body.table, body.image
    if table is not None:
        values |= {kind: table[kind] for kind in KINDS if kind in table.column_names}
    if image is not None:
        values |= {"images": [*values.get("images", ()), image]}
    if len(values) != 1:
        raise ArgumentError(f"give exactly one of {', '.join(KINDS)}")
    ((kind, items),) = values.items()
    least = 0 if table is not None else 1  # of none a matrix has no width in JSON
    if not least <= len(items) <= settings.max_queries:
        raise ArgumentError(
            f"give 1 to {settings.max_queries:,} {kind}, got {len(items):,}"
        )
    if table is not None:
        items = _matrix_of(items) if kind == "vectors" else items.to_pylist()
        if kind in ("texts", "ids") and None in items:
            raise ArgumentError(f"{kind} may not be null")
    return Query(kind, items)


def _matrix_of(column: Any) -> NDArray[Any]:
    """Return a column of lists as a matrix, whose width is known of no rows, too."""
    if not len(column) and hasattr(column.type, "list_size"):
        return np.empty((0, column.type.list_size))
    return as_array(column, "vectors")


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
    width = n_bytes(n_bits)
    for text, row in zip(texts, rows, strict=True):
        if len(row) != width:
            unit, n = ("bytes", 1) if text is row else ("hexadecimal digits", 2)
            raise CodeError(
                f"a code of {n_bits} bits has {n * width} {unit}, got {n * len(row)}"
            )
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width)


def _check_pixels(images: Sequence["Upload"], most: int) -> None:
    """Refuse images that take too long together; what is no image is told later."""
    if (total := sum(image.n_pixels() for image in images)) > most:
        raise ArgumentError(
            f"these images have {total:,} pixels; {most:,} are allowed: ask in parts"
        )


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
