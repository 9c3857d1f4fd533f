"""The network that training sees, and the encoder that is deployed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder
from fewbits.errors import ArgumentError, FeatureError

Matrix = NDArray[np.float64]


class Standardize(nn.Module):
    """Features less their mean, over their standard deviation."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, X: Tensor) -> Tensor:
        return (X - self.mean) / self.scale

    def in_place(self, X: Tensor) -> Tensor:
        """Return the same, to the bit, in the memory of `X`."""
        return X.sub_(self.mean).div_(self.scale)


class Head(nn.Module):
    """From features to scores: linear layers with ReLU between them.

    Parameters
    ----------
    sizes : sequence of int
        Features, widths of hidden layers, bits.
    dropout : float
        In front of each layer but the first.
    bias : bool
        Whether the last layer has a constant.
    batch_norm : bool
        Whether scores are normalised over the batch.

    Attributes
    ----------
    standardize : Module
        What is done to features first; nothing while it is trained, since the items
        that it is given are standardised already.
    """

    standardize: nn.Module

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        dropout: float = 0.0,
        bias: bool = True,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        self.standardize = nn.Identity()
        last = len(sizes) - 2
        self.layers = nn.ModuleList(
            nn.Linear(sizes[i], sizes[i + 1], bias=bias or i < last)
            for i in range(last + 1)
        )
        self.n_inputs, self.n_outputs = sizes[0], sizes[-1]
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.BatchNorm1d(sizes[-1]) if batch_norm else nn.Identity()

    def forward(self, features: Tensor) -> Tensor:
        hidden = self.standardize(features)
        for i, layer in enumerate(self.layers):
            if i:
                hidden = self.dropout(torch.relu(hidden))
            hidden = layer(hidden)
        scores: Tensor = self.norm(hidden)
        return scores

    def encoder(self) -> Encoder:
        """Return the same map without torch; a score of 0 gives a 1."""
        layers = [_affine(layer) for layer in self.layers]
        if isinstance(self.standardize, Standardize):
            layers[0] = _after(self.standardize, layers[0])
        if isinstance(self.norm, nn.BatchNorm1d):
            layers[-1] = _before(self.norm, layers[-1])
        for weights, bias in layers:
            if not _fits_float32(weights) or not _fits_float32(bias):
                raise FeatureError(
                    "the trained weights leave the range of float32: standardize the "
                    "features, or lower the learning rate"
                )
        if len(layers) == 1:
            return LinearEncoder(*layers[0], zero_bit=1)
        return MLPEncoder(*zip(*layers, strict=True), zero_bit=1)


class HashNetwork(nn.Module):
    """A backbone, or nothing, and a head.

    Parameters
    ----------
    head : Head
    backbone : Module or None
        Gives features (b, n_features); None takes the input as features.
    trainable : int or None
        How many of the backbone's last layers with parameters are trained; 0 freezes
        it, None trains all that its owner has not frozen.

    Attributes
    ----------
    keeps_backbone : bool
        Whether there is one of which nothing is trained.
    """

    def __init__(
        self,
        head: Head,
        backbone: nn.Module | None = None,
        trainable: int | None = None,
    ) -> None:
        super().__init__()
        self.backbone, self.head = backbone, head
        self.keeps_backbone = backbone is not None and trainable == 0
        self._frozen = frozen_layers(backbone, trainable)
        self._still = still_modules(backbone, trainable)

    def forward(self, X: Tensor) -> Tensor:
        scores: Tensor = self.head(self.features(X))
        return scores

    def features(self, X: Tensor) -> Tensor:
        """Return what the head is given."""
        if self.backbone is None:
            return X
        made: Tensor = self.backbone(X)
        if made.ndim < 2 or len(made) != len(X):
            raise FeatureError(
                "the backbone must give each item a row of features, but gave "
                f"{tuple(made.shape)} for {len(X)} items"
            )
        features = made.flatten(start_dim=1).float()
        if features.shape[1] != self.head.n_inputs:
            raise FeatureError(
                f"the backbone gives {features.shape[1]} features, but gave "
                f"{self.head.n_inputs} to begin with"
            )
        return features

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Freeze the layers that are not trained, inside the block only.

        The backbone is its owner's, who may train it otherwise afterwards.
        """
        parameters = [p for layer in self._frozen for p in layer.parameters(False)]
        before = [p.requires_grad for p in parameters]
        for parameter in parameters:
            parameter.requires_grad_(False)
        try:
            yield
        finally:
            for parameter, needed in zip(parameters, before, strict=True):
                parameter.requires_grad_(needed)

    def train(self, mode: bool = True) -> "HashNetwork":
        """Leave what is not trained as it is: no new statistics, nothing at random."""
        super().train(mode)
        for module in self._still:
            module.eval()
        return self


def frozen_layers(backbone: nn.Module | None, trainable: int | None) -> list[nn.Module]:
    """Return all layers that have parameters but the last `trainable` of them."""
    if backbone is None or trainable is None:
        return []
    layers = _layers(backbone)
    if trainable > len(layers):
        raise ArgumentError(
            f"trainable={trainable}, but the backbone has {len(layers)} layers with "
            "parameters"
        )
    return layers[: len(layers) - trainable]


def still_modules(backbone: nn.Module | None, trainable: int | None) -> list[nn.Module]:
    """Return all modules in front of the first trained layer but those around one."""
    if backbone is None or trainable is None:
        return []
    modules, layers = list(backbone.modules()), _layers(backbone)
    trained = set(layers) - set(frozen_layers(backbone, trainable))
    ahead = takewhile(lambda module: module not in trained, modules)
    return [module for module in ahead if trained.isdisjoint(module.modules())]


def _layers(backbone: nn.Module) -> list[nn.Module]:
    """Return the modules that have parameters of their own."""
    return [
        module
        for module in backbone.modules()
        if next(module.parameters(recurse=False), None) is not None
    ]


def learn_standardize(X: NDArray[Any]) -> Standardize:
    """Return the standardisation of features; constant ones keep their scale."""
    mean = X.mean(axis=0, dtype=np.float64)
    scale = X.std(axis=0, dtype=np.float64)
    least = 1e-6 * (np.abs(mean) + scale.max(initial=0))
    scale = np.where(scale > least, scale, 1.0)
    return Standardize(_float32(mean), _float32(scale))


def _after(standardize: Standardize, layer: tuple[Matrix, Matrix]) -> Any:
    """Fold a standardisation into the layer behind it."""
    weights, bias = layer
    weights = weights / _array(standardize.scale)[:, None]
    return weights, bias - _array(standardize.mean) @ weights


def _before(norm: nn.BatchNorm1d, layer: tuple[Matrix, Matrix]) -> Any:
    """Fold a batch normalisation into the layer in front of it."""
    weights, bias = layer
    assert norm.running_var is not None
    assert norm.running_mean is not None
    factor = _array(norm.weight) / np.sqrt(_array(norm.running_var) + norm.eps)
    shift = _array(norm.bias) - _array(norm.running_mean) * factor
    return weights * factor, bias * factor + shift


def _array(tensor: Tensor) -> Matrix:
    array: Matrix = tensor.detach().cpu().numpy().astype(np.float64)
    return array


def _affine(layer: Any) -> tuple[Matrix, Matrix]:
    has_bias = layer.bias is not None
    bias = _array(layer.bias) if has_bias else np.zeros(layer.out_features)
    return _array(layer.weight).T, bias


def _float32(values: Matrix) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _fits_float32(values: Matrix) -> bool:
    return bool((np.abs(values) <= np.finfo(np.float32).max).all())
