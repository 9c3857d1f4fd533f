"""The images of a folder, and their classes from its subfolders."""

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError
from fewbits.inputs._image_walk import IMAGES, Found, suffix_of, walk

_NAMED = 3  # at most, in a message


def is_image(path: str | Path) -> bool:
    """Return whether a path is that of an image file, by its suffix."""
    path = Path(path)
    return path.suffix.lower() in IMAGES and not path.is_dir()


def find_images(path: Path) -> tuple[list[Path], NDArray[np.str_] | None]:
    """Return the image files below a folder, and their labels.

    The label of an image is the path of the folder that it lies in, from `path` on,
    with slashes: ``cat``, or ``train/cat`` where folders are nested. There are no
    labels when an image lies in `path` itself.

    Links to files and folders are followed, but not into a folder that they lie in.
    Hidden files and folders are skipped, and so is what systems leave behind, such as
    ``__MACOSX``.

    Parameters
    ----------
    path : Path
        A folder.

    Returns
    -------
    files : list of Path
        Sorted by the names of their folders and by their own, as strings; the same on
        every machine.
    labels : ndarray of str, of shape (n,), or None

    Warns
    -----
    UserWarning
        When folders hold no image that can be read, images of other formats are left
        out, or links lead nowhere or in a circle; when labels are paths of more than
        one folder, or there are none because images lie both in `path` and below.

    Raises
    ------
    ArgumentError
        When there is no image, or a name is not UTF-8.
    OSError
        When a folder may not be read.
    """
    found = walk(path)
    _check_names(path, found)
    if not found.images:
        raise ArgumentError(_no_images(path, found))
    if clauses := [*_without_images(found), *_left_out(found)]:
        warn_user(f"{path}: {'; '.join(clauses)}")
    return [path / file for file in found.images], _labels(path, found.images)


def _labels(path: Path, files: list[str]) -> NDArray[np.str_] | None:
    folders = [_folder(file) for file in files]
    in_root = folders.count("")
    if in_root == len(files):
        return None
    if in_root:
        warn_user(
            f"{path}: no labels are taken from the subfolders, as {in_root:,} "
            f"image{'s lie' if in_root > 1 else ' lies'} beside them"
        )
        return None
    nested = {folder for folder in folders if "/" in folder}
    if nested:
        warn_user(
            f"{path}: subfolders are nested, so labels are their paths, such as "
            f"{min(nested)!r}"
        )
    return np.array(folders, dtype=np.str_)


def _left_out(found: Found) -> list[str]:
    """Describe the files that are left out, a clause for each kind."""
    clauses = []
    if found.unread:
        clauses.append(f"formats that are not read: {_formats(found.unread)}")
    if found.broken:
        clauses.append(f"links that lead nowhere: {_named(found.broken)}")
    if found.circular:
        clauses.append(f"links to a folder they lie in: {_named(found.circular)}")
    return clauses


def _without_images(found: Found) -> list[str]:
    """Name the folders below which there is no image, without those inside them."""
    full, more = {""}, {_folder(file) for file in found.images}
    while more := more - full:
        full |= more
        more = {_folder(folder) for folder in more}
    empty = [x for x in found.folders if x not in full and _folder(x) in full]
    return [f"no images that can be read in {_named(empty)}"] if empty else []


def _no_images(path: Path, found: Found) -> str:
    clauses = _left_out(found)
    there = f" but {'; '.join(clauses)}" if clauses else ""
    return f"{path} holds no images{there}; known are {', '.join(sorted(IMAGES))}"


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _formats(files: list[str]) -> str:
    counts = Counter(map(suffix_of, files))
    return ", ".join(f"{n:,} {suffix}" for suffix, n in sorted(counts.items()))


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(map(repr, names[:_NAMED])) + more


def _check_names(path: Path, found: Found) -> None:
    """Refuse names that could be neither printed nor kept beside codes."""
    for file in found.images:
        try:
            file.encode()
        except UnicodeEncodeError:
            raise ArgumentError(f"{path}: the name {file!a} is not UTF-8") from None
