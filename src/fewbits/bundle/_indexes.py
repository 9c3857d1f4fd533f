"""Choice of the index of a collection, and the tables that its folder keeps."""

from collections.abc import Iterable
from typing import Any

from fewbits.bundle._table_part import TablePart
from fewbits.index import FlatIndex, Index, MultiIndexHashing
from fewbits.index.table_files import TableCache, bytes_to_keep, cached_tables

AUTO, FLAT, MULTI_INDEX = "auto", "flat", "multi-index"
#: What searches: whichever is predicted to be faster, a scan, or look-ups.
KINDS = (AUTO, FLAT, MULTI_INDEX)
#: Tables in memory of the segments of one store, by their tokens.
Caches = dict[str, TableCache]


def index_of(parts: Iterable[Any], kind: str, caches: Caches) -> Index:
    """Return an index over the codes of parts, whose ids are the sequence numbers.

    Parameters
    ----------
    parts : iterable of TablePart or fewbits.store.Part
    kind : {"auto", "flat", "multi-index"}
    caches : dict
        Tables of segments of a store, by their tokens; new ones are put in.
    """
    if kind == FLAT:
        given = [(part.codes, part.sequence, part.live) for part in parts]
        return FlatIndex.from_segments(given).freeze()
    looked_up = [
        (part.codes, part.sequence, part.live, _tables(part, caches)) for part in parts
    ]
    use_scan = kind == AUTO
    return MultiIndexHashing.from_segments(looked_up, use_scan=use_scan).freeze()


def keep_tables(writer: Any, kind: str) -> None:
    """Keep tables in the folder of a store, of the segments where they are of use.

    Parameters
    ----------
    writer : fewbits.store.Writer
        After a commit.
    kind : {"auto", "flat", "multi-index"}
        "flat" removes what is there.
    """
    for part in writer.parts:
        if kind == FLAT:
            writer.keep_derived(part, None)
        elif part.derived() is None:
            always = kind == MULTI_INDEX
            kept = bytes_to_keep(part.codes, part.live, always=always)
            if kept is not None or part.has_derived:
                writer.keep_derived(part, kept)


def _tables(part: Any, caches: Caches) -> TableCache:
    if isinstance(part, TablePart):
        return TableCache()
    made = cached_tables(part.derived) if part.has_derived else TableCache()
    return caches.setdefault(part.entry.token, made)
