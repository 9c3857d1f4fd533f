"""The contract between a method and the rest of the package."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fewbits._typing import Array, BitArray, CodeArray
from fewbits.codes import unpack
from fewbits.encoders import Encoder
from fewbits.learners._core._carried import RuntimeCarrier
from fewbits.learners._core._device import current_backend
from fewbits.learners._core._nested import Configured
from fewbits.learners._core._parameters import check_seed, plain_integers
from fewbits.learners._core._rows import (
    check_finite,
    check_scale,
    check_scores,
    check_varied,
)
from fewbits.learners._core._validation import validated


class Learner(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    RuntimeCarrier,
    Configured,
    ABC,
):
    """Scikit-learn estimator whose result is an `Encoder`.

    A method implements `_check_parameters` and `_learn` and nothing else. After `fit`
    the rest of the package reads ``encoder_`` only.

    Attributes
    ----------
    encoder_ : Encoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each iteration; smaller is better. One entry
        for a method that is solved at once, none for one that optimises nothing.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when X was a data frame with named columns.
    """

    encoder_: Encoder
    objective_: NDArray[np.float64]
    needs_labels = False  #: Whether `fit` requires y.
    is_nested = (
        False  #: Whether a shorter code is identical to a prefix of a longer one.
    )
    uses_device = False  #: Whether `on_device` takes over work at any size.

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters out of range, before any data are read."""

    @abstractmethod
    def _learn(self, X: Array, y: Any) -> Encoder:
        """Learn from a finite matrix of real numbers, perhaps a memory map."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn an encoder.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features of any real dtype; they are rounded to float32 first, as encoders
            do. A memory map is read block by block and may be larger than memory.
        y : array-like of shape (n,), default=None
            Labels; unsupervised methods ignore them.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            When a parameter is out of range.
        FeatureError
            When X holds NaN, infinity or what float32 cannot hold, has gaps (a masked
            array), is not a matrix of at least two rows, or all rows that are learnt
            from are the same; when its features are too small or too large for a
            method.
        DivergedError
            When training ends in numbers that are not finite: lower the learning rate.
        OutOfMemoryError
            When the device of `on_device` lacks memory.
        ArtefactError, OSError
            When a checkpoint belongs to another fit or is damaged, or cannot be read
            or written; of methods that have one.
        """
        with self._running():
            return self._fit(X, y)

    def _fit(self, X: ArrayLike, y: Any) -> Self:
        self._check_parameters()
        check_seed(getattr(self, "random_state", None))
        features = self._features(X, reset=True, ensure_min_samples=2)
        largest = check_finite(features)
        check_varied(features)
        check_scale(largest)
        with plain_integers(self), current_backend().watched():
            encoder = self._learn(features, y)
        check_scores(encoder, features, largest)
        self.encoder_ = encoder
        self._tidy_up()
        return self

    def _tidy_up(self) -> None:
        """Clean up after a fit."""

    def encode(self, X: ArrayLike) -> CodeArray:
        """Return packed codes, to be stored in an index.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8

        Raises
        ------
        NotFittedError
            Before `fit`.
        FeatureError
            When X holds NaN or infinity, or another number of features than in `fit`.
        """
        check_is_fitted(self)
        with self._running():
            return self._encode(X)

    def _encode(self, X: ArrayLike) -> CodeArray:
        features = self._features(X, reset=False)
        check_finite(features)
        return self.encoder_.encode(features)

    def transform(self, X: ArrayLike) -> BitArray:
        """Return one 0/1 column per bit, for pipelines of scikit-learn.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_bits), dtype uint8

        Raises
        ------
        NotFittedError, FeatureError
            As `encode` does.
        """
        return unpack(self.encode(X), self.encoder_.n_bits)

    def _features(self, X: ArrayLike, **options: Any) -> Array:
        return validated(self, X, **options)

    @property
    def _n_features_out(self) -> int:
        return self.encoder_.n_bits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.required = self.needs_labels
        return tags
