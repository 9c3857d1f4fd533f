"""Fashion-MNIST: 70,000 grey pictures of clothes in ten classes."""

import gzip
import struct
import zlib
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits.datasets._base import Dataset
from fewbits.datasets._images import ArrayImages
from fewbits.datasets._locate import locate
from fewbits.errors import ArtefactError, MissingDataError

CLASSES = np.array(
    [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]
)
_FIRST = "train-images-idx3-ubyte.gz"
PATHS = [f"fashion-mnist/{_FIRST}", _FIRST]
# A header that asks for more than this is not one of these files.
_MAX_VALUES = 2**30


def load_fashion_mnist(data_dir: str | Path | None = None) -> Dataset:
    """Return the pictures, training set first.

    Parameters
    ----------
    data_dir : str or Path, optional
        Where the four files are, or their folder ``fashion-mnist``.

    Returns
    -------
    Dataset
        Items are references to images of 28 x 28 pixels; all pixels are
        ``items.array``. The label is ``class``; splits are ``train`` and ``test``.

    Raises
    ------
    MissingDataError
        When the files are not found.
    ArtefactError
        When a file is damaged.
    """
    folder = locate("fashion-mnist", PATHS, data_dir).parent
    parts = [_read_part(folder, prefix) for prefix in ("train", "t10k")]
    n_train, n = len(parts[0][1]), sum(len(labels) for _, labels in parts)
    names = [f"train/{i:05d}" for i in range(n_train)]
    names += [f"test/{i:05d}" for i in range(n - n_train)]
    return Dataset(
        name="fashion-mnist",
        kind="images",
        items=ArrayImages(np.concatenate([images for images, _ in parts]), names),
        keys=names,
        labels={"class": CLASSES[np.concatenate([labels for _, labels in parts])]},
        splits={"train": np.arange(n_train), "test": np.arange(n_train, n)},
        source="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
    )


def _read_part(
    folder: Path, prefix: str
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    images = read_idx(folder / f"{prefix}-images-idx3-ubyte.gz", 3)
    path = folder / f"{prefix}-labels-idx1-ubyte.gz"
    labels = read_idx(path, 1)
    if len(labels) != len(images) or images.shape[1:] != (28, 28):
        raise ArtefactError(f"{path}: does not fit the images beside it")
    if np.any(labels >= len(CLASSES)):
        raise ArtefactError(f"{path}: there are labels above {len(CLASSES) - 1}")
    return images, labels


def read_idx(path: Path, n_dims: int) -> NDArray[np.uint8]:
    """Return the bytes of an idx file compressed by gzip, in their shape.

    Raises
    ------
    ArtefactError
        When the file is not an idx file of bytes with `n_dims` dimensions, or damaged.
    """
    try:
        with gzip.open(path) as file:
            if file.read(4) != bytes([0, 0, 8, n_dims]):
                raise ArtefactError(f"{path}: not an idx file of {n_dims} dimensions")
            header = file.read(4 * n_dims)
            shape = struct.unpack(f">{len(header) // 4}I", header[: len(header) & ~3])
            if len(shape) < n_dims or prod(shape) > _MAX_VALUES:
                raise ArtefactError(f"{path}: the header is damaged")
            # Reading one byte more than needed reveals a file that is too long.
            data = file.read(prod(shape) + 1)
    except FileNotFoundError:
        raise MissingDataError(f"fashion-mnist is incomplete: no {path}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ArtefactError(f"{path}: cannot be unpacked ({error})") from None
    if len(data) != prod(shape):
        raise ArtefactError(f"{path}: not as long as its header says")
    return np.frombuffer(data, dtype=np.uint8).reshape(shape)
