"""Export of data sets to files that all commands read."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._files import atomic_write
from fewbits.datasets._base import Dataset
from fewbits.errors import ArgumentError

_QUERIES = 1000  # at most, of a tenth of the items
_ENDINGS = {"texts": (".csv",), "vectors": (".npz", ".npy")}


def export(data: Dataset, path: str | Path) -> int:
    """Write the items and labels of a data set to a file.

    Parameters
    ----------
    data : Dataset
        Of texts or vectors.
    path : str or Path
        A .csv file for texts, with columns ``id`` and ``text`` and one for each kind
        of labels; for vectors a .npz file with an array ``vector`` and one for each
        kind of labels, or a .npy file of the vectors alone. It is replaced when it
        exists.

    Returns
    -------
    int
        Items that were written; of those that a source lists twice, the first.

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
    data = _distinct(data)
    with atomic_write(path) as file:
        if path.suffix == ".csv":
            _write_csv(data, file)
        elif path.suffix == ".npz":
            np.savez(file, vector=data.items, **_labels(data))
        else:
            np.save(file, data.items)
    return len(data)


def _distinct(data: Dataset) -> Dataset:
    """Return the first item of each key: keys are the ids of what is written."""
    first = {key: row for row, key in reversed([*enumerate(data.keys)])}
    if len(first) == len(data.keys):
        return data
    return _taken(data, np.array([*first.values()], np.int64))


def hold_out(data: Dataset, random_state: int = 0) -> tuple[Dataset, Dataset]:
    """Split off a tenth of the items, 1,000 at most, as queries.

    Parameters
    ----------
    data : Dataset
    random_state : int, default=0

    Returns
    -------
    rest, queries : Dataset
        Both keep the order of the items; neither has splits.

    Raises
    ------
    ArgumentError
        When there are fewer than ten items.

    Examples
    --------
    >>> from fewbits import datasets
    >>> rest, queries = datasets.hold_out(datasets.load("digits"))
    >>> len(rest), len(queries)
    (1618, 179)
    """
    n_queries = min(_QUERIES, len(data) // 10)
    if not n_queries:
        raise ArgumentError(f"{len(data)} items are too few to hold out a tenth")
    order = np.random.default_rng(random_state).permutation(len(data))
    return _taken(data, order[n_queries:]), _taken(data, order[:n_queries])


def _taken(data: Dataset, rows: NDArray[np.int64]) -> Dataset:
    rows = np.sort(rows)
    items = data.items
    taken = items[rows] if hasattr(items, "shape") else [items[i] for i in rows]
    return replace(
        data,
        items=taken,
        keys=[data.keys[i] for i in rows] if data.keys else data.keys,
        labels={name: values[rows] for name, values in data.labels.items()},
        splits={},
    )


def _write_csv(data: Dataset, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    keys = {"id": data.keys} if len(data.keys) == len(data) else {}
    columns = {**keys, "text": data.items, **data.labels}
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    text.detach()  # flushes, and leaves the file open


def _labels(data: Dataset) -> dict[str, Any]:
    # Objects would need pickles.
    return {
        name: values.astype(np.str_) if values.dtype.kind == "O" else values
        for name, values in data.labels.items()
    }
