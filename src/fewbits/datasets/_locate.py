"""Locations of data sets on this machine."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_data_dir

from fewbits._extras import missing_extra
from fewbits.errors import MissingDataError

VARIABLE = "FEWBITS_DATA"
DEBIAN = (Path("/usr/share/datasets"), Path("/usr/share"))


def user_folder() -> Path:
    """Return the default folder of downloads."""
    return Path(user_data_dir("fewbits", appauthor=False))


def search_path(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders to look in, the first one first.

    A folder that was given is the only one: data from anywhere else would be a
    surprise. Otherwise they are that of the environment variable FEWBITS_DATA, the
    user's data folder, and those of Debian's packages.
    """
    if data_dir is not None:
        return [Path(data_dir)]
    given = os.environ.get(VARIABLE)
    return [*([Path(given)] if given else []), user_folder(), *DEBIAN]


def locate(name: str, paths: Sequence[str], data_dir: str | Path | None = None) -> Path:
    """Return the first of `paths` that exists in a folder of the search path.

    Parameters
    ----------
    name : str
        The data set, for the message.
    paths : sequence of str
        Relative paths, the preferred one first.
    data_dir : str or Path, optional
        The folder to look in, or the very file.

    Raises
    ------
    MissingDataError
        When there is none; the message is one line that says how to get the data.
    """
    if data_dir is not None and Path(data_dir).is_file():
        return Path(data_dir)
    folders = search_path(data_dir)
    for folder in folders:
        for path in paths:
            if (folder / path).exists():
                return folder / path
    looked = ", ".join(str(folder) for folder in folders)
    raise MissingDataError(
        f"{name} is not in {looked}: run 'fewbits data get {name}', "
        f"or let {VARIABLE} name the folder that has it"
    )


def package_folder(package: str, what: str, extra: str) -> Path:
    """Return the folder of an installed package, which is not imported.

    Raises
    ------
    MissingExtraError
        When it is not installed; the message names `what` and how to get the `extra`.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise missing_extra(f"{what} comes with a package", extra)
    return Path(spec.origin).parent
