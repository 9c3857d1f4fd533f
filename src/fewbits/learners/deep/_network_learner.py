"""Learners with a network, which may begin with a backbone and take its items."""

from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from fewbits._arrow import as_array
from fewbits._typing import Array, CodeArray
from fewbits.errors import FeatureError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import Config
from fewbits.learners.deep._config import NetworkConfig, TrainingConfig
from fewbits.learners.deep._data import ArrayItems, Items, parts_of
from fewbits.learners.deep._network import HashNetwork, Head, learn_standardize
from fewbits.learners.deep._probe_backbone import probe_backbone
from fewbits.learners.deep._problem import Problem
from fewbits.learners.deep._torch import (
    as_device,
    device_of,
    memory_advice,
    reproducible,
    room_on,
)


class NetworkLearner(Learner):
    """A learner whose encoder is the head of a network.

    Without a backbone it takes features; with one it takes what that takes.
    """

    configs: ClassVar[dict[str, type[Config]]] = {
        "network": NetworkConfig,
        "training": TrainingConfig,
    }
    network: NetworkConfig | None
    training: TrainingConfig | None
    device: str

    _item_shape: tuple[int, ...]
    _integers: bool
    _pixels: bool
    network_: HashNetwork

    @property
    def _network_config(self) -> NetworkConfig:
        return self._config("network", NetworkConfig)

    @property
    def _training(self) -> TrainingConfig:
        return self._config("training", TrainingConfig)

    def extract(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return what the encoder is given: the features of the trained backbone.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            Items; features themselves when there is no backbone.

        Returns
        -------
        ndarray of shape (n, n_features), dtype float32
        """
        check_is_fitted(self, "encoder_")
        with self._running():
            return self._extract(X)

    def _extract(self, X: ArrayLike) -> NDArray[np.float32]:
        items = self._features(X, reset=False)
        if self._network_config.backbone is None:
            return np.asarray(items, np.float32)
        items = items.reshape(len(items), *self._item_shape)
        device = as_device(self.device)
        with memory_advice(room_on(device)):
            network = self.network_.to(device)
        numbers = torch.arange(len(items))
        features: NDArray[np.float32] = features_of(
            network,
            ArrayItems(items, pixels=True, integers=self._integers),
            numbers,
            self._training.batch_size,
        ).numpy()
        return features

    def encode(self, X: ArrayLike) -> CodeArray:
        """Return packed codes: what an index stores.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            What `fit` took: features, or items for the backbone.

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
        """
        if self._network_config.backbone is None:
            return super().encode(X)
        with self._running():
            features = self.extract(X)  # which says so if nothing is fitted
            return self.encoder_.encode(features)

    def _features(self, X: ArrayLike, **options: Any) -> Array:
        if self._network_config.backbone is None:
            return super()._features(X, **options)
        items = as_array(X, "items")
        if items.ndim < 2:
            raise FeatureError(
                f"items must be numbers (n, ...), got shape {items.shape} and dtype "
                f"{items.dtype}"
            )
        if options.get("reset"):
            self._item_shape, self._pixels = items.shape[1:], items.dtype == np.uint8
            self.n_features_in_ = int(np.prod(items.shape[1:]))
        elif items.shape[1:] != self._item_shape:
            raise FeatureError(
                f"items have shape {items.shape[1:]}, but {self._item_shape} were "
                "learnt from"
            )
        elif self._pixels and not self._integers and items.dtype != np.uint8:
            raise FeatureError(
                "items must be uint8, as the pixels learnt from, which stand for "
                f"numbers from 0 to 1, got dtype {items.dtype}"
            )
        least = options.get("ensure_min_samples", 1)
        if len(items) < least:
            raise FeatureError(f"need at least {least} items, got {len(items)}")
        return items.reshape(len(items), -1)

    def _items(
        self, X: Array, rows: NDArray[np.int64], seed: int
    ) -> tuple[ArrayItems, int]:
        """Return the items, and how many features the head is given of each."""
        self._integers, config = False, self._network_config
        if config.backbone is None:
            standardize = learn_standardize(X[rows]) if config.standardize else None
            return ArrayItems(X, standardize=standardize), X.shape[1]
        X = X.reshape(len(X), *self._item_shape)
        with reproducible(seed):
            n_features, self._integers = probe_backbone(config.backbone, X[rows[:2]])
        return ArrayItems(X, pixels=True, integers=self._integers), n_features

    def _make_network(
        self,
        problem: Problem,
        n_outputs: int,
        *,
        bias: bool = True,
        linear: bool = False,
        batch_norm: bool = False,
        dropout: float | None = None,
    ) -> HashNetwork:
        """Return a network whose weights depend on the seed only.

        A `linear` one is a single layer on a copy of the backbone that stays as it is.
        """
        config = self._network_config
        hidden, backbone, trainable = config.widths, config.backbone, config.trainable
        if linear:
            hidden, backbone, trainable = [], deepcopy(backbone), 0
        sizes = [problem.n_features, *hidden, n_outputs]
        shown = " x ".join(map(str, sizes))
        advice = f"for a network of {shown} units: choose fewer in hidden"
        with reproducible(problem.seed), memory_advice(advice):
            head = Head(
                sizes,
                dropout=config.drop_rate(dropout),
                bias=bias,
                batch_norm=batch_norm,
            )
            return HashNetwork(head, backbone, trainable)

    def _class_features(self, problem: Problem) -> NDArray[np.float64]:
        """Return standardised features of the training items."""
        with reproducible(problem.seed):
            network = self._make_network(problem, 1).cpu()
            rows = torch.from_numpy(problem.train)
            size = self._training.batch_size
            features = features_of(network, problem.items, rows, size)
        found: NDArray[np.float64] = features.double().numpy()
        return found


def features_of(
    network: HashNetwork, items: Items, rows: torch.Tensor, batch_size: int
) -> torch.Tensor:
    """Return what the head is given of some rows, float32, on the CPU."""
    device = device_of(network)
    network.eval()
    advice = f"with training.batch_size={batch_size}: halve it"
    with torch.inference_mode(), memory_advice(advice):
        parts = [
            network.features(items[part].to(device)).cpu()
            for part in parts_of(rows, 4 * batch_size)
        ]
    return torch.cat(parts)
