"""Names of files among the items given in Python."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fewbits.errors import ArgumentError

#: Endings of files of items that are no images.
_TABLES = {
    *(".npy", ".npz", ".fvecs", ".bvecs", ".ivecs", ".hdf5", ".h5"),
    *(".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"),
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson"),
}
_HEAD = 100  # texts examined


def as_paths(items: Any) -> list[Path] | None:
    """Return a list of paths of which some are no images; None for anything else."""
    if not isinstance(items, list | tuple) or not items:
        return None
    if not all(isinstance(item, Path) for item in items):
        return None
    from fewbits.inputs._streams import kind_of

    return [*items] if any(kind_of(item) in _TABLES for item in items) else None


def check_no_file_names(texts: Sequence[str]) -> None:
    """Refuse texts of which most are names of files: these would be embedded.

    Raises
    ------
    ArgumentError
        Says how to give the files.
    """
    head = texts[:_HEAD]
    named = [text for text in head if _is_file_name(text)]
    if 2 * len(named) > len(head):
        raise ArgumentError(
            f"expected texts, got names of files such as {named[0][:60]!r}; for the "
            "files give paths, [Path(name) for name in names], or read(...) them"
        )


def _is_file_name(text: str) -> bool:
    from fewbits.inputs._image_walk import IMAGES
    from fewbits.inputs._streams import kind_of

    # By the name alone: clients of a service must not learn which files it has.
    if len(text) > 4096 or len(text.split()) != 1:
        return False
    return kind_of(Path(text)) in IMAGES | _TABLES
