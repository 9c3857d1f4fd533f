"""Caltech-101: 9,144 photographs, 101 classes and a set of background images."""

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits.datasets._archive import Region, list_files, list_tar_in_zip
from fewbits.datasets._base import Dataset
from fewbits.datasets._images import ImageItem
from fewbits.datasets._locate import locate
from fewbits.errors import ArgumentError, ArtefactError

BACKGROUND = "BACKGROUND_Google"
_FOLDER = "101_ObjectCategories"
PATHS = [
    f"caltech101/{_FOLDER}",
    "caltech101.tar",
    _FOLDER,
    f"caltech-101/{_FOLDER}",
    f"caltech-101/{_FOLDER}.tar.gz",
    f"{_FOLDER}.tar.gz",
    "caltech-101.zip",
]


def load_caltech101(
    data_dir: str | Path | None = None,
    *,
    leave_out: Collection[str] = (),
    n_train: int = 30,
    seed: int = 0,
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
    leave_out : collection of str
        Classes to drop, such as ``Faces_easy``, which shows the images of ``Faces``.
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
    MissingDataError
        When no archive is found.
    ArtefactError
        When the archive is damaged.
    ArgumentError
        When a class to leave out is unknown, or `n_train` is below 1.
    """
    if n_train < 1:
        raise ArgumentError(f"n_train must be at least 1, not {n_train}")
    path = locate("caltech101", PATHS, data_dir)
    files = _files(path)
    images = _images(path, files, leave_out)
    classes = np.array([key.split("/")[0] for key in images])
    splits = _listed(path, files, images, leave_out)
    if not splits:
        splits = _drawn(classes, n_train, seed)
    splits["background"] = np.flatnonzero(classes == BACKGROUND)
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


def _files(path: Path) -> dict[str, Region]:
    if path.suffix == ".zip":
        return list_tar_in_zip(path, f"{_FOLDER}.tar.gz")
    files = list_files(path)
    if path.is_dir() and path.name == _FOLDER:
        for name in ("train.txt", "test.txt"):
            beside = path.parent / name
            if beside.is_file():
                files[name] = Region(beside, 0, beside.stat().st_size)
    return files


def _images(
    path: Path, files: Mapping[str, Region], leave_out: Collection[str]
) -> dict[str, Region]:
    """Return the images as CLASS/NAME, sorted, whatever folders they lie in."""
    images = {}
    for name, region in files.items():
        parts = name.split("/")[-2:]
        # A name that starts with a dot is not an image but what some systems add to it.
        if len(parts) == 2 and parts[1].endswith(".jpg") and parts[1][0] != ".":
            images["/".join(parts)] = region
    if not images:
        raise ArtefactError(f"{path}: there is no CLASS/NAME.jpg in it")
    unknown = set(leave_out) - {key.split("/")[0] for key in images}
    if unknown:
        raise ArgumentError(f"caltech101 has no class {', '.join(sorted(unknown))}")
    return {k: images[k] for k in sorted(images) if k.split("/")[0] not in leave_out}


def _listed(
    path: Path,
    files: Mapping[str, Region],
    images: Mapping[str, Region],
    leave_out: Collection[str],
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
        dropped = {BACKGROUND, *leave_out}
        keys = [key for key in keys if key.split("/")[0] not in dropped]
        missing = [key for key in keys if key not in rows]
        if missing:
            raise ArtefactError(f"{path}: {split}.txt names {missing[0]}, not there")
        splits[split] = np.array(sorted(rows[key] for key in keys), dtype=np.int64)
    return splits


def _drawn(
    classes: NDArray[np.str_], n_train: int, seed: int
) -> dict[str, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    train: list[int] = []
    test: list[int] = []
    for name in np.unique(classes):
        if name != BACKGROUND:
            rows = rng.permutation(np.flatnonzero(classes == name))
            train += rows[:n_train].tolist()
            test += rows[n_train:].tolist()
    return {
        "train": np.array(sorted(train), dtype=np.int64),
        "test": np.array(sorted(test), dtype=np.int64),
    }
