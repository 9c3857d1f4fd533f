"""Data sets as files that every command reads."""

import csv
import io
from pathlib import Path
from typing import IO, Any

import numpy as np

from fewbits._files import atomic_write
from fewbits.datasets._base import Dataset
from fewbits.errors import ArgumentError

_ENDINGS = {"texts": (".csv",), "vectors": (".npz", ".npy")}


def export(data: Dataset, path: str | Path) -> None:
    """Write the items and labels of a data set to a file of one's own.

    Parameters
    ----------
    data : Dataset
        Of texts or vectors.
    path : str or Path
        A .csv file for texts, with a column ``text`` and one for each kind of labels;
        for vectors a .npz file with an array ``vector`` and one for each kind of
        labels, or a .npy file of the vectors alone. It is replaced when it exists.

    Raises
    ------
    ArgumentError
        When the data set holds images, or the file ends in something else.
    """
    path = Path(path)
    if data.kind not in _ENDINGS:
        raise ArgumentError(
            f"{data.name} holds {data.kind}; data sets of texts or vectors are exported"
        )
    endings = _ENDINGS[data.kind]
    if path.suffix not in endings:
        raise ArgumentError(
            f"{data.name} holds {data.kind}, which are written to a "
            f"{' or '.join(endings)} file, got {path}"
        )
    with atomic_write(path) as file:
        if path.suffix == ".csv":
            _write_csv(data, file)
        elif path.suffix == ".npz":
            np.savez(file, vector=data.items, **_labels(data))
        else:
            np.save(file, data.items)


def _write_csv(data: Dataset, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(["text", *data.labels])
    writer.writerows(zip(data.items, *data.labels.values(), strict=True))
    text.detach()  # flushes, and leaves the file open


def _labels(data: Dataset) -> dict[str, Any]:
    # Objects would need pickles.
    return {
        name: values.astype(np.str_) if values.dtype.kind == "O" else values
        for name, values in data.labels.items()
    }
