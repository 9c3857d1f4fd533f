"""A table in which decoders look codes up."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import n_bytes

KeyArray = NDArray[np.uint64]

BLOCK = 1 << 15  # look-ups at a time: more would leave the cache
_WORD = 64  # bits of a key
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses nothing
_SPARE = 3  # bits of a bucket's number beyond those that count the codes


@final
class CodeTable(Immutable):
    """Distinct codes, each under a key that is linear in its bits.

    Each bit has one of the `words` of 64 bits, and the key of a code is the XOR of
    those of its bits: whole balls of codes are looked up without making them. Up to 64
    bits the key is the code (`is_exact`); beyond, a hit must be compared. `rows` are
    the first rows that have each distinct code, `counts` how many have it.
    """

    def __init__(self, codes: CodeArray, n_bits: int) -> None:
        self.is_exact = n_bits <= _WORD
        n_distinct = 0 if self.is_exact else len(np.unique(codes, axis=0))
        for seed in range(1 << 16):  # a second seed is hardly ever needed
            if self.is_exact:
                shifts = np.arange(_WORD - 1, _WORD - 1 - n_bits, -1, dtype=np.uint64)
                words, by_byte = np.uint64(1) << shifts, None
            else:
                rng = np.random.default_rng(seed)
                words = rng.integers(0, 1 << _WORD, n_bits, dtype=np.uint64)
                padded = np.zeros(8 * n_bytes(n_bits), np.uint64)
                padded[:n_bits] = words
                # The keys of all values of each byte.
                by_byte = np.zeros((n_bytes(n_bits), 256), np.uint64)
                for bit in range(8):
                    is_set = np.arange(256) >> (7 - bit) & 1 == 1
                    by_byte[:, is_set] ^= padded[bit::8, None]
            products, rows, counts = np.unique(
                _keys(codes, by_byte) * _FACTOR, return_index=True, return_counts=True
            )
            if self.is_exact or len(products) == n_distinct:
                break
        self.words: KeyArray = frozen_array(words)
        self._by_byte = None if by_byte is None else frozen_array(by_byte)
        self.rows: IdArray = frozen_array(rows.astype(np.int64))
        self.counts: IdArray = frozen_array(counts.astype(np.int64))
        # Keys are sorted by their products, in buckets by the first bits of these.
        n = len(products).bit_length() + _SPARE
        self._shift = np.uint64(_WORD - n)
        firsts = np.arange(1 << n, dtype=np.uint64) << self._shift
        starts = np.append(np.searchsorted(products, firsts), len(products))
        self._products = frozen_array(products)
        self._starts = frozen_array(starts.astype(np.int32))
        self._is_filled = frozen_array(starts[1:] > starts[:-1])

    def __len__(self) -> int:
        return len(self.rows)

    def keys(self, codes: CodeArray) -> KeyArray:
        """Return the key of each code, a number."""
        return _keys(codes, self._by_byte)

    def hits(self, keys: KeyArray) -> tuple[IdArray, IdArray]:
        """Return which places in ``keys.ravel()`` hold keys of which codes.

        In no particular order; codes as places in `rows`.
        """
        flat = keys.ravel()
        places, entries = [], []
        for block in spans(max(1, len(flat)), BLOCK):
            products = flat[block] * _FACTOR
            # Most buckets are empty, and cost one byte; the others are walked through.
            buckets = (products >> self._shift).view(np.int64)
            filled = np.flatnonzero(self._is_filled[buckets])
            products, buckets = products[filled], buckets[filled]
            entry = self._starts[buckets].astype(np.int64)
            ends = self._starts[buckets + 1]
            is_hit = np.zeros(len(filled), np.bool_)
            walking = np.arange(len(filled))
            while walking.size:
                same = self._products[entry[walking]] == products[walking]
                is_hit[walking[same]] = True
                walking = walking[~same]
                entry[walking] += 1
                walking = walking[entry[walking] < ends[walking]]
            places.append(filled[is_hit] + block.start)
            entries.append(entry[is_hit])
        return np.concatenate(places), np.concatenate(entries)


def _keys(codes: CodeArray, by_byte: KeyArray | None) -> KeyArray:
    if by_byte is None:
        padded = np.zeros((len(codes), _WORD // 8), np.uint8)
        padded[:, : codes.shape[1]] = codes
        return padded.view(">u8")[:, 0].astype(np.uint64)
    keys = np.zeros(len(codes), np.uint64)
    for column, words in zip(codes.T, by_byte, strict=True):
        keys ^= words[column]
    return keys
