"""Result of the last full verification, cached in the bundle's folder.

A missing, damaged or outdated file is ignored; a folder that cannot be written to has
none.
"""

import contextlib
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits._files import atomic_write
from fewbits._repr import one_line
from fewbits.bundle._checked_files import checked_folder
from fewbits.bundle._folder import MANIFEST, VERIFIED, read_sealed, sealed
from fewbits.errors import ArtefactError

if TYPE_CHECKING:
    from fewbits.store import Report

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

    report: "Report"
    at: float
    seconds: float

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with a sentence about each damage."""
        found = self.report.to_dict()
        for told, damage in zip(found["damages"], self.report.damages, strict=True):
            told["text"] = str(damage)
        intact = self.report.is_intact
        return {"intact": intact, **found, "at": self.at, "seconds": self.seconds}


def verified(folder: str | Path, *, note: bool = True) -> Verification:
    """Read every byte of a bundle, and report what is damaged.

    Parameters
    ----------
    folder : str or Path
    note : bool, default=True
        Cache the result in the folder, if it can be written to.

    Raises
    ------
    ArtefactError
        When the folder is not a bundle.
    """
    folder = Path(folder)
    state = _state(folder)  # before: what is saved meanwhile was not read
    at, began = time.time(), time.perf_counter()
    report = checked_folder(folder)
    found = Verification(report, at, time.perf_counter() - began)
    if note:
        _write(folder, state, found)
    return found


def _write(folder: Path, state: str | None, found: Verification) -> None:
    report = found.report.to_dict()
    report["damages"] = report["damages"][:_MOST_DAMAGES]
    content = {"bundle": state, "at": found.at, "seconds": found.seconds}
    with (
        contextlib.suppress(OSError, UnicodeError),
        atomic_write(folder / VERIFIED) as file,
    ):
        file.write(sealed({**content, "report": report}))


def _state(folder: Path) -> str | None:
    """Return a digest that changes with each save of a bundle."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def last_verified(folder: str | Path) -> Verification | None:
    """Return what the last verification of a bundle found, as far as it was noted.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    Verification or None
        None if the bundle was never verified, or was replaced since.
    """
    from fewbits.store import Report

    with contextlib.suppress(OSError, ArtefactError, LookupError, TypeError):
        note = read_sealed(Path(folder) / VERIFIED)
        if note["bundle"] == _state(Path(folder)):
            report = Report.from_dict(note["report"])
            return Verification(report, note["at"], note["seconds"])
    return None


def forget(folder: Path) -> None:
    """Remove the note: the files are not those that it describes."""
    with contextlib.suppress(OSError):
        (folder / VERIFIED).unlink()
