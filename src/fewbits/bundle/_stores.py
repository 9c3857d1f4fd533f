"""The collection of a bundle on disk: a store in a folder of its own."""

import contextlib
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fewbits.bundle._folder import MANIFEST, read_manifest
from fewbits.bundle._items import Items
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, ArtefactError

_NAME = re.compile(r"items-[0-9a-f]{12}")


def write_items(folder: Path, items: Items | None, encoder: Encoder) -> str | None:
    """Put items into a new store within a folder, and return its name.

    Items that are in a store of this folder already, with the same codes, stay there.

    Raises
    ------
    ArgumentError
        When they were made of a collection of this folder that has changed since.
    """
    from fewbits.store import Store

    if items is None:
        return None
    fingerprint = encoder.fingerprint
    if items.store is not None and _is_inside(items, folder, fingerprint):
        return str(items.store.folder.name)
    _check_newest(folder, items)
    name = f"items-{secrets.token_hex(6)}"
    with told_by_folder(folder):
        folder.mkdir(parents=True, exist_ok=True)
        store = Store.create(
            folder / name, items.schema, n_bits=encoder.n_bits, fingerprint=fingerprint
        )
        with store.writer() as writer:
            for table in items.tables():
                writer.append(table)
            writer.commit()
    return name


@contextlib.contextmanager
def told_by_folder(folder: Path) -> Iterator[None]:
    """Name the folder in errors of the system: nobody knows the files within."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(folder)) from error


def open_store(folder: Path, name: Any) -> Any:
    """Open the store within the folder of a bundle that its manifest names.

    Raises
    ------
    ArtefactError
        When there is no such store, or it is damaged.
    """
    from fewbits.store import Store

    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ArtefactError(f"{folder / MANIFEST} is damaged: no collection is {name}")
    if not (folder / name).is_dir():
        raise ArtefactError(f"{folder / name} is missing from the bundle")
    return Store.open(folder / name)


def store_of(folder: Path) -> Any:
    """Open the store of a bundle."""
    name = read_manifest(folder).get("items")
    if name is None:
        raise ArtefactError(f"{folder} holds no items")
    return open_store(folder, name)


def read_items(folder: Path, name: Any, encoder: Encoder) -> Items:
    """Open the newest snapshot of the collection of a bundle.

    Raises
    ------
    ArtefactError
        When it is missing or damaged, or the codes are those of another encoder.
    """
    items = Items.of_store(open_store(folder, name))
    if items.snapshot.fingerprint != encoder.fingerprint:
        raise ArtefactError(f"the items of {folder} are of another encoder")
    return items


def check_named(store: Any) -> None:
    """Refuse a store that is no longer the collection of its bundle.

    Raises
    ------
    ArgumentError
        When another has taken its place.
    """
    folder = store.folder.parent
    if not (folder / MANIFEST).exists():
        raise ArgumentError(f"the bundle {folder} is gone")
    if read_manifest(folder).get("items") != store.folder.name:
        raise ArgumentError(
            f"the collection of {folder} has been replaced since this bundle was "
            "loaded: load it again"
        )


@contextlib.contextmanager
def replacing_items(folder: Path) -> Iterator[None]:
    """Let nobody write to the collection of a bundle while another is put in its place.

    Afterwards, remove the stores that no manifest names. One that somebody reads is
    left for the next time.
    """
    from fewbits.store import remove_store

    try:
        with _locked_store(folder):
            yield
    finally:
        # A damaged manifest does not say which store is the bundle's.
        with contextlib.suppress(OSError, ArtefactError):
            known = (folder / MANIFEST).exists()
            kept = read_manifest(folder).get("items") if known else None
            for path in folder.iterdir():
                ours = _NAME.fullmatch(path.name) and path.name != kept
                if ours and path.is_dir() and not path.is_symlink():
                    remove_store(path)
            if not any(folder.iterdir()):
                folder.rmdir()


@contextlib.contextmanager
def _locked_store(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        # What is damaged takes no rows that could be lost.
        with contextlib.suppress(ArtefactError):
            store = open_store(folder, read_manifest(folder).get("items"))
            stack.enter_context(store.writer(timeout=None))
        yield


def _check_newest(folder: Path, items: Items) -> None:
    """Refuse to put a changed copy in the place of rows that it does not know."""
    if items.origin is None or not (folder / MANIFEST).exists():
        return
    with contextlib.suppress(ArtefactError):
        store = open_store(folder, read_manifest(folder).get("items"))
        origin, number = items.origin
        newest = store.snapshot().number
        if origin.resolve() == store.folder.resolve() and newest != number:
            raise ArgumentError(
                f"the collection of {folder} has changed since this bundle was made of "
                "it: load it again, or save to another folder"
            )


def _is_inside(items: Items, folder: Path, fingerprint: str) -> bool:
    same = items.store.folder.resolve().parent == folder.resolve()
    return bool(same and items.snapshot.fingerprint == fingerprint)
