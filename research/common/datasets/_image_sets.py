"""Caltech-101, CIFAR-10 and Fashion-MNIST."""

import gzip
import struct
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits.datasets import Dataset
from fewbits.errors import ArgumentError, ArtefactError, MissingDataError
from research.common.datasets._files import (
    Region,
    list_files,
    list_tar_in_zip,
    locate,
)
from research.common.datasets._images import ArrayImages, ImageItem

_BACKGROUND = "BACKGROUND_Google"
_FOLDER = "101_ObjectCategories"
CALTECH101_PATHS = [
    f"caltech101/{_FOLDER}",
    "caltech101.tar",
    _FOLDER,
    f"caltech-101/{_FOLDER}",
    f"caltech-101/{_FOLDER}.tar.gz",
    f"{_FOLDER}.tar.gz",
    "caltech-101.zip",
]
_ANIMALS = ["bird", "cat", "deer", "dog", "frog", "horse"]
_CIFAR10_CLASSES = np.array(["airplane", "automobile", *_ANIMALS, "ship", "truck"])
# The official bytes first: the other archives hold JPEGs made from them.
CIFAR10_PATHS = [
    "cifar-10-binary.tar.gz",
    "cifar-10-batches-bin/data_batch_1.bin",
    "cifar10/train/airplane",
    "cifar10.tar.xz",
    "cifar10.tar",
    "data_batch_1.bin",
    "train/airplane",
]
_BATCHES = {
    "train": [f"data_batch_{number}.bin" for number in range(1, 6)],
    "test": ["test_batch.bin"],
}
_PIXELS = 3 * 32 * 32
_CLOTHES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"]
_OTHERS = ["Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
_FASHION_CLASSES = np.array(_CLOTHES + _OTHERS)
_FIRST = "train-images-idx3-ubyte.gz"
FASHION_MNIST_PATHS = [f"fashion-mnist/{_FIRST}", _FIRST]
# A header that asks for more than this is not one of these files.
_MAX_VALUES = 2**30


def load_caltech101(
    data_dir: str | Path | None = None, *, n_train: int = 30, seed: int = 0
) -> Dataset:
    """Return the photographs, by class and name.

    The archive may come with lists of training and test images, ``train.txt`` and
    ``test.txt``; they are the splits then. Otherwise, as is customary, `n_train`
    images of each class are drawn for training and all others are for testing.

    Parameters
    ----------
    data_dir : str or Path, optional
        Where ``caltech101.tar``, the official ``caltech-101.zip`` or an extracted
        folder is; or that file. The zip is unpacked into memory (150 MB).
    n_train, seed : int
        Used only when there are no lists.

    Returns
    -------
    Dataset
        Items are references to images of any size, a few of them grey. The label is
        ``class``; splits are ``train`` and ``test``, of the 101 classes only, and
        ``background``, images of something else.

    Raises
    ------
    MissingDataError, ArtefactError
        When no archive is found, or it is damaged.
    ArgumentError
        When `n_train` is below 1.
    """
    if n_train < 1:
        raise ArgumentError(f"n_train must be at least 1, not {n_train}")
    path = locate("caltech101", CALTECH101_PATHS, data_dir)
    if path.suffix == ".zip":
        files = list_tar_in_zip(path, f"{_FOLDER}.tar.gz")
    else:
        files = list_files(path)
    for name in ("train.txt", "test.txt"):
        beside = path.parent / name
        if path.is_dir() and path.name == _FOLDER and beside.is_file():
            files[name] = Region(beside, 0, beside.stat().st_size)
    images = _images(path, files, 2)
    classes = np.array([key.split("/")[0] for key in images])
    splits = _splits_of_lists(path, files, images)
    if not splits:
        rng = np.random.default_rng(seed)
        none = np.empty(0, np.int64)
        rows_of = {"train": [none], "test": [none]}
        for name in np.unique(classes):
            if name != _BACKGROUND:
                rows = rng.permutation(np.flatnonzero(classes == name))
                rows_of["train"].append(rows[:n_train])
                rows_of["test"].append(rows[n_train:])
        splits = {split: np.sort(np.concatenate(x)) for split, x in rows_of.items()}
    splits["background"] = np.flatnonzero(classes == _BACKGROUND)
    return Dataset(
        name="caltech101",
        kind="images",
        items=[ImageItem(key, region) for key, region in images.items()],
        keys=list(images),
        labels={"class": classes},
        splits=splits,
        source="https://data.caltech.edu/records/mzrjq-6wc02",
        licence="CC BY 4.0 (collection); the photographs are their owners'",
    )


def _splits_of_lists(
    path: Path, files: Mapping[str, Region], images: Mapping[str, Region]
) -> dict[str, NDArray[np.int64]]:
    """Return the splits of the lists; nothing unless both lists are there."""
    if not {"train.txt", "test.txt"} <= set(files):
        return {}
    rows = {key: row for row, key in enumerate(images)}
    splits = {}
    for split in ("train", "test"):
        text = files[f"{split}.txt"].read().decode("utf-8", "replace")
        keys = [line.strip() for line in text.splitlines()]
        # The lists of images may name other files that lie in a class's folder.
        keys = [key for key in keys if key.endswith(".jpg")]
        keys = [key for key in keys if key.split("/")[0] != _BACKGROUND]
        missing = [key for key in keys if key not in rows]
        if missing:
            raise ArtefactError(f"{path}: {split}.txt names {missing[0]}, not there")
        splits[split] = np.array(sorted(rows[key] for key in keys), dtype=np.int64)
    return splits


def load_cifar10(data_dir: str | Path | None = None) -> Dataset:
    """Return the images, training set first.

    Parameters
    ----------
    data_dir : str or Path, optional
        Where the official ``cifar-10-binary.tar.gz`` is, or ``cifar10.tar.xz`` with
        files ``train/CLASS/NAME.jpg``, or what they unpack to; or that file.

    Returns
    -------
    Dataset
        Items are references to images. The label is ``class``; splits are ``train``
        and ``test``.

    Raises
    ------
    MissingDataError, ArtefactError
        When no archive is found, or it is damaged.
    """
    path = locate("cifar10", CIFAR10_PATHS, data_dir)
    if path.is_dir():  # the folder of a class
        path = path.parents[1]
    elif path.suffix == ".bin":
        path = path.parent
    files = list_files(path)
    by_name = {name.rpartition("/")[2]: region for name, region in files.items()}
    if _BATCHES["train"][0] in by_name:
        return _from_batches(path, by_name)
    return _from_jpegs(path, files)


def _from_jpegs(path: Path, files: Mapping[str, Region]) -> Dataset:
    images = _images(path, files, 3)
    train, test = (
        [name for name in images if name.startswith(f"{split}/")]
        for split in ("train", "test")
    )
    names = train + test
    classes = np.array([name.split("/")[1] for name in names])
    if not names or not np.isin(classes, _CIFAR10_CLASSES).all():
        raise ArtefactError(f"{path}: there is no SPLIT/CLASS/NAME.jpg in it")
    items = [ImageItem(name, images[name]) for name in names]
    return _cifar10(items, names, classes, len(train))


def _images(path: Path, files: Mapping[str, Region], depth: int) -> dict[str, Region]:
    """Return images by CLASS/NAME or SPLIT/CLASS/NAME, whatever folders they are in."""
    images = {}
    for name, region in sorted(files.items()):
        parts = name.split("/")[-depth:]
        # A name that starts with a dot is not an image but what some systems add to it.
        if len(parts) == depth and parts[-1].endswith(".jpg") and parts[-1][0] != ".":
            images["/".join(parts)] = region
    if not images:
        form = "SPLIT/CLASS/NAME" if depth == 3 else "CLASS/NAME"
        raise ArtefactError(f"{path}: there is no {form}.jpg in it")
    return dict(sorted(images.items()))


def _from_batches(path: Path, files: Mapping[str, Region]) -> Dataset:
    images, labels, names = [], [], []
    for split, batches in _BATCHES.items():
        row = 0
        for batch in batches:
            if batch not in files:
                raise ArtefactError(f"{path}: there is no {batch} in it")
            records = np.frombuffer(files[batch].read(), dtype=np.uint8)
            if not len(records) or len(records) % (1 + _PIXELS):
                raise ArtefactError(f"{path}: {batch} does not hold whole records")
            records = records.reshape(-1, 1 + _PIXELS)
            numbers, planes = records[:, 0], records[:, 1:].reshape(-1, 3, 32, 32)
            if np.any(numbers >= len(_CIFAR10_CLASSES)):
                raise ArtefactError(
                    f"{path}: {batch} has labels above {len(_CIFAR10_CLASSES) - 1}"
                )
            images.append(np.ascontiguousarray(planes.transpose(0, 2, 3, 1)))
            labels.append(numbers)
            names += [f"{split}/{i:05d}" for i in range(row, row + len(numbers))]
            row += len(numbers)
    n_train = sum(name.startswith("train/") for name in names)
    items = ArrayImages(np.concatenate(images), names)
    return _cifar10(items, names, _CIFAR10_CLASSES[np.concatenate(labels)], n_train)


def _cifar10(
    items: list[ImageItem] | ArrayImages,
    names: list[str],
    classes: NDArray[np.str_],
    n_train: int,
) -> Dataset:
    return Dataset(
        name="cifar10",
        kind="images",
        items=items,
        keys=names,
        labels={"class": classes},
        splits={"train": np.arange(n_train), "test": np.arange(n_train, len(names))},
        source="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence="research use, with the authors' report cited",
    )


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
    MissingDataError, ArtefactError
        When the files are not found, or one is damaged.
    """
    folder = locate("fashion-mnist", FASHION_MNIST_PATHS, data_dir).parent
    parts = []
    for prefix in ("train", "t10k"):
        images = _read_idx(folder / f"{prefix}-images-idx3-ubyte.gz", 3)
        path = folder / f"{prefix}-labels-idx1-ubyte.gz"
        labels = _read_idx(path, 1)
        if len(labels) != len(images) or images.shape[1:] != (28, 28):
            raise ArtefactError(f"{path}: does not fit the images beside it")
        if np.any(labels >= len(_FASHION_CLASSES)):
            raise ArtefactError(
                f"{path}: there are labels above {len(_FASHION_CLASSES) - 1}"
            )
        parts.append((images, labels))
    pixels, numbers = map(np.concatenate, zip(*parts, strict=True))
    n_train = len(parts[0][0])
    names = [f"train/{i:05d}" for i in range(n_train)]
    names += [f"test/{i:05d}" for i in range(len(pixels) - n_train)]
    return Dataset(
        name="fashion-mnist",
        kind="images",
        items=ArrayImages(pixels, names),
        keys=names,
        labels={"class": _FASHION_CLASSES[numbers]},
        splits={"train": np.arange(n_train), "test": np.arange(n_train, len(names))},
        source="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
    )


def _read_idx(path: Path, n_dims: int) -> NDArray[np.uint8]:
    """Return the bytes of an idx file compressed by gzip, in their shape."""
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
