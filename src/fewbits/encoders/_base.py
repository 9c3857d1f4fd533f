"""The interface of all encoders."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._artefacts import checksum, tensor_bytes
from fewbits._checks import check_prefix, check_zero_bit
from fewbits._features import SparseRows, as_rows, feature_blocks
from fewbits._files import atomic_write
from fewbits._frozen import Immutable
from fewbits._typing import CodeArray, ScoreArray
from fewbits.errors import ArgumentError, FeatureError

if TYPE_CHECKING:
    from fewbits.index import Corrections

Tensors = dict[str, NDArray[Any]]
Progress = Callable[[int, int], None]

PREFIX = "inner."  # of the names of an inner encoder's tensors


class NotFiniteError(ArgumentError):
    """Numbers of an encoder leave float32."""


class Encoder(Immutable, ABC):
    """Map features to codes: ``project`` to scores, keep the sign of each.

    The same row gives the same bits whatever the batch, the number of threads, the
    processor or the instruction set, and ``encode(X)`` is exactly
    ``pack(project(X) > 0)`` (``>= 0`` when `zero_bit` is 1).

    An encoder is made of arrays, which it keeps, read-only and in float32, unless
    another dtype is named, as attributes of their names.

    Parameters
    ----------
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Raises
    ------
    ArgumentError
        When the shapes of arrays do not match, or a number is out of its range or not
        finite in float32.

    Notes
    -----
    A new kind of encoder sets `n_features` and `n_bits`, implements the four abstract
    methods and registers itself in ``fewbits.encoders._io``.
    """

    kind: ClassVar[str]
    #: Numbers in a row of features.
    n_features: int
    #: Bits of a code, 1 to 65,536.
    n_bits: int
    zero_bit: int
    #: Names of the columns that it was learnt from; None where they had none. Columns
    #: of a data frame are taken by them, in whatever order they come.
    feature_names: tuple[str, ...] | None = None

    @abstractmethod
    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        """Fill `scores` for one checked block."""

    @abstractmethod
    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        """Fill `codes` for one checked block."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """Return the arrays that rebuild this encoder, except `zero_bit`."""

    @classmethod
    def from_tensors(cls, tensors: Tensors, zero_bit: int) -> Self:
        """Rebuild an encoder from `tensors`."""
        return cls(**tensors, zero_bit=zero_bit)  # type: ignore[call-arg]

    @abstractmethod
    def _prefix(self, n_bits: int) -> Self: ...

    def project(self, X: ArrayLike) -> ScoreArray:
        """Return the score of every bit before thresholding.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Real numbers of any dtype; they are rounded to float32 first.

        Returns
        -------
        ndarray of shape (n, n_bits), dtype float32

        Raises
        ------
        FeatureError
            When X has the wrong width or other names of columns than it was learnt
            from, holds NaN or infinity, or is so large that scores are not finite.

        Examples
        --------
        >>> from fewbits.encoders import LinearEncoder
        >>> LinearEncoder([[1.0, -2.0]], [0.0, 1.0]).project([[3.0]])
        array([[ 3., -5.]], dtype=float32)
        """
        features = as_rows(X, self.n_features, self.feature_names)
        scores = np.empty((len(features), self.n_bits), np.float32)
        for span, block in self._blocks(features):
            self._project(block, scores[span])
        return scores

    def encode(self, X: ArrayLike, *, progress: Progress | None = None) -> CodeArray:
        """Return packed codes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            As in `project`. A memory map and a sparse matrix are read block by block.
        progress : callable, default=None
            Called with (rows done, rows in all) after each block.

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8

        Raises
        ------
        FeatureError
            As `project`.

        Examples
        --------
        >>> from fewbits.encoders import LinearEncoder
        >>> LinearEncoder([[1.0, -2.0]], [0.0, 1.0]).encode([[3.0], [-3.0]])
        array([[128],
               [ 64]], dtype=uint8)
        """
        features = as_rows(X, self.n_features, self.feature_names)
        codes = np.empty((len(features), -(-self.n_bits // 8)), np.uint8)
        for span, block in self._blocks(features):
            self._encode(block, codes[span])
            if progress is not None:
                progress(span.stop, len(features))
        return codes

    def _blocks(
        self, X: NDArray[Any] | SparseRows
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Walk over rows in blocks; refuse one whose scores leave float32."""
        for span, block in feature_blocks(X):
            if not float(np.vdot(block, block)) <= self._reach:
                scores = np.empty((len(block), self.n_bits), np.float32)
                with np.errstate(all="ignore"):
                    self._project(block, scores)
                finite = np.isfinite(scores).all(axis=1)
                if not finite.all():
                    most = np.abs(block[~finite]).max()
                    raise FeatureError(
                        f"features of up to {most:.3g} are too large for float32: "
                        "their scores overflow; scale them"
                    )
            yield span, block

    @cached_property
    def _reach(self) -> float:
        """Squared length up to which no row has scores that leave float32."""
        # A layer is worth at most its norm; of the room left some is for sums of many
        # numbers, as in transforms.
        gain = 1.0
        for tensor in self.tensors().values():
            if tensor.dtype.kind == "f":
                flat = tensor.ravel()
                square = np.einsum("i,i->", flat, flat, dtype=np.float64)
                gain *= 1 + float(np.sqrt(square))
        return (1e30 / gain) ** 2

    def with_feature_names(self, names: Iterable[str] | None) -> Self:
        """Return this encoder with names of the features, one for each, all different.

        Raises
        ------
        ArgumentError
            When there are not as many names as features, or one is there twice.
        """
        columns = None if names is None else tuple(map(str, names))
        if columns is not None and not (
            len({*columns}) == self.n_features == len(columns)
        ):
            raise ArgumentError(
                f"{self.n_features} features need as many names, all different, got "
                f"{len(columns)}"
            )
        named = copy(self)
        vars(named)["feature_names"] = columns
        return named

    def query_scores(self, X: ArrayLike) -> ScoreArray:
        """Return what the asymmetric distance takes of queries: `project`, as a rule.

        Parameters, shape, dtype and errors are those of `project`.
        """
        return self.project(X)

    def offsets(self, codes: CodeArray) -> NDArray[np.float32] | None:
        """Return what the asymmetric distance adds for each code, float32 (n,).

        None, as a rule.
        """
        return None

    @property
    def correction_table(self) -> NDArray[np.float32] | None:
        """Meaning of the bytes of `corrections`, (256, 2); None, as a rule."""
        return None

    def corrections(self, X: ArrayLike, codes: CodeArray) -> Corrections | None:
        """Return what ranking takes of each row beside its code; None, as a rule.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        codes : ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
            ``encode(X)``.

        Returns
        -------
        fewbits.index.Corrections or None
            Two bytes for each row.

        Raises
        ------
        FeatureError
            As `project`.
        """
        return None

    def prefix(self, n_bits: int) -> Self:
        """Return the encoder of the first `n_bits` bits.

        Parameters
        ----------
        n_bits : int
            Between 1 and the number of bits of this encoder.

        Returns
        -------
        Encoder
            Of the same kind. Its codes are the prefixes of the codes of this one.

        Raises
        ------
        ArgumentError
            When `n_bits` is out of range.

        Examples
        --------
        >>> from fewbits.encoders import LinearEncoder
        >>> LinearEncoder([[1.0, 2.0, 3.0]], [0.0, 0.0, 0.0]).prefix(2)
        LinearEncoder(1 -> 2 bits)
        """
        n_bits = check_prefix(n_bits, self.n_bits)
        if n_bits == self.n_bits:
            return self
        return self._prefix(n_bits).with_feature_names(self.feature_names)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides the codes, kept beside them."""
        return checksum([self.kind, self.zero_bit], self.tensors())

    def save(self, path: str | Path) -> None:
        """Write the encoder to a ``.safetensors`` file, all of it or nothing.

        Parameters
        ----------
        path : str or Path
            Replaced when it exists; left as it is when anything goes wrong.

        Raises
        ------
        OSError
            When the file cannot be written: no such folder, no permission, disk full.
        """
        with atomic_write(path) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the content of the file that `save` writes."""
        metadata = {
            "format": "fewbits-encoder-1",
            "kind": self.kind,
            "zero_bit": str(self.zero_bit),
            "fingerprint": self.fingerprint,
        }
        if self.feature_names is not None:
            metadata["feature_names"] = json.dumps(self.feature_names)
        return tensor_bytes(self.tensors(), metadata)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features} -> {self.n_bits} bits)"


