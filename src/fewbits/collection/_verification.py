"""Every byte of a collection compared with its checksum, and what can be put back."""

import contextlib
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fewbits._files import atomic_write
from fewbits._repr import short_repr
from fewbits.collection._folder import (
    MANIFEST,
    SAVING,
    VERIFIED,
    check_format,
    check_writable,
    checked_path,
    digest_of,
    lost_stores,
    naming_folder,
    open_store,
    read_manifest,
    sealed,
    stores_in,
    unsealed,
)
from fewbits.errors import ArtefactError, NewerFormatError
from fewbits.store import (
    VECTOR,
    Damage,
    Findings,
    RepairReport,
    Report,
    Store,
    one_at_a_time,
)

_LARGEST = 1 << 14  # bytes of a manifest; all bits of a larger one take minutes
_MOST_DAMAGES = 1000  # that are noted


@dataclass(frozen=True, repr=False)
class Verification:
    """Result of reading every byte of a collection.

    Attributes
    ----------
    report : fewbits.store.Report
    at : float
        When it began, in seconds since 1970.
    seconds : float
        How long it took.
    """

    report: Report
    at: float
    seconds: float

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with a sentence about each damage."""
        facts = self.report.to_dict()
        for entry, damage in zip(facts["damages"], self.report.damages, strict=True):
            entry["text"] = str(damage)
        intact = self.report.is_intact
        return {"intact": intact, **facts, "at": self.at, "seconds": self.seconds}


def verify_files(
    folder: str | Path, *, rows: bool = True, record: bool = True
) -> Verification:
    """Read every byte of a collection, see `Collection.verify_folder`."""
    folder = Path(folder)
    at, began = time.time(), time.perf_counter()
    while True:
        digest = digest_of(folder)  # before: what is saved meanwhile was not read
        # All files are read, whatever is wrong with one.
        beside, report = _report_beside(folder), Report(None, 0, 0)
        if rows and (name := _store_name(folder)) is not None:
            findings = Findings()
            with findings.reading(folder / name):
                report = open_store(folder, name).verify()
            report = _joined(report, findings)
        report = _joined(report, beside, beside.n_bytes)
        if report.is_intact or digest == digest_of(folder):
            break
    result = Verification(report, at, time.perf_counter() - began)
    if not (record and rows):
        return result
    with contextlib.suppress(NewerFormatError, OSError, UnicodeError):
        check_writable(folder)
        note = result.report.to_dict()
        note["damages"] = note["damages"][:_MOST_DAMAGES]
        content = {"collection": digest, "at": result.at, "seconds": result.seconds}
        with atomic_write(folder / VERIFIED) as file:
            file.write(sealed({**content, "report": note}))
    return result


def last_verified(folder: str | Path) -> Verification | None:
    """Return the last verification, None where none was noted since a save."""
    with contextlib.suppress(OSError, ArtefactError, LookupError, TypeError):
        path = Path(folder) / VERIFIED
        note = unsealed(path.read_bytes(), path)
        if note["collection"] == digest_of(Path(folder)):
            report = Report.from_dict(note["report"])
            return Verification(report, note["at"], note["seconds"])
    return None


def _joined(report: Report, first: Report | Findings, n_bytes: int = 0) -> Report:
    return replace(
        report,
        n_bytes=report.n_bytes + n_bytes,
        damages=(*first.damages, *report.damages),
        unreadable=(*first.unreadable, *report.unreadable),
    )


def _report_beside(folder: Path) -> Report:
    """Return what is wrong with the files beside the rows."""
    path, findings = folder / MANIFEST, Findings()
    if path.is_file() or lost_stores(folder):
        with findings.reading(path):
            unsealed(path.read_bytes(), path)
    if findings.damages or findings.unreadable:
        return _joined(Report(None, 0, 0), findings)
    manifest = read_manifest(folder)
    n_bytes = path.stat().st_size
    for name, entry in manifest["files"].items():
        with findings.reading(folder / str(entry["path"])):
            n_bytes += checked_path(folder, manifest, name).stat().st_size
    return _joined(Report(None, 0, 0), findings, n_bytes)


def _store_name(folder: Path) -> str | None:
    """Return the name of the store, None where there is none.

    Where the manifest is damaged or missing, it is the only store that is there.
    """
    stores, path = lost_stores(folder), folder / MANIFEST
    if not stores:
        if not path.is_file() or _is_sealed(path.read_bytes()):
            name: str | None = read_manifest(folder)["rows"]
            return name
        stores = stores_in(folder)
    return stores[0].name if len(stores) == 1 else None


def repair_files(folder: str | Path, *, drop_rows: bool = False) -> RepairReport:
    """Put back what a checksum proves, see `Collection.repair_folder`.

    The notes say what to do about each damaged file that is left beside the rows.
    """
    folder = Path(folder)
    notes, damages = [], []
    with naming_folder(folder):
        check_writable(folder)
        _report_beside(folder).check_all_read(folder)
        if _flip_back(folder / MANIFEST):
            notes.append(f"a flipped bit of {folder / MANIFEST} was put back")
            damages.append(Damage(str(folder / MANIFEST), "a bit was flipped"))
        left = _report_beside(folder).damages
        store = None
        if (name := _store_name(folder)) is not None:
            store = open_store(folder, name)
            result = store.repair(drop_rows=drop_rows, name=folder)
        elif not (left or damages):
            raise ArtefactError(f"{folder} holds no rows")
        elif lost_stores(folder) or not _is_sealed((folder / MANIFEST).read_bytes()):
            raise ArtefactError(_advice(left[0], None, folder))
        else:
            result = RepairReport(Report(None, 0, 0), 0, 0)
        notes += [_advice(damage, store, folder) for damage in left]
        before = result.before
        before = replace(before, damages=(*damages, *left, *before.damages))
        if before.problems or result.rebuilt:
            with contextlib.suppress(OSError):
                (folder / VERIFIED).unlink()  # it describes the files of before
    return replace(result, before=before, notes=(*result.notes, *notes))


def _advice(damage: Damage, store: Store | None, folder: Path) -> str:
    """Return what to do about a damaged file beside the rows."""
    advice = f"{damage}; put back a copy from a backup"
    if damage.file == str(folder / MANIFEST) or store is None:
        return advice
    with store.snapshot() as snapshot:
        if VECTOR not in snapshot.schema.names:
            return advice
    command = shlex.join(["fewbits", "reencode", str(folder), "--encoder"])
    return f"{advice}, or encode the kept vectors by another encoder: {command} OTHER"


def _is_sealed(data: bytes | bytearray) -> bool:
    with contextlib.suppress(ArtefactError):
        unsealed(data, Path(MANIFEST))
        return True
    return False


def _flip_back(path: Path) -> bool:
    """Put back the one bit that was flipped in a sealed file, if that is its damage."""
    if not path.is_file() or _is_sealed(path.read_bytes()):
        return False
    with one_at_a_time(path.parent / SAVING):
        content = path.read_bytes()
        if len(content) > _LARGEST:
            return False
        for bit in range(8 * len(content)):
            other = bytearray(content)
            other[bit // 8] ^= 1 << bit % 8
            if _is_sealed(other):
                check_format(path.parent, unsealed(other, path))
                with atomic_write(path) as file:
                    file.write(bytes(other))
                return True
    return False
