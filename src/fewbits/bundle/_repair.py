"""Repair of a bundle on disk, with advice on files that cannot be repaired."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits._files import atomic_write
from fewbits.bundle._checked_files import checked_folder
from fewbits.bundle._folder import MANIFEST, is_sealed
from fewbits.bundle._items import Items
from fewbits.bundle._stores import one_saves, store_name, store_of
from fewbits.errors import ArtefactError

if TYPE_CHECKING:
    from fewbits.store import Damage, Repaired

_LARGEST = 1 << 14  # bytes of a manifest; all bits of a larger one take minutes


def repaired(folder: Path, drop_rows: bool = False) -> "Repaired":
    """Repair manifest and collection, see `Bundle.repair`."""
    from fewbits.store import Damage, Repaired, Report

    notes, damages = [], []
    if _put_back(folder / MANIFEST):
        notes.append(f"a flipped bit of {folder / MANIFEST} was put back")
        damages.append(Damage(str(folder / MANIFEST), "a bit was flipped"))
    left = checked_folder(folder, items=False).damages
    if (left or damages) and store_name(folder) is None:
        if not is_sealed((folder / MANIFEST).read_bytes()):
            raise ArtefactError(_advice(left[0], None, folder))
        report, store = Repaired(Report(None, 0, 0), 0, 0), None
    else:
        store = store_of(folder, damaged=True)
        report = store.repair(drop_rows=drop_rows)
    notes += [_advice(damage, store, folder) for damage in left]
    before = replace(report.before, damages=(*damages, *left, *report.before.damages))
    return replace(report, before=before, notes=(*report.notes, *notes))


def _advice(damage: "Damage", store: Any, folder: Path) -> str:
    """Return what to do about a file beside the collection."""
    advice = f"{damage}; put back a copy from a backup"
    is_manifest = damage.file == str(folder / MANIFEST)
    if is_manifest or store is None or Items.of_store(store).vector_form is None:
        return advice
    command = shlex.join(["fewbits", "reencode", str(folder), "--by"])
    return f"{advice}, or encode the stored vectors by another encoder: {command} OTHER"


def _put_back(path: Path) -> bool:
    """Put back the one bit that was flipped in a sealed file, if that is its damage."""
    if not path.is_file() or is_sealed(path.read_bytes()):
        return False
    with one_saves(path.parent):
        content = _with_one_bit(path.read_bytes())
        if content is None:
            return False
        with atomic_write(path) as file:
            file.write(content)
    return True


def _with_one_bit(content: bytes) -> bytes | None:
    """Return the content whose checksum matches after one bit is flipped."""
    if len(content) > _LARGEST:
        return None
    for bit in range(8 * len(content)):
        other = bytearray(content)
        other[bit // 8] ^= 1 << bit % 8
        if is_sealed(other):
            return bytes(other)
    return None
