"""Every byte of a collection compared with its checksum."""

import re
from dataclasses import replace
from typing import Any

from fewbits.errors import ArtefactError
from fewbits.store._deletes import read_live
from fewbits.store._disk import Disk
from fewbits.store._manifest import Manifest, no_collection
from fewbits.store._names import (
    copy_name,
    has_segments,
    manifest_name,
    manifest_numbers,
)
from fewbits.store._report import Damage, Report
from fewbits.store._rescue import largest_number
from fewbits.store._salvage import Salvage


def verified(disk: Disk, manifest: Manifest | None, damages: list[Damage]) -> Report:
    """Read all files of a state, and go on after whatever is damaged.

    Parameters
    ----------
    disk : Disk
    manifest : Manifest or None
        None where no manifest can be read.
    damages : list of Damage
        Of the manifests.
    """
    if manifest is None:
        return Report(None, 0, 0, tuple(damages))
    n_bytes = 0
    for entry in manifest.segments:
        salvage = Salvage(disk, manifest, entry)
        n_bytes += salvage.n_bytes
        damages = [*damages, *salvage.damages]
        try:
            read_live(disk, entry)
        except ArtefactError as error:
            damage, n_deleted = damage_of(error), entry.n_rows - entry.n_live
            reason = f"{damage.reason}; {n_deleted:,} deletes depend on it"
            damages.append(replace(damage, reason=reason))
    return Report(manifest.number, manifest.n_live, n_bytes, tuple(damages))


def newest_readable(disk: Disk) -> tuple[Manifest | None, list[Damage], int]:
    """Return the newest state, from its manifest or the copy of it.

    Returns
    -------
    Manifest or None
        None when neither can be read.
    list of Damage
    int
        The largest number of a state that there is.

    Raises
    ------
    ArtefactError
        When there is neither a manifest, damaged or not, nor a segment.
    """
    names = disk.names()
    numbers = {*manifest_numbers(names), *manifest_numbers(names, "copy")}
    if not numbers:
        if not has_segments(names):
            raise no_collection(disk)
        missing = Damage(str(disk.folder), "all of its manifests are missing")
        return None, [missing], largest_number(disk, names)
    top, damages = max(numbers), []
    for is_derived, name in enumerate((manifest_name(top), copy_name(top))):
        try:
            manifest = Manifest.from_bytes(disk.map(name), str(disk.folder / name))
            if manifest.number != top:
                raise ArtefactError(f"{disk.folder / name} is that of another number")
        except FileNotFoundError:
            if not is_derived:
                damages.append(Damage(str(disk.folder / name), "it is missing"))
        except ArtefactError as error:
            damages.append(damage_of(error, is_derived=bool(is_derived)))
        else:
            if not is_derived:
                damages += _of_copy(disk, top, manifest)
            return manifest, damages, top
    # Of neither can the other be made again.
    return None, [replace(each, is_derived=False) for each in damages], top


def _of_copy(disk: Disk, number: int, manifest: Manifest) -> list[Damage]:
    name = copy_name(number)
    try:
        same = bytes(disk.map(name)) == manifest.to_bytes()
    except FileNotFoundError:
        same = True  # the process ended before it wrote one
    path, reason = str(disk.folder / name), "it differs from the manifest"
    return [] if same else [Damage(path, reason, is_derived=True)]


def damage_of(error: Any, *, is_derived: bool = False) -> Damage:
    """Return what an error of a whole file says."""
    path, _, reason = re.sub(r"; '.*", "", str(error)).partition(" is ")
    return Damage(path, f"it is {reason}", is_derived=is_derived)
