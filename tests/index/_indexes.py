"""Every index: one that is added here is tested with all others."""

from functools import partial

from fewbits.index import FlatIndex, MultiIndexHashing

#: Looks up every query, however small the collection.
LOOKED_UP = partial(MultiIndexHashing, use_scan=False)
INDEXES = [FlatIndex, MultiIndexHashing, LOOKED_UP]
