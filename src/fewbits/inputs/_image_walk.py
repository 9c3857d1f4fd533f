"""The files below a folder of images."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Suffixes of the formats that Pillow reads wherever it is installed.
IMAGES = {".apng", ".bmp", ".gif", ".jfif", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm"}
IMAGES |= {".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}

#: Suffixes of images that are left out with a warning.
UNREAD = {".avif", ".heic", ".heif", ".jp2", ".j2k", ".jxl", ".jxr", ".pfm", ".tga"}
UNREAD |= {".ico", ".svg", ".eps", ".psd", ".xcf", ".exr", ".hdr", ".dcm", ".qoi"}
UNREAD |= {".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".raf", ".rw2"}

#: Folders that systems leave behind, besides hidden files (``._1.png``, ``.DS_Store``).
_JUNK = {"__MACOSX", "@eaDir", "$RECYCLE.BIN", "System Volume Information"}


@dataclass
class Found:
    """Paths from the folder on, with slashes, each list in the order of names."""

    images: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    circular: list[str] = field(default_factory=list)

    def sort(self) -> None:
        for paths in vars(self).values():
            paths.sort(key=lambda path: path.split("/"))


def walk(root: Path) -> Found:
    """Look through a folder and, whether linked or not, the folders below it.

    Raises
    ------
    OSError
        When a folder may not be read.
    """
    found = Found()
    # Links can lead into a circle: `inside` are the folders that one lies in.
    waiting = [("", frozenset({_identity(str(root))}))]
    while waiting:
        folder, inside = waiting.pop()
        for entry in _entries(root / folder):
            name = folder + entry.name
            if not _is_folder(entry):
                _sort_in(name, entry, found)
            elif (this := _identity(entry.path)) in inside and this[1]:
                found.circular.append(name)
            else:
                found.folders.append(name)
                waiting.append((f"{name}/", inside | {this}))
    found.sort()
    return found


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.name not in _JUNK:
                yield entry


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    # The entry itself raises for a link to itself.
    return os.path.isdir(entry) if entry.is_symlink() else entry.is_dir()


def _sort_in(name: str, entry: "os.DirEntry[str]", found: Found) -> None:
    """Put what is not a folder where it belongs; other files belong nowhere."""
    suffix = suffix_of(name)
    if entry.is_symlink() and not os.path.exists(entry):
        found.broken.append(name)
    elif suffix in IMAGES and entry.is_file():
        found.images.append(name)
    elif suffix in UNREAD:
        found.unread.append(name)


def suffix_of(name: str) -> str:
    """Return the suffix of a path with slashes, in small letters."""
    return os.path.splitext(name)[1].lower()


def _identity(folder: str) -> tuple[int, int]:
    """Return the identity of a folder; (x, 0) where the system has none."""
    status = os.stat(folder)
    return status.st_dev, status.st_ino
