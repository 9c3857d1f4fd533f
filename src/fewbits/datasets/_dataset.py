"""Data sets: their items, labels and splits, and files that all commands read."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._extras import missing_extra
from fewbits._files import atomic_write
from fewbits._repr import one_line
from fewbits.datasets._files import Region
from fewbits.errors import ArgumentError, ArtefactError

if TYPE_CHECKING:
    from PIL.Image import Image
_QUERIES = 1000  # at most, of a tenth of the items
_ENDINGS = {"texts": (".csv",), "vectors": (".npz", ".npy")}


@dataclass(frozen=True)
class Dataset:
    """Items, their labels, and the standard splits.

    Attributes
    ----------
    name : str
    kind : {"texts", "images", "vectors"}
    items : sequence
        Texts, image references (see `ImageItem`), or a matrix of vectors.
    keys : sequence of str
        The name that the source gives each item.
    labels : mapping of str to ndarray of shape (n,)
        Classes of the items, from coarse to fine where there are several.
    splits : mapping of str to ndarray of int
        Rows of named parts, such as "train" and "test".
    source, licence : str
    """

    name: str
    kind: str
    items: Any
    keys: Sequence[str]
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    splits: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    source: str = ""
    licence: str = ""

    __repr__ = one_line

    def __len__(self) -> int:
        return len(self.items)


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


def export(data: Dataset, path: str | Path) -> int:
    """Write items and labels to a file, of items that are there twice the first."""
    path = Path(path)
    if data.kind not in _ENDINGS:
        raise ArgumentError(
            f"{data.name} holds {data.kind}; data sets of texts or vectors are exported"
        )
    endings = _ENDINGS[data.kind]
    if path.suffix not in endings:
        raise ArgumentError(
            f"{data.name} holds {data.kind}, which are written to a "
            f"{' or '.join(endings)} file, got {path}"
        )
    # Keys are the ids of what is written.
    first = np.unique(data.keys, return_index=True)[1]
    if len(first) < len(data.keys):
        data = _rows_of(data, first)
    with atomic_write(path) as file:
        if path.suffix == ".csv":
            text = io.TextIOWrapper(file, "utf-8", newline="")
            writer = csv.writer(text)
            keys = {"id": data.keys} if len(data.keys) == len(data) else {}
            columns = {**keys, "text": data.items, **data.labels}
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
            text.detach()  # flushes, and leaves the file open
        elif path.suffix == ".npz":
            labels: dict[str, Any] = {  # objects would need pickles
                name: values.astype(np.str_) if values.dtype.kind == "O" else values
                for name, values in data.labels.items()
            }
            np.savez(file, vector=data.items, **labels)
        else:
            np.save(file, data.items)
    return len(data)


def hold_out(data: Dataset) -> tuple[Dataset, Dataset]:
    """Return the items but a tenth, 1,000 at most, and these as queries."""
    n_queries = min(_QUERIES, len(data) // 10)
    if not n_queries:
        raise ArgumentError(f"{len(data)} items are too few to hold out a tenth")
    order = np.random.default_rng(0).permutation(len(data))
    return _rows_of(data, order[n_queries:]), _rows_of(data, order[:n_queries])


def _rows_of(data: Dataset, rows: NDArray[np.int64]) -> Dataset:
    rows = np.sort(rows)
    items = data.items
    return replace(
        data,
        items=items[rows] if hasattr(items, "shape") else [items[i] for i in rows],
        keys=[data.keys[i] for i in rows] if data.keys else data.keys,
        labels={name: values[rows] for name, values in data.labels.items()},
        splits={},
    )
