"""Labels in a file of their own, one for each item of another."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._labels import as_label_names
from fewbits.errors import ArgumentError, ArtefactError, one_line
from fewbits.inputs._arrays import load_array

SUFFIXES = (".npy", ".txt")


def read_labels(path: Path, source: str) -> NDArray[Any]:
    """Read a label for each item, or a row of 0 and 1, from a file.

    Parameters
    ----------
    path : Path
        An array in a ``.npy`` file, or the lines of a ``.txt`` file.
    source : str
        What the labels are of, for messages.

    Returns
    -------
    ndarray
        As `as_label_names` has it.

    Raises
    ------
    ArgumentError
        When a label is missing, or the file is of another kind.
    ArtefactError
        When the file is not what its name says.
    """
    suffix, damage = path.suffix.lower(), f"{path} holds no labels"
    if suffix not in SUFFIXES:
        raise ArgumentError(
            f"cannot read labels from {path}; known are {' and '.join(SUFFIXES)}, with "
            "a label for each item"
        )
    found = _names(path) if suffix == ".txt" else load_array(path, damage)
    if not isinstance(found, np.ndarray):
        raise ArtefactError(f"{path} is an archive, not a .npy file of labels")
    if not found.size:
        raise ArtefactError(f"{path} holds no labels")
    return as_label_names(found, f"labels {path.name!r} of {source}")


def _names(path: Path) -> NDArray[np.str_]:
    try:
        text = path.read_text("utf-8").removeprefix("\ufeff").rstrip()
    except UnicodeDecodeError as error:
        raise ArtefactError(f"{path} holds no labels: {one_line(error)}") from error
    return np.array([line.strip() for line in text.split("\n") if text])
