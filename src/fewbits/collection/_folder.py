"""The folder of a collection: FORMAT.md describes every file.

Files are written under new names and never changed, but for two. ``collection.json`` is
replaced last, in one atomic step, so that a crash at any moment leaves the old
collection or the new one; ``verified.json`` notes the last verification. The lengths
and SHA-256 sums in ``collection.json`` find damaged files; it carries its own. Rows are
in a folder of their own, a `fewbits.store.Store`.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from errno import EACCES, ENOENT, ENOTDIR
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from fewbits import encoders
from fewbits._files import atomic_write, link_or_copy, make_folder, sync_folder
from fewbits._formats import check_changeable, check_readable, features_of
from fewbits.classify import calibration_bytes, load_calibration, load_codebook
from fewbits.collection._model import Facts, Model
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, ArtefactError, NewerFormatError
from fewbits.ood import load_rejection, rejection_bytes
from fewbits.store import Snapshot, Store, one_at_a_time, remove_store

MANIFEST, VERIFIED = "collection.json", "verified.json"
FORMAT = 6
NORMALIZE = "normalize"
#: What its lists of features may name, see FORMAT.md, and what that means.
FEATURES = {NORMALIZE: "vectors are brought to length 1 before all else: for readers"}
_OLDEST = 5  # format that is read
_EARLIER = "bundle.json"  # of formats 1 to 4
SAVING = ".saving.tmp"  # there while one saves
ROWS = re.compile(r"rows-[0-9a-f]{12}")
_WHOLE = re.compile(r"[a-z]+-[0-9a-f]{12}(\.[a-z]+)?")
#: What a crash during a first save leaves behind.
_BEGUN = re.compile(rf"[a-z]+-new\.[a-z]+|\..*\.tmp|{re.escape(VERIFIED)}")
_ENCODER, _CODEBOOK = "encoder.safetensors", "codebook.safetensors"
_CALIBRATION, _REJECTION = "calibration.safetensors", "rejection.safetensors"
#: Types of the fields of a manifest, and of a file in it.
_FIELDS: dict[str, Any] = {
    "encoder": dict,
    "facts": dict,
    "files": dict,
    "rows": str | None,
}
_FIELDS |= {"backbone": str | None, "backbone_fingerprint": str | None}
_KNOWN = {*_FIELDS, "format", "reader_features", "writer_features", "sha256", "digest"}
_FILES = {_ENCODER, _CODEBOOK, _CALIBRATION, _REJECTION}
_ENTRY = {"path": str, "bytes": int, "sha256": str}
Result = TypeVar("Result")


# Reading.


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the content of ``collection.json``, checked against its own sum."""
    path = folder / MANIFEST
    if not path.is_file():
        if (folder / _EARLIER).is_file():
            raise ArtefactError(
                f"{folder} was written by an early version of fewbits: build it again "
                "('fewbits build --overwrite')"
            )
        if stores := lost_stores(folder):
            raise ArtefactError(
                f"{folder} has rows of a collection, {stores[0].name}, but no "
                f"{MANIFEST}: put that back from a backup, and run 'fewbits verify'; "
                "if the first 'fewbits build' was killed, run it with --overwrite"
            )
        lacks = f"it has no {MANIFEST}"
        if folder.is_file():
            lacks = "it is a file; 'fewbits build COLLECTION FILE' makes one of it"
        elif not folder.exists():
            lacks = "there is no such folder"
        raise ArtefactError(f"{folder} is not a collection: {lacks}")
    return _parsed(path, path.read_bytes())


