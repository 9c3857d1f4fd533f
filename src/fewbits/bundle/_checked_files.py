"""Every byte of a bundle compared with its checksum."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits.bundle._folder import MANIFEST, checked_path, read_manifest, read_sealed
from fewbits.bundle._stores import open_store, store_name
from fewbits.errors import ArtefactError

if TYPE_CHECKING:
    from fewbits.store import Damage, Report


def checked_folder(folder: Path, *, items: bool = True) -> "Report":
    """Read all files of a bundle, and go on after whatever is damaged.

    Without `items`, the collection is left out.

    Raises
    ------
    ArtefactError
        When the folder is not a bundle.
    """
    from fewbits.store import Report

    n_bytes, damages = _beside(folder)
    report = Report(None, 0, 0)
    if items and (name := store_name(folder)) is not None:
        try:
            report = open_store(folder, name, damaged=True).verify()
        except (ArtefactError, OSError) as error:  # nothing of it is there
            damages.append(_damage(folder / str(name), error))
    return replace(
        report,
        n_bytes=report.n_bytes + n_bytes,
        damages=(*damages, *report.damages),
    )


def _beside(folder: Path) -> tuple[int, "list[Damage]"]:
    """Return the bytes of manifest and files, and what is damaged of them."""
    if (folder / MANIFEST).is_file():
        try:
            read_sealed(folder / MANIFEST)
        except (ArtefactError, OSError) as error:
            return 0, [_damage(folder / MANIFEST, error)]
    return _of_files(folder, read_manifest(folder))


def _of_files(folder: Path, manifest: dict[str, Any]) -> tuple[int, "list[Damage]"]:
    """Return the bytes of the files beside the collection, and what is damaged."""
    n_bytes, damages = (folder / MANIFEST).stat().st_size, []
    for name, entry in manifest["files"].items():
        try:
            n_bytes += checked_path(folder, manifest, name).stat().st_size
        except (ArtefactError, OSError) as error:
            damages.append(_damage(folder / str(entry["path"]), error))
    return n_bytes, damages


def _damage(path: Path, error: Exception) -> "Damage":
    from fewbits.store import Damage

    told = str(error)
    # Errors of the store name it by its absolute path.
    rest = told.removeprefix(str(path.absolute())).removeprefix(str(path))
    return Damage(str(path), f"it{rest}" if rest != told else told)
