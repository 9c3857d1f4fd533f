"""Every index: one that is added here is tested with all others."""

from functools import partial

from fewbits.index import FlatIndex, MultiIndexHashing

#: Looks up every query, however small the collection.
LOOKED_UP = partial(MultiIndexHashing, use_scan=False)
INDEXES = [FlatIndex, MultiIndexHashing, LOOKED_UP]


def of_chunks(kind, chunks):
    """Return what ``from_chunks`` makes of a kind in `INDEXES`."""
    settings = getattr(kind, "keywords", {})
    return getattr(kind, "func", kind).from_chunks(chunks, **settings)
