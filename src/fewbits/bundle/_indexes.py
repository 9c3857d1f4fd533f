"""Choice of the index of a collection, and the tables that its folder keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fewbits.bundle._table_part import TablePart
from fewbits.index import FlatIndex, Index, MultiIndexHashing
from fewbits.index.table_files import TableCache, bytes_to_keep, cached_tables

AUTO = "auto"
#: Tables in memory of the segments of one store, by their tokens.
Caches = dict[str, TableCache]


@dataclass(frozen=True)
class Kind:
    """An index that a bundle can have.

    Attributes
    ----------
    index : type of Index
    tables : {"never", "where they pay", "always"}
        Which segments have tables in the folder of a bundle.
    settings : mapping
        Parameters of the index.
    """

    index: type[Index]
    tables: Literal["never", "where they pay", "always"] = "never"
    settings: Mapping[str, Any] = field(default_factory=dict)


#: By the names that `Bundle.with_index` takes; "auto" is the default.
INDEXES = {
    AUTO: Kind(MultiIndexHashing, "where they pay"),
    "flat": Kind(FlatIndex),
    "multi-index": Kind(MultiIndexHashing, "always", {"use_scan": False}),
}


def index_of(parts: Sequence[Any], kind: str, caches: Caches) -> Index:
    """Return an index over the codes of parts, whose ids are the sequence numbers.

    Parameters
    ----------
    parts : sequence of TablePart or fewbits.store.Part
    kind : str
        A name in `INDEXES`.
    caches : dict
        Tables of segments of a store, by their tokens; new ones are put in.
    """
    chosen = INDEXES[kind]
    segments: list[tuple[Any, ...]] = [
        (part.codes, part.sequence, part.live) for part in parts
    ]
    if chosen.tables != "never":
        tables = (_tables(part, caches) for part in parts)
        segments = [(*each, own) for each, own in zip(segments, tables, strict=True)]
    return chosen.index.from_segments(segments, **chosen.settings).freeze()


def keep_tables(writer: Any, kind: str) -> None:
    """Keep tables in the folder of a store, of the segments that should have them.

    Parameters
    ----------
    writer : fewbits.store.Writer
        After a commit.
    kind : str
        A name in `INDEXES`; tables that it does not use are removed.
    """
    tables = INDEXES[kind].tables
    for part in writer.parts:
        if tables == "never":
            writer.keep_derived(part, None)
        elif part.derived() is None:
            kept = bytes_to_keep(part.codes, part.live, always=tables == "always")
            if kept is not None or part.has_derived:
                writer.keep_derived(part, kept)


def _tables(part: Any, caches: Caches) -> TableCache:
    if isinstance(part, TablePart):
        return TableCache()
    made = cached_tables(part.derived) if part.has_derived else TableCache()
    return caches.setdefault(part.entry.token, made)
