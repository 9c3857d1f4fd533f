"""Thumbnails that are embedded in a page."""

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from fewbits._images import open_rgb
from fewbits.errors import FeatureError

SIZE = 96  # pixels of the longer side
_TINY = 32  # pictures up to this size are enlarged by the reader, pixel by pixel


class Pictures:
    """Thumbnails of items by row, each made once; what cannot be read has none."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items
        self._made: dict[int, tuple[str, bool] | None] = {}
        self._reasons: list[str] = []

    def get(self, row: int) -> tuple[str, bool] | None:
        """Return what `thumbnail` returns, or None."""
        if row not in self._made:
            try:
                self._made[row] = thumbnail(self._items[row])
            except FeatureError as error:
                self._made[row] = None
                self._reasons.append(str(error))
        return self._made[row]

    def notes(self) -> list[str]:
        """Return a sentence about what could not be read so far, if anything."""
        if not self._reasons:
            return []
        return [
            f"{len(self._reasons):,} of the {len(self._made):,} images that belong on "
            f"this page cannot be read: {self._reasons[0]}"
        ]


def thumbnail(item: Any) -> tuple[str, bool]:
    """Return an image as a ``data:`` URI, and whether it is tiny.

    Parameters
    ----------
    item : str, Path, PIL image, ndarray or ImageItem
        As `fewbits._images.open_rgb` takes it.

    Raises
    ------
    MissingExtraError, FeatureError
        As `fewbits._images.open_rgb`.
    """
    image = open_rgb(item)
    from PIL import Image

    tiny = max(image.size) <= _TINY
    image.thumbnail((SIZE, SIZE), Image.Resampling.LANCZOS)
    file = BytesIO()
    if tiny:
        image.save(file, "PNG")
    else:
        image.save(file, "JPEG", quality=80)
    kind = "png" if tiny else "jpeg"
    return f"data:image/{kind};base64,{b64encode(file.getvalue()).decode()}", tiny
