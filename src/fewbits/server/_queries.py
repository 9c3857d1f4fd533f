"""What a request is about: texts, vectors, images, ids or codes, in bounds."""

import base64
import binascii
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import as_array
from fewbits.collection import KINDS
from fewbits.errors import ArgumentError, CodeError, FeatureError
from fewbits.inputs import hex_codes
from fewbits.server._bodies import Body
from fewbits.server._service import View
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
class SentItems:
    """One kind of items, and their values as they were sent."""

    kind: str
    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def arguments(self, view: View) -> dict[str, Any]:
        """Return the one argument of a method of a collection that says the same."""
        items = self.values
        if self.kind == "codes":
            items = as_codes(items, view.collection.encoder.n_bits)
        elif self.kind == "vectors":
            items = as_matrix(items, packed=view.collection.kind == "codes")
        elif self.kind == "images":
            pixels = view.settings.max_pixels
            items = [Upload(x, f"image {i}", pixels) for i, x in enumerate(items)]
            most = _IMAGES_AT_MOST * pixels
            if (total := sum(image.n_pixels() for image in items)) > most:
                raise ArgumentError(
                    f"these images have {total:,} pixels; {most:,} are allowed: ask in "
                    "parts"
                )
        return {self.kind: items}

    def items(self, view: View) -> Any:
        """Return items of the collection's own kind, for methods that take no other."""
        kind = "vectors" if view.collection.kind == "codes" else view.collection.kind
        if self.kind != kind:
            raise ArgumentError(f"this collection takes {kind}, got {self.kind}")
        return self.arguments(view)[kind]


def query_of(body: Body, settings: Settings) -> SentItems:
    """Return the query of a body; there is exactly one, of a size that is allowed."""
    fields, table = vars(body), body._table
    values = {kind: fields[kind] for kind in KINDS if fields.get(kind) is not None}
    if table is not None:
        values |= {kind: table[kind] for kind in KINDS if kind in table.column_names}
        if others := [x for x in table.column_names if x not in KINDS]:
            raise ArgumentError(
                f"column {others[0]!r} is no kind of query: the table has one column, "
                f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
            )
    if body._image is not None:
        values |= {"images": [*values.get("images", ()), body._image]}
    if len(values) != 1:
        raise ArgumentError(f"give exactly one of {', '.join(KINDS)}")
    ((kind, items),) = values.items()
    least = 0 if table is not None else 1  # of none a matrix has no width in JSON
    if not least <= len(items) <= settings.max_queries:
        raise ArgumentError(
            f"give 1 to {settings.max_queries:,} {kind}, got {len(items):,}"
        )
    if table is not None and kind == "vectors":
        if not len(items) and hasattr(items.type, "list_size"):  # the width of no rows
            return SentItems(kind, np.empty((0, items.type.list_size)))
        return SentItems(kind, as_array(items, "vectors"))
    items = items if table is None else items.to_pylist()
    if kind in ("texts", "ids") and None in items:
        raise ArgumentError(f"{kind} may not be null")
    if kind == "texts":
        most = settings.max_characters
        count = sum(len(text) for text in items if isinstance(text, str))
        if count > most:
            raise ArgumentError(
                f"these texts have {count:,} characters; {most:,} are allowed: ask in "
                "parts"
            )
    return SentItems(kind, items)


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


def as_codes(codes: Any, n_bits: int) -> NDArray[np.uint8]:
    """Return codes that are given in hexadecimal, or as bytes, as a matrix."""
    texts = [code.hex() if isinstance(code, bytes) else code for code in codes]
    return hex_codes(texts, n_bits)


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
    """An image that was sent, a file or that in base64; decoded if not too large."""

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
            raise ValueError(f"readable are {', '.join(_FORMATS)}") from None
        width, height = image.size
        if width * height > self._max_pixels:
            raise ValueError(
                f"it has {width * height:,} pixels; {self._max_pixels:,} are allowed"
            )
        return image
