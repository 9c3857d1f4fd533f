"""Arithmetic on packed binary codes.

Codes are plain C-contiguous ``uint8`` arrays of shape ``(n, ceil(n_bits / 8))``. Bit
``j`` is bit ``7 - j % 8`` of byte ``j // 8``: most significant first, as in
`numpy.packbits`, sentence-transformers and pgvector. The unused bits of the last byte
are zero, so they never contribute to a distance, and a prefix of a code is a code.
"""

from fewbits.codes._hamming import (
    Neighbours,
    RangeSearchResult,
    hamming_distances,
    hamming_range_search,
    hamming_topk,
)
from fewbits.codes._hamming import pair_distances as pair_distances
from fewbits.codes._hamming import smallest_distance as smallest_distance
from fewbits.codes._pack import (
    MAX_BITS,
    as_codes,
    n_bytes,
    pack,
    prefix,
    unpack,
)
from fewbits.codes._pack import as_words as as_words
from fewbits.codes._pack import check_unused as check_unused

__all__ = [
    "MAX_BITS",
    "Neighbours",
    "RangeSearchResult",
    "as_codes",
    "hamming_distances",
    "hamming_range_search",
    "hamming_topk",
    "n_bytes",
    "pack",
    "prefix",
    "unpack",
]
