"""Tables in which decoders look codes up: whole codes, or their parts."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray, IdArray
from fewbits.classify._decoded import Answers
from fewbits.codes import n_bytes
from fewbits.index.table_files import build_tables

KeyArray = NDArray[np.uint64]

BLOCK = 1 << 15  # look-ups at a time: more would leave the cache
_WORD = 64  # bits of a key
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses nothing
_SPARE = 3  # bits of a bucket's number beyond those that count the codes


@final
class CodeTable(Immutable):
    """Distinct codes, each under a key that is linear in its bits.

    Each bit has a word of 64 bits, and the key of a code is the XOR of the words of
    its bits. So the key of a code with some bits flipped is the XOR of its key and the
    words of these bits: whole balls of codes are looked up without making them. Up to
    64 bits the words are unit vectors and the key is the code. Beyond, different codes
    may have the same key: a code that was found must be compared.

    `rows` are, for each distinct code, the first row that has it; `counts` how many
    have it; `words` those of the bits. `is_exact` says that equal keys are equal codes.
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

    def find(self, keys: KeyArray) -> IdArray:
        """Return which of the distinct codes has each key, -1 where none has."""
        places, entries = self.hits(keys)
        numbers = np.full(keys.size, -1, np.int64)
        numbers[places] = entries
        return numbers.reshape(keys.shape)

    def hits(self, keys: KeyArray) -> tuple[IdArray, IdArray]:
        """Return which places in ``keys.ravel()`` hold keys of which codes.

        In no particular order; codes as places in `rows`.
        """
        flat = keys.ravel()
        parts = [
            self._hits(flat[start : start + BLOCK] * _FACTOR, start)
            for start in range(0, max(1, len(flat)), BLOCK)
        ]
        places, entries = (np.concatenate(part) for part in zip(*parts, strict=True))
        return places, entries

    def _hits(self, products: KeyArray, offset: int) -> tuple[IdArray, IdArray]:
        """Walk through the buckets of some keys; most are empty, and cost one byte."""
        buckets = (products >> self._shift).view(np.int64)
        places = np.flatnonzero(self._is_filled[buckets])
        products, buckets = products[places], buckets[places]
        entries, ends = (
            self._starts[buckets].astype(np.int64),
            self._starts[buckets + 1],
        )
        entries_found = np.full(len(places), -1, np.int64)
        walking = np.arange(len(places))
        while walking.size:
            same = self._products[entries[walking]] == products[walking]
            entries_found[walking[same]] = entries[walking[same]]
            walking = walking[~same]
            entries[walking] += 1
            walking = walking[entries[walking] < ends[walking]]
        is_hit = entries_found >= 0
        return places[is_hit] + offset, entries_found[is_hit]


def _keys(codes: CodeArray, by_byte: KeyArray | None) -> KeyArray:
    if by_byte is None:
        padded = np.zeros((len(codes), _WORD // 8), np.uint8)
        padded[:, : codes.shape[1]] = codes
        return padded.view(">u8")[:, 0].astype(np.uint64)
    keys = np.zeros(len(codes), np.uint64)
    for column, words in zip(codes.T, by_byte, strict=True):
        keys ^= words[column]
    return keys


@final
class TableSearch(Immutable):
    """The nearest code by multi-index hashing, with a count of the work.

    The substrings of a query are looked up, then all values with one bit flipped, and
    so on, until what was found is no farther than whatever could have been missed.
    """

    def __init__(self, codes: CodeArray, n_bits: int) -> None:
        self._tables = build_tables(frozen_array(codes), n_bits=n_bits)

    def nearest(self, codes: CodeArray, work: int) -> Answers:
        """Find the nearest row of each code, the lowest if tied.

        After `work` look-ups and comparisons a code is given up, with a row of -1: the
        same ones on every machine.
        """
        answers = Answers.none(len(codes))
        counts = np.empty((len(codes), 2), np.int64)
        _kernels.multi_index_nearest(
            np.ascontiguousarray(codes),
            self._tables.native,
            _kernels.Budget(1, 1, work),
            answers.distances,
            answers.rows,
            answers.ties,
            counts,
            np.empty(len(codes), np.uint8),
            _kernels.num_threads(),
        )
        answers.lookups, answers.comparisons = counts.T
        return answers
