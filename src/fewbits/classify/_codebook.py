"""Class codes, the names of classes, and the table in which decoders look up."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._artefacts import Tensors, checksum, read_tensors, tensor_bytes
from fewbits._checks import check_prefix, whole_number
from fewbits._files import atomic_write
from fewbits._frozen import Immutable, frozen_array, read_only
from fewbits._labels import as_labels, check_same_kind, label_kind
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, IdArray
from fewbits.codes import as_codes, check_unused, n_bytes, prefix
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.index.table_files import build_tables

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


_FORMAT = "fewbits-codebook-1"


@final
class Codebook(Immutable):
    """One code for each class; an item belongs to the class whose code its own matches.

    Several classes may share a code, as in codebooks from side information.
    Decoders count them as ties.

    Parameters
    ----------
    codes : ndarray of shape (n_classes, ceil(n_bits / 8)), dtype uint8
        Packed, most significant bit first, as in `fewbits.codes`; at least one.
    n_bits : int
        Length of the codes.
    names : array-like of shape (n_classes,), default=None
        Unique labels of one kind: integers, numbers, booleans or strings. None numbers
        the classes. All three stay as attributes, arrays read-only; names are int64,
        float64, bool or str.

    Raises
    ------
    CodeError
        When the codes are not packed into as many bytes as `n_bits` needs, or a bit
        beyond them is set.
    ArgumentError
        When there is no class, or names do not fit.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021: B(C) of section 3.

    Examples
    --------
    >>> codes = np.array([[0b00000000], [0b11100000], [0b00000000]], np.uint8)
    >>> book = Codebook(codes, n_bits=4, names=["cat", "dog", "lynx"])
    >>> book
    Codebook(3 classes, 4 bits)
    >>> book.n_unique
    2
    >>> book.rows(["dog", "lynx"])
    array([1, 2])
    """

    codes: CodeArray
    n_bits: int
    names: Array

    def __init__(
        self, codes: CodeArray, n_bits: int, names: ArrayLike | None = None
    ) -> None:
        self.n_bits = whole_number(n_bits, "n_bits")
        array = as_codes(codes, n_bits=self.n_bits)
        if not len(array):
            raise ArgumentError("a codebook needs at least one class, got none")
        check_unused(array, self.n_bits, "class codes")
        self.codes = frozen_array(array)
        named = _name_array(
            np.arange(len(array)) if names is None else names, "names of classes"
        )
        distinct, counts = np.unique(named, return_counts=True)
        if len(distinct) < len(named):
            twice = distinct[counts.argmax()]
            raise ArgumentError(f"names of classes must be unique, got {twice!s} twice")
        objects = named.dtype.hasobject
        self.names = read_only(named.copy()) if objects else frozen_array(named)
        if len(named) != len(array):
            raise ArgumentError(f"{len(array)} class codes, but {len(named)} names")

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        classes = "class" if len(self) == 1 else "classes"
        bits = "bit" if self.n_bits == 1 else "bits"
        return f"Codebook({len(self):,} {classes}, {self.n_bits} {bits})"

    @property
    def n_unique(self) -> int:
        """Number of different codes."""
        return len(self.table)

    def rows(self, labels: ArrayLike) -> IdArray:
        """Return the rows of classes by their names.

        Parameters
        ----------
        labels : array-like of shape (n,)

        Returns
        -------
        ndarray of shape (n,), dtype int64

        Raises
        ------
        ArgumentError
            When a label is none of the classes.
        """
        names = _name_array(labels, "labels")
        if not names.size:
            return np.empty(0, np.int64)
        check_same_kind(names, self.names, ("labels", "the names of classes"))
        order = np.argsort(self.names, kind="stable")
        places = np.searchsorted(self.names, names, sorter=order)
        rows = order[np.minimum(places, len(self) - 1)]
        unknown = names[self.names[rows] != names]
        if unknown.size:
            raise ArgumentError(
                f"{unknown.size} of {names.size} labels are beyond the codebook of "
                f"{len(self)} classes: {unknown[0]!s} is the first"
            )
        return rows.astype(np.int64)

    def labels(self, rows: ArrayLike) -> Array:
        """Return the names of classes by their rows.

        Parameters
        ----------
        rows : array-like of int of shape (n,)
            As decoders return them.

        Returns
        -------
        ndarray of shape (n,)
            Of names; where a row is -1, of objects, with None for no class.

        Raises
        ------
        ArgumentError
            When a row is beyond the codebook.

        Examples
        --------
        >>> book = Codebook(np.array([[0], [224]], np.uint8), 4, ["cat", "dog"])
        >>> book.labels([1, -1])
        array(['dog', None], dtype=object)
        """
        places = np.asarray(rows)
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            raise ArgumentError(
                f"rows must be a list of integers, got {places.dtype} of shape "
                f"{places.shape}"
            )
        places = places.astype(np.int64)
        if places.size and not (places.min() >= -1 and places.max() < len(self)):
            raise ArgumentError(
                f"rows must lie between -1 and {len(self) - 1}, got {places.min()} to "
                f"{places.max()}"
            )
        names = self.names[places]
        if (places < 0).any():
            names = names.astype(object)
            names[places < 0] = None
        return np.asarray(names)

    def prefix(self, n_bits: int) -> Self:
        """Return the codebook of the first `n_bits` bits, with the same names.

        Nested books are learnt so that each prefix distinguishes the classes.

        Raises
        ------
        ArgumentError
            When `n_bits` is not between 1 and the length of the codes.

        Examples
        --------
        >>> Codebook(np.array([[1], [2]], np.uint8), 8).prefix(6).n_unique
        1
        """
        n_bits = check_prefix(n_bits, self.n_bits)
        return type(self)(prefix(self.codes, n_bits), n_bits, self.names)

    def tensors(self) -> Tensors:
        """Return everything needed to rebuild the codebook, beside `n_bits`."""
        if self.names.dtype.kind != "U":
            return {"codes": self.codes, "names": np.asarray(self.names)}
        texts = [name.encode() for name in self.names.tolist()]
        return {
            "codes": self.codes,
            "names.text": np.frombuffer(b"".join(texts), np.uint8),
            "names.end": np.cumsum([len(text) for text in texts], dtype=np.int64),
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of codes and names; collections keep it beside what was decoded."""
        return checksum(["codebook", self.n_bits], self.tensors())

    def save(self, path: str | Path) -> None:
        """Write the codebook to a ``.safetensors`` file, all of it or nothing.

        Parameters
        ----------
        path : str or Path
            Replaced when it exists; left as it is when anything goes wrong.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        with atomic_write(path) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the content of the file that `save` writes."""
        metadata = {
            "format": _FORMAT,
            "n_bits": str(self.n_bits),
            "fingerprint": self.fingerprint,
        }
        return tensor_bytes(self.tensors(), metadata)

    @cached_property
    def table(self) -> CodeTable:
        """The hash table in which decoders look codes up."""
        return CodeTable(self.codes, self.n_bits)

    @cached_property
    def multi_index(self) -> Any:
        """The tables with which decoders find near codes among very many."""
        return build_tables(self.codes, n_bits=self.n_bits)


def load_codebook(path: str | Path) -> Codebook:
    """Read a codebook written by `Codebook.save`, and check it against its fingerprint.

    Raises
    ------
    ArtefactError
        When the file is not a codebook, is damaged, or was written by a newer version.
    OSError
        When there is no such file, or it may not be read.
    """
    metadata, tensors = read_tensors(path, "codebook", _FORMAT)
    try:
        names = tensors.get("names")
        if names is None:
            text, ends = tensors["names.text"].tobytes(), tensors["names.end"].tolist()
            spans = zip([0, *ends[:-1]], ends, strict=True)
            names = np.array(
                [text[start:end].decode() for start, end in spans], np.str_
            )
        book = Codebook(tensors["codes"], int(metadata["n_bits"]), names)
    except (FewbitsError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    if book.fingerprint != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return book


def _name_array(names: ArrayLike, what: str) -> Array:
    array = as_labels(names, what)
    if label_kind(array) == "strings":
        return array.astype(np.str_)
    kinds = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    return array.astype(kinds[array.dtype.kind])
