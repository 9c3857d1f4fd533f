"""A folder of immutable files and a manifest that names them.

Every file but the manifest is written under a new name and never changed. The manifest
is replaced last, in one atomic step, so that a crash at any moment leaves the old
bundle or the new one. Lengths and SHA-256 sums in the manifest find damaged files; the
manifest carries its own.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from errno import EACCES, ENOTDIR
from pathlib import Path
from typing import IO, Any, TypeVar

from fewbits._files import atomic_write, sync_folder
from fewbits.errors import ArtefactError

T = TypeVar("T")
MANIFEST = "bundle.json"
VERIFIED = "verified.json"  # the note of `_verification`
FORMAT = 4
# What a crash during a first save leaves behind: files begun, and files of a bundle.
_BEGUN = re.compile(rf"[a-z]+-new\.[a-z]+|\..*\.tmp|{re.escape(VERIFIED)}")
_WHOLE = re.compile(r"[a-z]+-[0-9a-f]{12}(\.[a-z]+)?")
_NO_JSON = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


def write_folder(
    folder: Path,
    files: Mapping[str, Callable[[IO[bytes]], object]],
    content: Mapping[str, Any],
) -> None:
    """Write the files (stem.suffix -> writer), then the manifest, then clean up."""
    check_target(folder)
    names = {*files, *_entries(folder)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        entries = {name: _write(folder, name, write) for name, write in files.items()}
        sync_folder(folder)  # the manifest names what is there
        manifest = {"format": FORMAT, **content, "files": entries}
        with atomic_write(folder / MANIFEST) as file:
            file.write(sealed(manifest))
    except BaseException as error:
        # The disk may be full: room is made where possible, and the cause is told.
        with contextlib.suppress(OSError):
            sync_folder(folder)  # the new manifest may be there already
            _clean(folder, names)
        if isinstance(error, OSError) and error.errno is not None:
            # The system names a temporary file that the caller does not know.
            raise OSError(error.errno, error.strerror, str(folder)) from error
        raise
    _clean(folder, names)


def check_target(folder: Path, *, overwrite: bool = True) -> None:
    """Refuse to write among the files of something else.

    Raises
    ------
    ArtefactError
        When the folder is a file, or holds files but no manifest of ours; without
        `overwrite` also when it holds a bundle, or the remains of one.
    OSError
        When it is not there and cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise ArtefactError(f"{folder} is a file; choose another folder")
    if not folder.is_dir():
        _check_parents(folder)
        return
    if (folder / MANIFEST).exists():
        _check_manifest(folder, overwrite)
        return
    names = [path.name for path in folder.iterdir()]
    whole = [name for name in names if _WHOLE.fullmatch(name)]
    if any(not _BEGUN.fullmatch(name) for name in names if name not in whole):
        raise ArtefactError(f"{folder} holds other files; choose an empty folder")
    if whole and not overwrite:
        raise ArtefactError(
            f"{folder} holds {whole[0]} of a bundle, but no {MANIFEST}: put that back, "
            "choose another folder, or lose it by 'fewbits fit --overwrite'"
        )


def _check_parents(folder: Path) -> None:
    """Refuse a folder that cannot be created."""
    above = next(each for each in folder.absolute().parents if each.exists())
    if not above.is_dir():
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(folder))
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), str(above))


