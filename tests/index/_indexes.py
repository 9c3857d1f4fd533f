"""Every index: one that is added here is tested with all others."""

from functools import partial

from fewbits.index import FlatIndex, MultiIndexHashing

#: Looks up every query, however small the collection.
LOOKED_UP = partial(MultiIndexHashing, use_scan=False)
INDEXES = [FlatIndex, MultiIndexHashing, LOOKED_UP]


def lazy_of(index):
    """Return the tables of the first segment of an index of `MultiIndexHashing`."""
    part = index._segments.parts[0]
    return part.tables.of(part.codes, index._n_substrings)
