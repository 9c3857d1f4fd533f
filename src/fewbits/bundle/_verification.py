"""When all bytes of a bundle were read last, and what was damaged.

A file of its own in the folder tells it to the next process. Nothing depends on it: one
that is missing, damaged or of another collection is none, and a folder that cannot be
written to has none.
"""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits._files import atomic_write
from fewbits._repr import one_line
from fewbits.bundle._checked_files import checked_folder
from fewbits.bundle._folder import read_manifest, read_sealed, sealed
from fewbits.errors import ArtefactError

if TYPE_CHECKING:
    from fewbits.store import Report

NAME = "verified.json"
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


def verified(folder: Path) -> Verification:
    """Read every byte of a bundle, and note in the folder what was found."""
    at, began = time.time(), time.perf_counter()
    report = checked_folder(folder)
    found = Verification(report, at, time.perf_counter() - began)
    told = report.to_dict()
    told["damages"] = told["damages"][:_MOST_DAMAGES]
    with contextlib.suppress(OSError, UnicodeError, ArtefactError):
        items = read_manifest(folder).get("items")
        note = {"items": items, "at": at, "seconds": found.seconds, "report": told}
        with atomic_write(folder / NAME) as file:
            file.write(sealed(note))
    return found


def last_verified(folder: str | Path) -> Verification | None:
    """Return what the last verification of a bundle found, as far as it was noted.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    Verification or None
        None where nobody knows, or the collection is another one since.
    """
    from fewbits.store import Report

    with contextlib.suppress(OSError, ArtefactError, LookupError, TypeError):
        note = read_sealed(Path(folder) / NAME)
        if note["items"] == read_manifest(Path(folder)).get("items"):
            report = Report.from_dict(note["report"])
            return Verification(report, note["at"], note["seconds"])
    return None


def forget(folder: Path) -> None:
    """Remove the note: the files are not those that it tells of."""
    with contextlib.suppress(OSError):
        (folder / NAME).unlink()
