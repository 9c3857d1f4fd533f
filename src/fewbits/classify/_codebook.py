"""Class codes."""

from functools import cached_property
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from fewbits._artefacts import Tensors, checksum, tensor_bytes
from fewbits._checks import whole_number
from fewbits._files import atomic_write
from fewbits._frozen import Immutable
from fewbits._typing import Array, CodeArray, IdArray
from fewbits.classify._class_codes import check_capacity, class_codes
from fewbits.classify._code_table import CodeTable
from fewbits.classify._names import as_names, find_names, name_tensors, names_at
from fewbits.classify._separation import shared_by
from fewbits.classify._table_search import TableSearch
from fewbits.codes import prefix, smallest_distance
from fewbits.errors import ArgumentError

FORMAT = "fewbits-codebook-1"


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
        the classes.
    unique : bool, default=False
        Refuse classes that share a code.

    Attributes
    ----------
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Read-only, as are `names`.
    n_bits : int
    names : ndarray of shape (n_classes,)
        int64, float64, bool or str.

    Raises
    ------
    CodeError
        When the codes are not packed into as many bytes as `n_bits` needs, or a bit
        beyond them is set.
    ArgumentError
        When there is no class, names do not fit, or `unique` is wanted and classes
        share a code; where `n_bits` are too few, the message names the least length
        that suffices.

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
    >>> book.n_unique, book.min_distance, book.collisions
    (2, 0, (array([0, 2]),))
    >>> book.rows(["dog", "lynx"])
    array([1, 2])
    """

    codes: CodeArray
    n_bits: int
    names: Array

    def __init__(
        self,
        codes: CodeArray,
        n_bits: int,
        names: ArrayLike | None = None,
        *,
        unique: bool = False,
    ) -> None:
        self.n_bits = whole_number(n_bits, "n_bits")
        self.codes = class_codes(codes, self.n_bits)
        given = np.arange(len(self.codes)) if names is None else names
        self.names = as_names(given, len(self.codes))
        if unique:
            check_capacity(len(self.codes), self.n_bits)
            self._check_unique()

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

    @cached_property
    def collisions(self) -> tuple[IdArray, ...]:
        """Rows of classes that share a code, a group for each such code.

        Rows rise within a group, and groups in the order of their first rows.
        """
        return shared_by(self.table.find(self.table.keys(self.codes)))

    @cached_property
    def min_distance(self) -> int:
        """Smallest Hamming distance between two classes, 0 when some share a code.

        Raises
        ------
        ArgumentError
            When there is one class only.
        """
        if len(self) < 2:
            raise ArgumentError("distances between classes need 2 of them, got 1")
        if self.n_unique < len(self):
            return 0
        return smallest_distance(self.codes)

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
        return find_names(self.names, labels)

    def labels(self, rows: ArrayLike, *, none: Any = None) -> Array:
        """Return the names of classes by their rows.

        Parameters
        ----------
        rows : array-like of int of shape (n,)
            As decoders return them.
        none : str or number, default=None
            What to call -1, no class; needed when there is one.

        Returns
        -------
        ndarray of shape (n,)
            Of names, and `none` where the row is -1.

        Raises
        ------
        ArgumentError
            When a row is beyond the codebook, or -1 without a name for it.

        Examples
        --------
        >>> book = Codebook(np.array([[0], [224]], np.uint8), 4, ["cat", "dog"])
        >>> book.labels([1, -1], none="neither")
        array(['dog', 'neither'], dtype='<U7')
        """
        return names_at(self.names, rows, none)

    def sharing(self, row: int) -> IdArray:
        """Return the rows of all classes with the code of one, itself included.

        Examples
        --------
        >>> Codebook(np.array([[1], [2], [1]], np.uint8), 8).sharing(2)
        array([0, 2])
        """
        row = whole_number(row, "row")
        if not 0 <= row < len(self):
            raise ArgumentError(f"row must be 0 to {len(self) - 1}, got {row}")
        return np.flatnonzero((self.codes == self.codes[row]).all(axis=1))

    def prefix(self, n_bits: int) -> Self:
        """Return the codebook of the first `n_bits` bits, with the same names.

        Nested books are learnt so that each prefix distinguishes the classes.

        Raises
        ------
        ArgumentError
            When `n_bits` is not between 1 and the length of the codes.

        Examples
        --------
        >>> Codebook(np.array([[1], [2]], np.uint8), 8).prefix(6).collisions
        (array([0, 1]),)
        """
        n_bits = whole_number(n_bits, "n_bits")
        if not 1 <= n_bits <= self.n_bits:
            raise ArgumentError(
                f"a prefix must have between 1 and {self.n_bits} bits, got {n_bits}"
            )
        return type(self)(prefix(self.codes, n_bits), n_bits, self.names)

    def tensors(self) -> Tensors:
        """Return everything needed to rebuild the codebook, beside `n_bits`."""
        return {"codes": self.codes, **name_tensors(self.names)}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of codes and names; bundles keep it beside what was decoded."""
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

        Examples
        --------
        >>> import tempfile
        >>> from fewbits.classify import load_codebook
        >>> book = Codebook(np.array([[0], [224]], np.uint8), 4, ["cat", "dog"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     book.save(f"{folder}/classes.safetensors")
        ...     load_codebook(f"{folder}/classes.safetensors").names
        array(['cat', 'dog'], dtype='<U3')
        """
        with atomic_write(path) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the content of the file that `save` writes."""
        metadata = {
            "format": FORMAT,
            "n_bits": str(self.n_bits),
            "fingerprint": self.fingerprint,
        }
        return tensor_bytes(self.tensors(), metadata)

    @cached_property
    def table(self) -> CodeTable:
        """The hash table in which decoders look codes up."""
        return CodeTable(self.codes, self.n_bits)

    @cached_property
    def multi_index(self) -> TableSearch:
        """The tables with which decoders find near codes among very many."""
        return TableSearch(self.codes, self.n_bits)

    def __setattr__(self, name: str, value: Any) -> None:
        # Tables that are derived from the codes and kept would not follow a change.
        if name in self.__dict__:
            raise AttributeError(f"codebooks are immutable: {name!r} is set already")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"codebooks are immutable: {name!r} cannot be deleted")

    def _check_unique(self) -> None:
        if self.collisions:
            first, second = self.labels(self.collisions[0][:2]).tolist()
            raise ArgumentError(
                f"classes must have codes of their own, got {self.n_unique} codes for "
                f"{len(self)} classes: {first!r} and {second!r} share one"
            )
