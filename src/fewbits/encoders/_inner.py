"""Helpers of encoders that wrap another encoder."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._features import as_features, feature_blocks
from fewbits._typing import CodeArray, ScoreArray
from fewbits.encoders._base import Encoder, Tensors, frozen

if TYPE_CHECKING:
    from fewbits.index import Corrections

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

    @property
    def correction_table(self) -> NDArray[np.float32] | None:
        return self.inner.correction_table

    def query_scores(self, X: ArrayLike) -> ScoreArray:
        features = as_features(X, self.n_features)
        scores = np.empty((len(features), self.n_bits), np.float32)
        for rows, block in feature_blocks(features):
            for span, mapped in self._mapped(block):
                scores[rows][span] = self.inner.query_scores(mapped)
        return scores

    def offsets(self, codes: CodeArray) -> NDArray[np.float32] | None:
        return self.inner.offsets(codes)

    def corrections(self, X: ArrayLike, codes: CodeArray) -> "Corrections | None":
        from fewbits.index import Corrections

        table = self.inner.correction_table
        if table is None:
            return None
        features = as_features(X, self.n_features)
        values = np.empty((len(features), 2), np.uint8)
        for rows, block in feature_blocks(features):
            for span, mapped in self._mapped(block):
                found = self.inner.corrections(mapped, codes[rows][span])
                assert found is not None
                values[rows][span] = found.values
        return Corrections(values, table)

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
