"""References to images in files, in archives and in arrays."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits.errors import ArtefactError
from research.common.datasets._files import Region

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
        try:
            from PIL import Image as pillow
        except ImportError:
            raise missing_extra("images are opened by Pillow", "vision") from None
        if isinstance(self.source, np.ndarray):
            decoded: Image = pillow.fromarray(self.source)
            return decoded
        too_large = (pillow.DecompressionBombError, pillow.DecompressionBombWarning)
        try:
            # Fewer formats leave a hostile file fewer decoders to attack.
            file = self.source
            content = file.read() if isinstance(file, Region) else file.read_bytes()
            image: Image = pillow.open(io.BytesIO(content), formats=("JPEG", "PNG"))
            image.load()
        # Decoders raise SyntaxError and ValueError, too, for damaged data.
        except (OSError, SyntaxError, ValueError, EOFError, *too_large) as error:
            raise ArtefactError(f"{self.name}: cannot be read ({error})") from None
        return image


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

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ArrayImages(self.array[index], self.names[index])
        return ImageItem(self.names[index], self.array[index])
