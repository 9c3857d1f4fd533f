"""The collection of a bundle on disk: a store in a folder of its own."""

import contextlib
import hashlib
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from fewbits._files import make_folder, sync_folder
from fewbits.bundle._folder import MANIFEST, read_manifest, read_sealed
from fewbits.bundle._items import Items
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, ArtefactError

_NAME = re.compile(r"items-[0-9a-f]{12}")
_SAVING = ".saving.tmp"  # there during a save
#: The folder and commit of the store that items in memory were put into last.
_SAVED: WeakKeyDictionary[Items, tuple[Path, int]] = WeakKeyDictionary()


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
    stays = items.store is not None and _is_inside(items, folder, fingerprint)
    _check_newest(folder, items, stays=stays)
    if stays:
        return str(items.store.folder.name)
    name = f"items-{secrets.token_hex(6)}"
    with told_by_folder(folder):
        store = Store.create(
            folder / name, items.schema, n_bits=encoder.n_bits, fingerprint=fingerprint
        )
        with store.writer() as writer:
            for table in items.tables():
                writer.append(table)
            _SAVED[items] = store.folder.absolute(), writer.commit()
    return name


@contextlib.contextmanager
def told_by_folder(folder: Path) -> Iterator[None]:
    """Name the folder in errors of the system, not the files inside it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(folder)) from error


def open_store(folder: Path, name: Any, *, damaged: bool = False) -> Any:
    """Open the store within the folder of a bundle that its manifest names.

    Raises
    ------
    ArtefactError
        When there is no such store; or, unless it may be, it is damaged.
    """
    from fewbits.store import Store

    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ArtefactError(f"{folder / MANIFEST} is damaged: no collection is {name}")
    if not (folder / name).is_dir():
        raise ArtefactError(f"{folder / name} is missing from the bundle")
    # Files are opened when something in them is asked for; the process may be
    # elsewhere then.
    return Store.open(folder.absolute() / name, damaged=damaged)


def store_name(folder: Path) -> str | None:
    """Return the name of the store of a bundle, None where there is none.

    Where the manifest is damaged, it is the only store that is there.
    """
    try:
        read_sealed(folder / MANIFEST)
    except ArtefactError:
        names = [path.name for path in folder.iterdir() if _NAME.fullmatch(path.name)]
        return names[0] if len(names) == 1 else None
    except OSError:
        pass
    name: str | None = read_manifest(folder).get("items")
    return name


def store_of(folder: Path, *, damaged: bool = False) -> Any:
    """Open the store of a bundle, however damaged that is; the manifest too if it may.

    Raises
    ------
    ArtefactError
        When there is none.
    """
    name = store_name(folder) if damaged else read_manifest(folder).get("items")
    if name is None:
        raise ArtefactError(f"{folder} holds no items")
    return open_store(folder, name, damaged=True)


def folder_state(folder: str | Path) -> str:
    """Return a text that changes when a bundle is saved, or rows come or go.

    Cheap: a few names are looked at, and a small file is read.

    Raises
    ------
    ArtefactError
        When the folder is no bundle, or its manifest is damaged.
    """
    folder = Path(folder)
    name = read_manifest(folder).get("items")
    digest = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    if name is None:
        return digest
    return f"{digest}/{open_store(folder, name).newest()}"


def read_items(folder: Path, name: Any, fingerprint: str) -> Items:
    """Open the newest snapshot of the collection of a bundle.

    Raises
    ------
    ArtefactError
        When it is missing or damaged, or the codes are those of another encoder.
    """
    items = Items.of_store(open_store(folder, name))
    if items.snapshot.fingerprint != fingerprint:
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


def one_saves(folder: Path) -> contextlib.AbstractContextManager[bool]:
    """Exclude other writers of a bundle's manifest in the block."""
    from fewbits.store import one_at_a_time

    return one_at_a_time(folder / _SAVING)


@contextlib.contextmanager
def replacing_items(folder: Path) -> Iterator[None]:
    """Exclude other saves to a folder, and writes to its collection, in the block.

    Afterwards, remove the stores that no manifest names. One that is being read is
    left for the next time.
    """
    try:
        with told_by_folder(folder), contextlib.ExitStack() as stack:
            make_folder(folder)
            stack.enter_context(one_saves(folder))
            stack.callback(_remove_unnamed, folder)
            with _locked_store(folder):
                yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # where nothing was there and nothing could be written


def remove_unnamed(folder: Path) -> None:
    """Remove the stores that no manifest names, unless in use or during a save."""
    from fewbits.store import one_at_a_time

    with (
        contextlib.suppress(OSError),
        one_at_a_time(folder / _SAVING, waits=False) as alone,
    ):
        if alone:
            _remove_unnamed(folder)


def left_over(folder: Path) -> dict[str, int]:
    """Return the bytes of what no commit needs, by path.

    Stores that the manifest of a bundle does not name: of a save that was killed, or
    still goes on, or that a process still reads. And the damaged files that a repair
    has replaced.
    """
    damaged = sorted(folder.glob("items-*/damaged-*"))
    found = {
        path: sum(_size(each) for each in path.iterdir() if each not in damaged)
        for path in _unnamed(folder)
    }
    found |= {path: _size(path) for path in damaged}
    return {str(path): n_bytes for path, n_bytes in found.items() if n_bytes}


def _size(path: Path) -> int:
    """Return the bytes of a file, 0 where it has gone meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _remove_unnamed(folder: Path) -> None:
    from fewbits.store import remove_store

    with contextlib.suppress(OSError):
        if unnamed := _unnamed(folder):
            sync_folder(folder)  # after a failure, the manifest may not be on the disk
        for path in unnamed:
            remove_store(path)


def _unnamed(folder: Path) -> list[Path]:
    """Return the stores in a folder that are not the bundle's."""
    try:
        known = (folder / MANIFEST).exists()
        kept = read_manifest(folder).get("items") if known else None
    except ArtefactError:
        return []  # a damaged manifest does not say which store is the bundle's
    return [
        path
        for path in sorted(folder.iterdir())
        if _NAME.fullmatch(path.name)
        and path.name != kept
        and path.is_dir()
        and not path.is_symlink()
    ]


@contextlib.contextmanager
def _locked_store(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        # What is damaged takes no rows that could be lost.
        with contextlib.suppress(ArtefactError):
            store = open_store(folder, read_manifest(folder).get("items"))
            stack.enter_context(store.writer(timeout=None))
        yield


def _check_newest(folder: Path, items: Items, *, stays: bool) -> None:
    """Refuse to put items in the place of rows that they do not know.

    Those that stay in their store have its newest rows, whatever they were loaded with.
    """
    if items.origin is None or not (folder / MANIFEST).exists():
        return
    if items.origin[0].resolve().parent != folder.resolve():
        return
    with contextlib.suppress(ArtefactError):
        store = store_of(folder)
        number = items.origin[1] if stays else store.snapshot().number
        known = {(where.resolve(), n) for where, n in _states(items)}
        if (store.folder.resolve(), number) not in known:
            raise ArgumentError(
                f"the collection of {folder} has changed since this bundle was made of "
                "it: load it again, or save to another folder"
            )


def _states(items: Items) -> list[tuple[Path, int]]:
    """Return the states of stores that items know: made of them, or saved to them."""
    known = (items.origin, _SAVED.get(items))
    return [each for each in known if each is not None]


def _is_inside(items: Items, folder: Path, fingerprint: str) -> bool:
    same = items.store.folder.resolve().parent == folder.resolve()
    return bool(same and items.snapshot.fingerprint == fingerprint)