def stores_in(folder: Path) -> list[Path]:
    """Return the folders of rows, also those that the manifest does not name."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = [path for path in paths if ROWS.fullmatch(path.name)]
    return [path for path in paths if path.is_dir() and not path.is_symlink()]


def lost_stores(folder: Path) -> list[Path]:
    """Return the folders with rows where there is no manifest."""
    if (folder / MANIFEST).exists():
        return []
    return [path for path in stores_in(folder) if any(path.glob("seg-*.arrow"))]


@lru_cache(8)
def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    """Read a manifest once, as each change asks for it several times."""
    try:
        manifest = unsealed(data, path)
    except ArtefactError as error:
        raise ArtefactError(
            f"{error}; 'fewbits verify --repair' puts back a flipped bit"
        ) from error
    check_format(path.parent, manifest)
    _check_fields(path, manifest, _FIELDS)
    _check_fields(path, manifest["encoder"], {"fingerprint": str})
    for entry in manifest["files"].values():
        _check_fields(path, entry, _ENTRY)
    return {**manifest, "digest": hashlib.sha256(data).hexdigest()}


def _check_fields(path: Path, values: Any, kinds: Mapping[str, Any]) -> None:
    for name, kind in kinds.items():
        value = values.get(name, ...) if isinstance(values, dict) else ...
        if not isinstance(value, kind):
            shown = "missing" if value is ... else repr(value)[:60]
            raise ArtefactError(f"{path} is damaged: {name} is {shown}")


def check_format(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest that is too old, or that only a newer fewbits reads."""
    number = manifest.get("format")
    if type(number) is int and number < _OLDEST:
        raise ArtefactError(
            f"{folder} was written in format {number}, this version reads formats from "
            f"{_OLDEST} on: build it again"
        )
    try:
        check_readable(folder, manifest, FORMAT, FEATURES)
    except (LookupError, ValueError) as error:
        if isinstance(error, NewerFormatError):
            raise
        raise ArtefactError(f"{folder / MANIFEST} is damaged: {error}") from error


def _changeable_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest, if this version knows what a change has to take care of."""
    manifest = read_manifest(folder)
    check_changeable(folder, features_of(manifest, "writer_features"), FEATURES)
    return manifest


def check_writable(folder: Path) -> None:
    """Refuse a collection, damaged ones aside, that only a newer fewbits may change."""
    with contextlib.suppress(ArtefactError, FileNotFoundError):
        manifest = _changeable_manifest(folder)
        if manifest["rows"] is not None:
            with open_store(folder, manifest["rows"]).snapshot() as rows:
                rows.manifest.check_changeable(folder)


def read_folder(
    folder: Path, encoder: Encoder | None = None
) -> tuple[Model, Store | None, str]:
    """Return the model of a collection, its store of rows, and the manifest's digest.

    An `encoder` stands for the files of the encoder and classes. Call it by `settled`.
    """
    manifest = read_manifest(folder)
    files = manifest["files"] if encoder is None else ()
    if encoder is None:
        encoder = encoders.load(checked_path(folder, manifest, _ENCODER))
        if encoder.fingerprint != manifest["encoder"]["fingerprint"]:
            raise ArtefactError(f"{folder} mixes the files of two encoders")
    parts: dict[str, Any] = {}
    for name, key, load in (
        (_CODEBOOK, "codebook", load_codebook),
        (_CALIBRATION, "calibration", load_calibration),
        (_REJECTION, "rejection", load_rejection),
    ):
        if name in files:
            parts[key] = load(checked_path(folder, manifest, name))
    try:
        facts = Facts.from_dict(manifest["facts"])
    except ArgumentError as error:
        raise ArtefactError(f"{folder / MANIFEST} is damaged: {error}") from error
    names = manifest["backbone"], manifest["backbone_fingerprint"]
    try:
        model = Model(encoder, *names, facts, **parts)
    except ArgumentError as error:
        raise ArtefactError(
            f"{folder} mixes files of two collections: {error}"
        ) from error
    name = manifest["rows"]
    store = None if name is None else open_store(folder, name)
    return model, store, str(manifest["digest"])


def settled(folder: Path, read: Callable[[], Result]) -> Result:
    """Return what is read of a folder: read again, where another is saved meanwhile."""
    before: str | None = "that of no manifest"
    while True:
        try:
            return read()
        except (ArtefactError, FileNotFoundError):
            if (digest := digest_of(folder)) == before:
                raise
            before = digest


def digest_of(folder: Path) -> str | None:
    """Return the SHA-256 of a manifest, None where there is none."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def checked_path(folder: Path, manifest: Mapping[str, Any], name: str) -> Path:
    """Return the path of a file of the manifest after reading all of it once."""
    if name not in manifest["files"]:
        raise ArtefactError(f"{folder / MANIFEST} is damaged: no {name}")
    entry = manifest["files"][name]
    path: Path = folder / entry["path"]
    if path.parent != folder or path.name != entry["path"]:
        raise ArtefactError(f"{folder / MANIFEST} names a file outside: {path}")
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise ArtefactError(f"{path} is missing from the collection") from None
    if size != entry["bytes"]:
        raise ArtefactError(
            f"{path} is damaged: {size} bytes long instead of {entry['bytes']}"
        )
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
            raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return path


