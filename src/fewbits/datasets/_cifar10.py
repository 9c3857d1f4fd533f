"""CIFAR-10: 60,000 colour images of 32 x 32 pixels in ten classes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits.datasets._archive import Region, list_files
from fewbits.datasets._base import Dataset
from fewbits.datasets._images import ArrayImages, ImageItem
from fewbits.datasets._locate import locate
from fewbits.errors import ArtefactError

CLASSES = np.array(
    [
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ]
)
# The official bytes first: the other archives hold JPEGs made from them.
PATHS = [
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
        and ``test``. For the splits of the hashing literature see
        `fewbits.evaluation.splits.standard_split`.

    Raises
    ------
    MissingDataError
        When no archive is found.
    ArtefactError
        When the archive is damaged.
    """
    path = _top(locate("cifar10", PATHS, data_dir))
    files = list_files(path)
    by_name = {name.rpartition("/")[2]: region for name, region in files.items()}
    if _BATCHES["train"][0] in by_name:
        return _from_batches(path, by_name)
    return _from_jpegs(path, files)


def _top(path: Path) -> Path:
    """Return the folder of an extracted set, given what shows that it is one."""
    if path.is_dir():
        return path.parents[1]
    return path.parent if path.suffix == ".bin" else path


def _from_jpegs(path: Path, files: Mapping[str, Region]) -> Dataset:
    images = {}
    for split in ("train", "test"):
        for name in sorted(files):
            parts = name.split("/")[-3:]
            if len(parts) == 3 and parts[0] == split and parts[2].endswith(".jpg"):
                images["/".join(parts)] = files[name]
    classes = np.array([key.split("/")[1] for key in images])
    unknown = set(classes.tolist()) - set(CLASSES.tolist())
    if not images or unknown:
        raise ArtefactError(f"{path}: there are no files SPLIT/CLASS/NAME.jpg in it")
    n_train = sum(key.startswith("train/") for key in images)
    items = [ImageItem(key, region) for key, region in images.items()]
    return _dataset(items, list(images), classes, n_train)


def _from_batches(path: Path, files: Mapping[str, Region]) -> Dataset:
    images, labels, names = [], [], []
    for split, batches in _BATCHES.items():
        row = 0
        for batch in batches:
            if batch not in files:
                raise ArtefactError(f"{path}: there is no {batch} in it")
            pixels, found = _read_batch(path, batch, files[batch])
            images.append(pixels)
            labels.append(found)
            names += [f"{split}/{i:05d}" for i in range(row, row + len(found))]
            row += len(found)
    n_train = sum(name.startswith("train/") for name in names)
    items = ArrayImages(np.concatenate(images), names)
    return _dataset(items, names, CLASSES[np.concatenate(labels)], n_train)


def _read_batch(
    path: Path, name: str, region: Region
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return pixels of shape (n, 32, 32, 3) and labels of one binary file."""
    records = np.frombuffer(region.read(), dtype=np.uint8)
    if not len(records) or len(records) % (1 + _PIXELS):
        raise ArtefactError(f"{path}: {name} does not hold whole records")
    records = records.reshape(-1, 1 + _PIXELS)
    labels, planes = records[:, 0], records[:, 1:].reshape(-1, 3, 32, 32)
    if np.any(labels >= len(CLASSES)):
        raise ArtefactError(f"{path}: {name} has labels above {len(CLASSES) - 1}")
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), labels


def _dataset(
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