class KernelEncoder(Encoder):
    """An encoder whose scores and codes two kernels make of the same arrays."""

    _scores_kernel: ClassVar[Callable[..., None]]
    _codes_kernel: ClassVar[Callable[..., None]]

    @property
    @abstractmethod
    def _arrays(self) -> tuple[Any, ...]:
        """What the kernels take between the features and their results."""

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        type(self)._scores_kernel(X, *self._arrays, scores, _kernels.num_threads())

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        type(self)._codes_kernel(
            X, *self._arrays, self.zero_bit, codes, _kernels.num_threads()
        )


class SizedEncoder(KernelEncoder):
    """An encoder that keeps its number of features beside one bias for each bit."""

    def __init__(self, bias: ArrayLike, n_features: ArrayLike, zero_bit: int) -> None:
        self.bias, size = frozen(bias), frozen(n_features, np.int64)
        if size.size != 1:
            raise ArgumentError(f"n_features must be one number, got {size.tolist()}")
        self.n_features = int(size.item())
        self.n_bits = self.bias.size
        self.zero_bit = check_zero_bit(zero_bit)

    def tensors(self) -> Tensors:
        return {"bias": self.bias, "n_features": np.array([self.n_features], np.int64)}


class OuterEncoder(Encoder):
    """An encoder that transforms X and passes it to another encoder, `inner`."""

    inner: Encoder

    @classmethod
    @abstractmethod
    def around(cls, inner: Encoder, tensors: Tensors) -> Self:
        """Rebuild an encoder from `inner` and the other tensors."""

    @abstractmethod
    def _mapped(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield the inputs of the inner encoder, block by block."""

    @property
    def correction_table(self) -> NDArray[np.float32] | None:
        return self.inner.correction_table

    def query_scores(self, X: ArrayLike) -> ScoreArray:
        features = as_rows(X, self.n_features, self.feature_names)
        scores = np.empty((len(features), self.n_bits), np.float32)
        for rows, block in self._blocks(features):
            for span, mapped in self._mapped(block):
                scores[rows][span] = self.inner.query_scores(mapped)
        return scores

    def offsets(self, codes: CodeArray) -> NDArray[np.float32] | None:
        return self.inner.offsets(codes)

    def corrections(self, X: ArrayLike, codes: CodeArray) -> Corrections | None:
        from fewbits.index import Corrections

        table = self.inner.correction_table
        if table is None:
            return None
        features = as_rows(X, self.n_features, self.feature_names)
        values = np.empty((len(features), 2), np.uint8)
        for rows, block in self._blocks(features):
            for span, mapped in self._mapped(block):
                part = self.inner.corrections(mapped, codes[rows][span])
                assert part is not None
                values[rows][span] = part.values
        return Corrections(values, table)

    def tensors(self) -> Tensors:
        inner = {PREFIX + name: tensor for name, tensor in self.inner.tensors().items()}
        return {**inner, "inner": as_text(self.inner.kind)}

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        for span, mapped in self._mapped(X):
            self.inner._project(mapped, scores[span])

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        for span, mapped in self._mapped(X):
            self.inner._encode(mapped, codes[span])


def as_text(word: str) -> NDArray[Any]:
    """Return a word as a tensor."""
    return frozen(np.frombuffer(word.encode("ascii"), np.uint8), np.uint8)


def word_of(tensor: NDArray[Any]) -> str:
    """Return the word that `as_text` was given."""
    return tensor.tobytes().decode("ascii")


def frozen(array: ArrayLike, dtype: Any = np.float32) -> NDArray[Any]:
    """Return a read-only C-ordered copy; refuse numbers that `dtype` cannot hold."""
    try:
        original = np.asarray(array)
    except ValueError:
        raise ArgumentError("need an array, got rows of different lengths") from None
    whole = np.issubdtype(dtype, np.integer)
    if original.dtype.kind not in ("iub" if whole and original.size else "iubf"):
        kind = "whole" if whole else "real"
        raise ArgumentError(f"need {kind} numbers, got dtype {original.dtype}")
    with np.errstate(over="ignore", under="ignore"):
        numbers = np.asarray(original, dtype=dtype, order="C")
    if whole and not np.array_equal(numbers, original):
        raise ArgumentError(f"numbers too large for {np.dtype(dtype)}")
    # A copy of a memory map, too, whose file may be written.
    return np.ndarray(numbers.shape, numbers.dtype, numbers.tobytes())


def check_finite(what: str, *arrays: NDArray[Any]) -> None:
    """Refuse numbers of an encoder that float32 does not hold."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise NotFiniteError(f"{what} must be finite in float32")
