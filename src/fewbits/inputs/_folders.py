"""Folders: of images, whose classes are their subfolders, or of files of one table.

Images that cannot be read are named all at once, or left out.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import known_names
from fewbits._images import open_rgb
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, FeatureError, one_line
from fewbits.inputs._input import Input
from fewbits.inputs._tables import ARROW, PARQUET, is_partition
from fewbits.inputs._text_kinds import IMAGES

#: Suffixes of images that are left out with a warning.
UNREAD = {".avif", ".heic", ".heif", ".jp2", ".j2k", ".jxl", ".jxr", ".pfm", ".tga"}
UNREAD |= {".ico", ".svg", ".eps", ".psd", ".xcf", ".exr", ".hdr", ".dcm", ".qoi"}
UNREAD |= {".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".raf", ".rw2"}

#: Folders that systems leave behind, besides hidden files (``._1.png``, ``.DS_Store``).
_JUNK = {"__MACOSX", "@eaDir", "$RECYCLE.BIN", "System Volume Information"}
_NAMED, _FAULTS = 3, 5  # names and faults in a message


def table_files(folder: Path) -> list[Path]:
    """Return the Parquet or Arrow files in a folder, or in such as ``column=value``.

    By-products such as ``_SUCCESS`` are skipped; a warning names other files.
    """
    entries = sorted(x for x in folder.iterdir() if not _is_hidden(x))
    files = [entry for entry in entries if _is_table(entry)]
    if files:
        others = [repr(entry.name) for entry in entries if entry not in files]
        if others:
            warn_user(f"{folder}: tables taken, left out: {known_names(others)}")
        return files
    folders = [entry for entry in entries if entry.is_dir()]
    if not folders or not all(map(is_partition, folders)):
        return []
    return sorted(
        path
        for path in folder.rglob("*")
        if _is_table(path)
        and not any(_is_hidden(Path(x)) for x in path.relative_to(folder).parts)
    )


def _is_table(path: Path) -> bool:
    return path.suffix.lower() in PARQUET | ARROW and path.is_file()


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "_"))


def is_image(path: str | Path) -> bool:
    """Return whether a path is that of an image file, by its suffix."""
    path = Path(path)
    return path.suffix.lower() in IMAGES and not path.is_dir()


def find_images(path: Path) -> tuple[list[Path], NDArray[np.str_] | None]:
    """Return the image files below a folder, and their labels.

    The label of an image is the path of the folder that it lies in, from `path` on:
    ``cat``, or ``train/cat``. There are no labels when an image lies in `path` itself.
    Files are sorted by the names of their folders and by their own, as strings.
    """
    images, folders, unread, broken, circular = _walk(path)
    for file in images:  # what could be neither printed nor kept beside codes
        try:
            file.encode()
        except UnicodeEncodeError:
            raise ArgumentError(f"{path}: the name {file!a} is not UTF-8") from None
    left_out = []  # a clause for each kind
    if unread:
        counts = sorted(Counter(map(_suffix, unread)).items())
        listed = ", ".join(f"{n:,} {suffix}" for suffix, n in counts)
        left_out.append(f"formats that are not read: {listed}")
    if broken:
        left_out.append(f"links that lead nowhere: {_some(broken)}")
    if circular:
        left_out.append(f"links to a folder they lie in: {_some(circular)}")
    if not images:
        but = f" but {'; '.join(left_out)}" if left_out else ""
        raise ArgumentError(
            f"{path} holds no images{but}; known: {', '.join(sorted(IMAGES))}, or "
            "Parquet or Arrow files of one table; those in subfolders are named by a "
            f"pattern, such as '{path}/**/*.parquet', and files of other kinds one by "
            "one"
        )
    parents = [_parent(file) for file in images]
    full, more = {""}, {*parents}
    while more := more - full:
        full |= more
        more = {_parent(folder) for folder in more}
    if empty := [x for x in folders if x not in full and _parent(x) in full]:
        left_out = [f"no images that can be read in {_some(empty)}", *left_out]
    if left_out:
        warn_user(f"{path}: {'; '.join(left_out)}")
    files, in_root = [path / file for file in images], parents.count("")
    if in_root:
        if in_root < len(files):
            lie = "s lie" if in_root > 1 else " lies"
            warn_user(
                f"{path}: no labels are taken from the subfolders, as {in_root:,} "
                f"image{lie} beside them"
            )
        return files, None
    if nested := {folder for folder in parents if "/" in folder}:
        warn_user(
            f"{path}: subfolders are nested, so labels are their paths, such as "
            f"{min(nested)!r}"
        )
    return files, np.array(parents, dtype=np.str_)


def _walk(root: Path) -> tuple[list[str], ...]:
    """Return images, folders, images that are not read, broken and circular links."""
    contents: tuple[list[str], ...] = ([], [], [], [], [])
    images, folders, unread, broken, circular = contents

    def identity(folder: str) -> tuple[int, int]:
        status = os.stat(folder)
        return status.st_dev, status.st_ino  # 0 where the system has none

    # Links can lead into a circle: `inside` are the folders that one lies in.
    waiting = [("", frozenset({identity(str(root))}))]
    while waiting:
        folder, inside = waiting.pop()
        with os.scandir(root / folder) as listing:
            entries = [entry for entry in listing if not entry.name.startswith(".")]
        for entry in entries:
            if entry.name in _JUNK:
                continue
            name, suffix = folder + entry.name, _suffix(entry.name)
            # The entry itself raises for a link to itself.
            if os.path.isdir(entry) if entry.is_symlink() else entry.is_dir():
                own = identity(entry.path)
                if own in inside and own[1]:
                    circular.append(name)
                else:
                    folders.append(name)
                    waiting.append((f"{name}/", inside | {own}))
            elif entry.is_symlink() and not os.path.exists(entry):
                broken.append(name)
            elif suffix in IMAGES and entry.is_file():
                images.append(name)
            elif suffix in UNREAD:
                unread.append(name)
    for paths in contents:
        paths.sort(key=lambda path: path.split("/"))
    return contents


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(map(repr, names[:_NAMED])) + more


# Images that cannot be read


def without_unreadable(source: Input) -> Input:
    """Return the images that can be read, and warn of the others."""
    if source.kind != "images":
        raise ArgumentError(
            f"{source.source} holds {source.kind}, no images: leave out "
            "skip_unreadable (on the command line --skip-unreadable)"
        )
    faults = _faults(source)
    if not faults:
        return source
    message = f"{source.source}: {_fault_message(faults, len(source))}"
    if len(faults) == len(source):
        raise ArgumentError(message)
    warn_user(f"{message}; left out")
    return source.take(np.setdiff1d(np.arange(len(source)), [*faults]))


@contextmanager
def unreadable_named(source: Input) -> Iterator[None]:
    """Name all images that cannot be read, where the first one has stopped all."""
    try:
        yield
    except FeatureError as error:
        several = source.kind == "images" and len(source) > 1
        faults = _faults(source) if several else {}
        if not faults:
            raise
        raise FeatureError(
            f"{_fault_message(faults, len(source))}; leave them out by "
            "skip_unreadable=True (on the command line --skip-unreadable)"
        ) from error


def _faults(source: Input) -> dict[int, str]:
    """Return why images cannot be read, by their row."""

    def fault(item: Any) -> str | None:
        try:
            open_rgb(item)
        except FeatureError as error:
            return one_line(error)
        return None

    with ThreadPoolExecutor() as pool:
        faults = pool.map(fault, source.values)
        return {row: text for row, text in enumerate(faults) if text is not None}


def _fault_message(faults: dict[int, str], n: int) -> str:
    shown = "; ".join([*faults.values()][:_FAULTS])
    more = f"; and {len(faults) - _FAULTS:,} more" * (len(faults) > _FAULTS)
    return f"{len(faults):,} of {n:,} images cannot be read: {shown}{more}"
