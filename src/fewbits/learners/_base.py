"""The contract between a method and the rest of the package."""

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from fewbits._typing import BitArray, CodeArray, FeatureArray
from fewbits.codes import unpack
from fewbits.encoders import Encoder


class Learner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scikit-learn estimator whose result is an `Encoder`.

    A method implements `_learn` and nothing else. After `fit` the only learned
    attribute that the rest of the package reads is ``encoder_``.
    """

    encoder_: Encoder

    @abstractmethod
    def _learn(self, X: FeatureArray, y: Any) -> Encoder:
        """Learn from validated data."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn an encoder."""
        X = validate_data(self, X, ensure_min_samples=2)
        self.encoder_ = self._learn(X, y)
        return self

    def encode(self, X: ArrayLike) -> CodeArray:
        """Return packed codes: what an index stores."""
        return self.encoder_.encode(self._check(X))

    def transform(self, X: ArrayLike) -> BitArray:
        """Return one 0/1 column per bit: what a scikit-learn pipeline expects."""
        return unpack(self.encode(X), self.encoder_.n_bits)

    def _check(self, X: ArrayLike) -> FeatureArray:
        check_is_fitted(self)
        checked: FeatureArray = validate_data(self, X, reset=False)
        return checked

    @property
    def _n_features_out(self) -> int:
        return self.encoder_.n_bits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