def open_store(folder: Path, name: Any) -> Store:
    """Open the store that a manifest names; nothing of it is read."""
    if not (isinstance(name, str) and ROWS.fullmatch(name)):
        raise ArtefactError(
            f"{folder / MANIFEST} is damaged: no rows are called {name}"
        )
    if not (folder / name).is_dir():
        raise ArtefactError(f"{folder / name} is missing from the collection")
    # Files are opened when something in them is asked for; the process may be
    # elsewhere then.
    return Store(folder.absolute() / name)


def folder_state(folder: str | Path) -> tuple[str, int]:
    """Return the manifest's digest, and the newest version of the rows, -1 without any.

    Cheap: a few names are looked at, and a small file is read.
    """
    folder = Path(folder)

    def state() -> tuple[str, int]:
        manifest = read_manifest(folder)
        name, version = manifest["rows"], -1
        if name is not None:
            version = open_store(folder, name).newest()
        return str(manifest["digest"]), version

    return settled(folder, state)


# Writing.


def save_folder(
    folder: Path,
    model: Model,
    write_rows: Callable[[str], Store | None],
    *,
    overwrite: bool,
    in_place: bool = False,
) -> str:
    """Write a collection; a crash leaves either what was there or the new one.

    `write_rows` takes the name of a new store, and returns a store of this folder or
    None. What is saved `in_place` keeps what a newer fewbits has added to the manifest.
    Returns the digest of the manifest.
    """
    check_target(folder, overwrite=overwrite)
    with _replacing(folder):
        if not overwrite:  # others may have been first
            check_target(folder, overwrite=False)
        with naming_folder(folder):
            store = write_rows(f"rows-{secrets.token_hex(6)}")
        unknown = _unknown_of(folder) if in_place else {"facts": {}, "files": {}}
        name = None if store is None else store.folder.name
        digest = _write(folder, model, name, unknown)
    return digest


def _unknown_of(folder: Path) -> dict[str, Any]:
    """Return what a newer fewbits has added to the manifest, its facts and files."""
    manifest = read_manifest(folder)
    known = {"facts": Facts.__dataclass_fields__, "files": _FILES}
    unknown = {name: manifest[name] for name in manifest.keys() - _KNOWN}
    for field, names in known.items():
        values = manifest[field]
        unknown[field] = {name: values[name] for name in values.keys() - names}
    return unknown


def backup(
    folder: Path, target: Path, digest: str | None, rows: tuple[Store, Snapshot] | None
) -> None:
    """Make a new folder of the files of a collection, links to them where possible.

    The digest is of the manifest that goes with the rows.
    """
    _check_new(target)
    with _replacing(target):
        _check_new(target)  # others may have been first
        manifest = _changeable_manifest(folder)
        paths = {entry["path"] for entry in manifest["files"].values()}
        try:
            data = (folder / MANIFEST).read_bytes()
            for path in sorted(paths):
                link_or_copy(folder / path, target / path)
            if rows is not None:
                store, snapshot = rows
                store.copy_to(target / store.folder.name, snapshot)
            sync_folder(target)  # the manifest names what is there
            digests = hashlib.sha256(data).hexdigest(), manifest["digest"]
            if {*digests, digest_of(folder)} != {digest}:
                raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(folder))
            with atomic_write(target / MANIFEST) as file:
                file.write(data)
        except BaseException as error:
            if not (target / MANIFEST).exists():
                with contextlib.suppress(OSError):
                    for path in paths:
                        (target / path).unlink(missing_ok=True)
            if isinstance(error, FileNotFoundError) and digest_of(folder) != digest:
                raise ArgumentError(
                    f"{folder} has been replaced since it was opened: refresh() the "
                    "collection, or open it again"
                ) from error
            raise


def _check_new(target: Path) -> None:
    if (target / MANIFEST).exists():
        raise ArtefactError(
            f"{target} holds a collection already: choose another folder"
        )
    check_target(target, overwrite=False)


