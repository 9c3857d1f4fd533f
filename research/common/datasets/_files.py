"""Data sets on this machine: their places, and archives read without unpacking."""

import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO

from platformdirs import user_data_dir

from fewbits._extras import missing_extra
from fewbits.errors import ArtefactError, MissingDataError

_VARIABLE = "FEWBITS_DATA"
DEBIAN = (Path("/usr/share/datasets"), Path("/usr/share"))
# No data set here comes near this size; a small file that grows past it is hostile.
MAX_UNPACKED = 2**31
_BLOCK = 512
_CHUNK = 2**20


def user_folder() -> Path:
    """Return the default folder of downloads."""
    return Path(user_data_dir("fewbits", appauthor=False))


def locate(name: str, paths: Sequence[str], data_dir: str | Path | None = None) -> Path:
    """Return the first of `paths` that exists in a folder of the search path.

    A folder that was given is the only one: data from anywhere else would be a
    surprise. Otherwise they are that of the environment variable FEWBITS_DATA, the
    user's data folder, and those of Debian's packages.
    """
    if data_dir is not None and Path(data_dir).is_file():
        return Path(data_dir)
    named = os.environ.get(_VARIABLE)
    folders = [*([Path(named)] if named else []), user_folder(), *DEBIAN]
    if data_dir is not None:
        folders = [Path(data_dir)]
    for folder in folders:
        for path in paths:
            if (folder / path).exists():
                return folder / path
    looked = ", ".join(str(folder) for folder in folders)
    raise MissingDataError(
        f"{name} is not in {looked}: run 'python -m research get {name}', "
        f"or let {_VARIABLE} name the folder that has it"
    )


def package_folder(package: str, what: str) -> Path:
    """Return the folder of an installed package, which is not imported."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise missing_extra(f"{what} comes with a package", "bench")
    return Path(spec.origin).parent


@dataclass(frozen=True, slots=True)
class Region:
    """Part of a file or of bytes in memory; reading shares no state, so threads may."""

    where: Path | bytes = field(repr=False)
    offset: int
    size: int

    def read(self) -> bytes:
        """Return the bytes; raise OSError when the file is gone or too short."""
        if isinstance(self.where, bytes):
            return self.where[self.offset : self.offset + self.size]
        with open(self.where, "rb") as file:
            file.seek(self.offset)
            data = file.read(self.size)
        if len(data) < self.size:
            raise OSError(f"{self.where} has become shorter")
        return data


def list_files(path: Path) -> dict[str, Region]:
    """Map the names of the regular files under `path` to where their bytes are.

    `path` is a folder or a tar, which may be compressed by gzip or xz. Names use
    slashes and are relative. Links and members that point out of the archive are
    ignored; a compressed tar is unpacked into memory.
    """
    if path.is_dir():
        files = {}
        for root, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                place = Path(root, name)
                if place.is_file() and not place.is_symlink():
                    key = place.relative_to(path).as_posix()
                    files[key] = Region(place, 0, place.stat().st_size)
        return files
    with open(path, "rb") as file:
        start = file.read(6)
        file.seek(0)
        if start.startswith((b"\x1f\x8b", b"\xfd7zXZ\x00")):
            return _list_tar(path, _unpack(path, file))
        return _list_tar(path, path)


def list_tar_in_zip(path: Path, member: str) -> dict[str, Region]:
    """Do as `list_files` for the compressed tar called `member` in the zip `path`."""
    try:
        with zipfile.ZipFile(path) as outer:
            names = [n for n in outer.namelist() if PurePosixPath(n).name == member]
            if not names:
                raise ArtefactError(f"{path}: there is no {member} in it")
            with outer.open(names[0]) as inner:
                return _list_tar(path, _unpack(path, inner))
    # zipfile raises the last two for encrypted members and unknown compression.
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise ArtefactError(f"{path}: not a readable zip ({error})") from None


def _unpack(path: Path, file: IO[bytes]) -> bytes:
    is_gzip = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    data = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=file) if is_gzip else lzma.LZMAFile(file) as source:
            while (chunk := source.read(_CHUNK)) and data.tell() <= MAX_UNPACKED:
                data.write(chunk)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ArtefactError(f"{path}: cannot be unpacked ({error})") from None
    if data.tell() > MAX_UNPACKED:
        raise ArtefactError(f"{path}: unpacks to more than {MAX_UNPACKED:,} bytes")
    return data.getvalue()


def _list_tar(path: Path, where: Path | bytes) -> dict[str, Region]:
    files = {}
    with io.BytesIO(where) if isinstance(where, bytes) else open(where, "rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:") as tar:
                for member in tar:
                    parts = member.name.split("/")
                    outside = parts[0] == "" or ".." in parts or "\\" in member.name
                    if member.isreg() and not member.issparse() and not outside:
                        name = "/".join(part for part in parts if part not in ("", "."))
                        files[name] = Region(where, member.offset_data, member.size)
                end = tar.offset
        # Hostile headers make tarfile raise more than its own errors.
        except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
            raise ArtefactError(f"{path}: not a readable tar ({error})") from None
        # tarfile takes a cut or broken header for the end; a whole tar ends in zeros.
        file.seek(end)
        whole = file.read(_BLOCK) == bytes(_BLOCK)
    if not whole or any(r.size < 0 or r.offset + r.size > size for r in files.values()):
        raise ArtefactError(f"{path}: the tar is cut short or damaged")
    return files
