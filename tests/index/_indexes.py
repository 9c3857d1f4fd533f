"""Every index: one that is added here is tested with all others."""

from fewbits.index import FlatIndex, MultiIndexHashing

INDEXES = [FlatIndex, MultiIndexHashing]
