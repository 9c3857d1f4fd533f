"""Images that are read when they are opened."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits.datasets._archive import Region
from fewbits.errors import ArtefactError

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, eq=False)
class ImageItem:
    """A reference to an image in a file, in an archive or in an array.

    Threads may open the same item, or items of the same archive, at once.

    Attributes
    ----------
    name : str
        What the source calls the image.
    source : Path, Region or ndarray of uint8 of shape (h, w) or (h, w, 3)
    """

    name: str
    source: Path | Region | NDArray[np.uint8] = field(repr=False)

    def open(self) -> "Image":
        """Return the decoded image, in the mode in which it is stored.

        It is not turned as its EXIF orientation says; backbones and pages do that.

        Raises
        ------
        ArtefactError
            When the image is damaged or gone.
        MissingExtraError
            When Pillow is not installed.
        """
        pillow = _pillow()
        if isinstance(self.source, np.ndarray):
            decoded: Image = pillow.fromarray(self.source)
            return decoded
        too_large = (pillow.DecompressionBombError, pillow.DecompressionBombWarning)
        try:
            # Fewer formats leave a hostile file fewer decoders to attack.
            image: Image = pillow.open(io.BytesIO(self._bytes()), formats=_FORMATS)
            image.load()
        # Decoders raise SyntaxError and ValueError, too, for damaged data.
        except (OSError, SyntaxError, ValueError, EOFError, *too_large) as error:
            raise ArtefactError(f"{self.name}: cannot be read ({error})") from None
        return image

    def _bytes(self) -> bytes:
        if isinstance(self.source, Region):
            return self.source.read()
        assert isinstance(self.source, Path)
        return self.source.read_bytes()


_FORMATS = ("JPEG", "PNG")


class ArrayImages(Sequence[ImageItem]):
    """The images of one array, as items; the array itself is ``.array``.

    Parameters
    ----------
    array : ndarray of uint8 of shape (n, h, w) or (n, h, w, 3)
    names : sequence of n str
    """

    def __init__(self, array: NDArray[np.uint8], names: Sequence[str]) -> None:
        self.array = array
        self.names = names

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> ImageItem: ...
    @overload
    def __getitem__(self, index: slice) -> "ArrayImages": ...
    def __getitem__(self, index: int | slice) -> "ImageItem | ArrayImages":
        if isinstance(index, slice):
            return ArrayImages(self.array[index], self.names[index])
        return ImageItem(self.names[index], self.array[index])


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("images are opened by Pillow", "vision") from None
    return Image