def _write(
    folder: Path, model: Model, rows: str | None, unknown: dict[str, Any]
) -> str:
    files = {_ENCODER: model.encoder.to_bytes()}
    if model.codebook is not None:
        files[_CODEBOOK] = model.codebook.to_bytes()
    if model.calibration is not None:
        files[_CALIBRATION] = calibration_bytes(model.calibration)
    if model.rejection is not None:
        files[_REJECTION] = rejection_bytes(model.rejection)
    names = {*files, *_entries(folder)} - {*unknown["files"]}
    before = {path.name for path in folder.iterdir()}
    try:
        entries = {
            name: _write_file(folder, name, data) for name, data in files.items()
        }
        sync_folder(folder)  # the manifest names what is there
        content = {
            **unknown,
            "format": FORMAT,
            "reader_features": [NORMALIZE] if model.facts.normalize else [],
            "writer_features": [],
            "encoder": encoder_facts(model.encoder, "kind"),
            "backbone": model.backbone,
            "backbone_fingerprint": model.backbone_fingerprint,
            "facts": unknown["facts"] | model.facts.to_dict(),
            "rows": rows,
            "files": unknown["files"] | entries,
        }
        data = sealed(content)
        with atomic_write(folder / MANIFEST) as file:
            file.write(data)
    except BaseException as error:
        # The disk may be full: room is made where possible, and the cause is raised.
        with contextlib.suppress(OSError):
            sync_folder(folder)  # the new manifest may be there already
            named = {entry["path"] for entry in _entries(folder).values()}
            _clean(folder, names, before | named)
        if isinstance(error, OSError) and error.errno is not None:
            # The system names a temporary file that the caller does not know.
            raise OSError(error.errno, error.strerror, str(folder)) from error
        raise
    _clean(folder, names, {entry["path"] for entry in content["files"].values()})
    return hashlib.sha256(data).hexdigest()


def _write_file(folder: Path, name: str, data: bytes) -> dict[str, Any]:
    """Write one file under a name that its content decides."""
    stem, suffix = name.rsplit(".", 1)
    digest = hashlib.sha256(data).hexdigest()
    draft = folder / f"{stem}-new.{suffix}"
    with atomic_write(draft) as file:
        file.write(data)
    path = folder / f"{stem}-{digest[:12]}.{suffix}"
    draft.replace(path)
    return {"path": path.name, "bytes": len(data), "sha256": digest}


def _clean(folder: Path, names: set[str], kept: set[str]) -> None:
    """Remove the files of other saves, whole or begun, but those that are kept."""
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
        return dict(read_manifest(folder)["files"])
    except (ArtefactError, OSError, LookupError, TypeError, ValueError):
        return {}


def check_target(folder: Path, *, overwrite: bool = True) -> None:
    """Refuse to write among the files of something else.

    Without `overwrite` also to a collection, or the remains of one.
    """
    if folder.exists() and not folder.is_dir():
        raise ArtefactError(f"{folder} is a file; choose another folder")
    if not folder.is_dir():
        above = next(parent for parent in folder.absolute().parents if parent.exists())
        if not above.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(folder))
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), str(above))
        return
    names = [path.name for path in folder.iterdir()]
    whole = [name for name in names if _WHOLE.fullmatch(name)]
    for manifest in (MANIFEST, _EARLIER):
        if manifest in names:
            _check_manifest(folder / manifest, bool(whole), overwrite)
            return
    if any(not _BEGUN.fullmatch(name) for name in names if name not in whole):
        raise ArtefactError(f"{folder} holds other files; choose an empty folder")
    if whole and not overwrite:
        raise ArtefactError(
            f"{folder} holds {whole[0]} of a collection, but no {MANIFEST}: put that "
            "back, choose another folder, or lose it by overwrite=True (on the command "
            "line --overwrite)"
        )


def _check_manifest(path: Path, has_files: bool, overwrite: bool) -> None:
    """Refuse to write over a manifest of something else, or of a collection."""
    # A damaged one may be written anew: two of three names tell that it is ours, or
    # the files beside it.
    content = path.read_bytes()
    names = (b'"format"', b'"encoder"', b'"files"')
    if path.name == MANIFEST:
        check_writable(path.parent)
    if not has_files and sum(name in content for name in names) < 2:
        raise ArtefactError(
            f"{path.parent} holds a {path.name} of something else; choose another "
            "folder"
        )
    if not overwrite:
        raise ArtefactError(
            f"{path.parent} holds a collection already: choose another folder, or "
            "replace it and its rows by overwrite=True (on the command line "
            "--overwrite)"
        )


