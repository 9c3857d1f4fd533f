"""Damage of the collection of a bundle: found, and left behind."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits.bundle._folder import read_manifest
from fewbits.bundle._stores import open_store

if TYPE_CHECKING:
    from fewbits.store import Repaired, Report


def verify_items(folder: str | Path) -> "Report":
    """Read every byte of the collection of a bundle, and report what is damaged.

    Parameters
    ----------
    folder : str or Path
        Of a bundle. `Bundle.load` has checked its other files.

    Returns
    -------
    fewbits.store.Report

    Raises
    ------
    ArtefactError
        When it is not a bundle, or holds no items.
    """
    report: Report = _store_of(Path(folder)).verify()
    return report


def repair_items(folder: str | Path) -> "Repaired":
    """Keep every intact row of the collection of a bundle, and report what was lost.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    fewbits.store.Repaired
    """
    report: Repaired = _store_of(Path(folder)).repair()
    return report


def _store_of(folder: Path) -> Any:
    return open_store(folder, read_manifest(folder).get("items"))
