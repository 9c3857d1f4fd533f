"""Helpers of encoders that wrap another encoder."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, ScoreArray
from fewbits.encoders._base import Encoder, Tensors, frozen

_PREFIX = "inner."


class OuterEncoder(Encoder):
    """An encoder that transforms X and passes it to another encoder, `inner`."""

    inner: Encoder

    @abstractmethod
    def _mapped(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield the inputs of the inner encoder, block by block."""

    @property
    def n_bits(self) -> int:
        return self.inner.n_bits

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        for span, mapped in self._mapped(X):
            self.inner._project(mapped, scores[span])

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        for span, mapped in self._mapped(X):
            self.inner._encode(mapped, codes[span])


def inner_tensors(inner: Encoder) -> Tensors:
    """Return the tensors of an inner encoder under names of their own."""
    return {f"{_PREFIX}{name}": tensor for name, tensor in inner.tensors().items()}


def take_inner_tensors(tensors: Tensors) -> Tensors:
    """Take out what `inner_tensors` put in."""
    return {
        name.removeprefix(_PREFIX): tensors.pop(name)
        for name in list(tensors)
        if name.startswith(_PREFIX)
    }


def as_text(word: str) -> NDArray[Any]:
    """Return a word as a tensor."""
    return frozen(np.frombuffer(word.encode("ascii"), np.uint8), np.uint8)


def word_of(tensor: NDArray[Any]) -> str:
    """Return the word that `as_text` was given."""
    return tensor.tobytes().decode("ascii")
