"""Pictures of image items: of these only, and small."""

import io
from pathlib import Path

from fastapi import Response

from fewbits._images import open_rgb
from fewbits.errors import ArgumentError, FeatureError
from fewbits.server._errors import ApiError
from fewbits.server._queries import Upload
from fewbits.server._served import Served

PNG = "image/png"
_SIDE = 256
_MOST_BYTES = 64 << 20


def thumbnail(served: Served, id: str) -> Response:
    """Return the picture of the item with an id, at most 256 pixels wide and high.

    Its path is what the collection says; nothing of the request names a file.
    """
    items, column = served.bundle.collection, served.bundle.raw_column
    if served.bundle.item_kind != "images" or column not in items.columns:
        raise ApiError(404, "not_found", "the items of this collection are no images")
    try:
        row = items.row(id if items.has_text_ids else _whole(id))
    except ArgumentError as error:
        raise ApiError(404, "not_found", str(error)) from None
    return Response(
        _png(Path(str(row[column])), served.settings.max_pixels),
        media_type=PNG,
        headers={"Cache-Control": "private, max-age=3600"},
    )


def _whole(id: str) -> int:
    digits = id.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        raise ArgumentError(f"ids of this collection are whole numbers, got {id!r}")
    return int(id)


def _png(path: Path, max_pixels: int) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise FeatureError(f"{path.name} is too large to be shown")
        data = path.read_bytes()
    except OSError:
        raise ApiError(404, "not_found", "the file of this image is gone") from None
    image = open_rgb(Upload(data, path.name, max_pixels))
    image.thumbnail((_SIDE, _SIDE))
    sink = io.BytesIO()
    image.save(sink, "PNG")
    return sink.getvalue()