def _check_manifest(folder: Path, overwrite: bool) -> None:
    content = (folder / MANIFEST).read_bytes()
    # A damaged one may be written anew: two of three names tell that it is ours, or
    # the files beside it.
    ours = any(_WHOLE.fullmatch(path.name) for path in folder.iterdir())
    names = (b'"format"', b'"encoder"', b'"files"')
    if not ours and sum(name in content for name in names) < 2:
        raise ArtefactError(
            f"{folder} holds a {MANIFEST} of something else; choose another folder"
        )
    if not overwrite:
        raise ArtefactError(
            f"{folder} holds a bundle already: choose another folder, or lose it with "
            "its items by 'fewbits fit --overwrite'"
        )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a bundle, checked against its own sum.

    Raises
    ------
    ArtefactError
        When the folder is not a bundle, or the manifest is damaged or newer than this
        version.
    """
    path = folder / MANIFEST
    if not path.is_file():
        lacks = (
            f"it has no {MANIFEST}" if folder.exists() else "there is no such folder"
        )
        raise ArtefactError(f"{folder} is not a bundle: {lacks}")
    try:
        manifest = read_sealed(path)
    except ArtefactError as error:
        raise ArtefactError(
            f"{error}; 'fewbits verify --repair' puts back a flipped bit"
        ) from error
    if manifest.get("format") in range(1, FORMAT):
        raise ArtefactError(
            f"{folder} was written by an early version of fewbits: fit and build it "
            "again ('fewbits fit --overwrite')"
        )
    if manifest.get("format") != FORMAT:
        raise ArtefactError(
            f"{folder} was written in format {manifest.get('format')}, this version "
            f"reads format {FORMAT}: install a newer fewbits"
        )
    return manifest


def read_whole(folder: Path, read: Callable[[dict[str, Any]], T]) -> T:
    """Return what is read of a bundle by its manifest.

    It is read again where another bundle is saved in its place meanwhile, which
    removes the files of the first.
    """
    while True:
        manifest = read_manifest(folder)
        try:
            return read(manifest)
        except (ArtefactError, FileNotFoundError):
            if read_manifest(folder) == manifest:
                raise


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what `sealed` made a file of, checked against its own sum.

    Raises
    ------
    ArtefactError
        When it is damaged.
    OSError
        When it is not there.
    """
    try:
        return _unsealed(path.read_bytes())
    except _NO_JSON as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error


def is_sealed(data: bytes | bytearray) -> bool:
    """Return whether these bytes are what `sealed` returned."""
    try:
        _unsealed(data)
    except _NO_JSON:
        return False
    return True


def _unsealed(data: bytes | bytearray) -> dict[str, Any]:
    content = json.loads(data.decode())
    stated = content.pop("sha256")
    if stated != _digest(content):
        raise ValueError("its checksum does not match")
    return dict(content)


def checked_path(folder: Path, manifest: Mapping[str, Any], name: str) -> Path:
    """Return the path of a file of the bundle after reading all of it once."""
    try:
        entry = manifest["files"][name]
        path = folder / str(entry["path"])
    except (KeyError, TypeError):
        raise ArtefactError(f"{folder / MANIFEST} is damaged: no {name}") from None
    if path.parent != folder or path.name != entry["path"]:
        raise ArtefactError(f"{folder / MANIFEST} names a file outside: {path}")
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise ArtefactError(f"{path} is missing from the bundle") from None
    if size != entry["bytes"]:
        raise ArtefactError(
            f"{path} is damaged: {size} bytes long instead of {entry['bytes']}"
        )
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
            raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return path


def _write(
    folder: Path, name: str, write: Callable[[IO[bytes]], object]
) -> dict[str, Any]:
    """Write one file under a name that its content decides."""
    stem, suffix = name.rsplit(".", 1)
    draft = folder / f"{stem}-new.{suffix}"
    with atomic_write(draft) as file:
        write(file)
    with draft.open("rb") as written:
        digest = hashlib.file_digest(written, "sha256").hexdigest()
    path = folder / f"{stem}-{digest[:12]}.{suffix}"
    draft.replace(path)
    return {"path": path.name, "bytes": path.stat().st_size, "sha256": digest}


def _clean(folder: Path, names: Collection[str]) -> None:
    """Remove the files of other saves, whole or begun, that no manifest names."""
    kept = {entry["path"] for entry in _entries(folder).values()}
    patterns = [
        re.compile(rf"\.?{re.escape(stem)}-(new|[0-9a-f]{{12}})\.{suffix}(\..*\.tmp)?")
        for stem, suffix in (name.rsplit(".", 1) for name in names)
    ]
    patterns.append(re.compile(rf"\.{re.escape(MANIFEST)}\..*\.tmp"))
    # It describes the files that were there.
    patterns.append(re.compile(rf"(\.(?=.*tmp))?{re.escape(VERIFIED)}(\..*\.tmp)?"))
    for path in folder.iterdir():
        ours = any(pattern.fullmatch(path.name) for pattern in patterns)
        if ours and path.name not in kept and path.is_file():
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _entries(folder: Path) -> dict[str, Any]:
    """Return the files that the manifest names; none when it cannot be read."""
    try:
        return dict(read_manifest(folder).get("files", {}))
    except (ArtefactError, OSError):
        return {}


def sealed(content: Mapping[str, Any]) -> bytes:
    """Return plain values as a file of JSON with a checksum."""
    whole = {**content, "sha256": _digest(content)}
    return json.dumps(whole, indent=1, ensure_ascii=False).encode()


def _digest(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