@contextlib.contextmanager
def naming_folder(folder: Path) -> Iterator[None]:
    """Name the folder in errors of the system, not the files inside it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(folder)) from error


@contextlib.contextmanager
def writing(store: Store, folder: Path | None, timeout: float | None) -> Iterator[Any]:
    """Open a store for changes, if it still is that of the collection in the folder."""
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (number and timeout >= 0):
        raise ArgumentError(
            f"timeout must be a number of seconds from 0 on, got {timeout!r}"
        )
    if folder is None:
        with store.writer(timeout=timeout) as writer:
            yield writer
        return

    def check_named() -> None:
        if not (folder / MANIFEST).exists():
            raise ArgumentError(f"the collection {folder} is gone")
        if _changeable_manifest(folder)["rows"] != store.folder.name:
            raise ArgumentError(
                f"the rows of {folder} have been replaced since it was opened: "
                "refresh() the collection, or open it again"
            )

    with (
        naming_folder(folder),
        store.writer(timeout, name=folder, check=check_named) as writer,
    ):
        yield writer


@contextlib.contextmanager
def _replacing(folder: Path) -> Iterator[None]:
    """Exclude other saves to a folder, and writes to its rows, in the block.

    Afterwards, remove the stores that no manifest names and nobody reads.
    """
    try:
        with naming_folder(folder), contextlib.ExitStack() as stack:
            make_folder(folder)
            stack.enter_context(one_at_a_time(folder / SAVING))
            check_writable(folder)
            stack.callback(_remove_unnamed, folder)
            # What is damaged takes no rows that could be lost.
            with contextlib.suppress(ArtefactError):
                store = open_store(folder, read_manifest(folder)["rows"])
                stack.enter_context(store.writer(None, name=folder))
            yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # where nothing was there and nothing could be written


def remove_unnamed(folder: Path) -> None:
    """Remove the stores that no manifest names, unless in use or during a save."""
    with (
        contextlib.suppress(OSError),
        one_at_a_time(folder / SAVING, waits=False) as alone,
    ):
        if alone:
            _remove_unnamed(folder)


def _remove_unnamed(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if unnamed := _unnamed(folder):
            sync_folder(folder)  # after a failure, the manifest may not be on the disk
        for path in unnamed:
            remove_store(path)


def _unnamed(folder: Path) -> list[Path]:
    """Return the stores in a folder that are not the collection's."""
    try:
        is_there = (folder / MANIFEST).exists()
        name = _changeable_manifest(folder)["rows"] if is_there else None
    except (ArtefactError, NewerFormatError):
        return []  # which stores are the collection's is not known
    return [path for path in stores_in(folder) if path.name != name]


def unused_files(folder: str | Path) -> dict[str, int]:
    """Return the bytes of what no version needs, by path.

    Stores that the manifest does not name, and files that a repair has replaced.
    """
    folder = Path(folder)
    damaged = sorted(folder.glob("rows-*/damaged-*"))
    sizes = {path: _size(path) for path in damaged}
    for path in [] if lost_stores(folder) else _unnamed(folder):
        sizes[path] = sum(_size(file) for file in path.iterdir() if file not in damaged)
    return {str(path): n_bytes for path, n_bytes in sizes.items() if n_bytes}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # it has gone meanwhile
        return 0


# Sealed JSON: a file that carries its own checksum.


def sealed(content: Mapping[str, Any]) -> bytes:
    """Return plain values as a file of JSON with a checksum."""
    whole = {**content, "sha256": _sum_of(content)}
    return json.dumps(whole, indent=1, ensure_ascii=False).encode()


def unsealed(data: bytes | bytearray, path: Path) -> dict[str, Any]:
    """Return what `sealed` made a file of, or raise ArtefactError."""
    try:
        content: dict[str, Any] = json.loads(data.decode())
        if content.pop("sha256") != _sum_of(content):
            raise ValueError("its checksum does not match")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as e:
        raise ArtefactError(f"{path} is damaged: {e}") from e
    return content


def _sum_of(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def encoder_facts(encoder: Encoder, kind: str) -> dict[str, Any]:
    """Return what there is to know about an encoder; its kind by this name."""
    return {
        kind: encoder.kind,
        "n_features": encoder.n_features,
        "n_bits": encoder.n_bits,
        "fingerprint": encoder.fingerprint,
    }
