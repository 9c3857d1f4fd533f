"""What training sees: devices and seeds, items, a backbone or none, a head."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners._core._device import (
    device_around,
    device_named,
    lacks_memory,
    tensor_signs,
)

#: Of a module.
State = dict[str, Any]


class _SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, scores: Tensor) -> Tensor:
        result: Tensor = tensor_signs(scores)
        return result

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0]


def straight_through(scores: Tensor) -> Tensor:
    """Return the signs of scores, 0 giving 1; gradients pass unchanged."""
    result: Tensor = _SignSTE.apply(scores)  # type: ignore[no-untyped-call]
    return result


def as_device(name: str) -> torch.device:
    # "auto" takes that of the block, `on_device`, or else a GPU if there is one.
    around = device_around() if name == "auto" else None
    device: torch.device = device_named(around or name)
    return device


def device_of(module: nn.Module) -> torch.device:
    parameter = next(module.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device


@contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Let a GPU sum in one order inside the block, as far as torch knows how."""
    # torch warns of an operation for which it does not.
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what cuBLAS asks for
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Seed torch inside the block, and leave its generators as they were outside."""
    with undisturbed():
        # `torch.manual_seed` notes where it was called from: milliseconds each time.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(seed)
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leave torch's generators as they were, whatever the block draws."""
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        yield


def copy_of(module: nn.Module) -> State:
    return {
        name: value.clone() if isinstance(value, Tensor) else deepcopy(value)
        for name, value in module.state_dict().items()
    }


Matrix = NDArray[np.float64]
Layer = tuple[Matrix, Matrix]  # weights and bias

MOST_BYTES = 1 << 31  #: What is made at once, rather than batch by batch.
#: What modules raise for items that they were not made for.
_REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, AssertionError)


class Standardize(nn.Module):
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


def learn_standardize(X: NDArray[Any]) -> Standardize:
    """Return the standardisation of features; constant ones keep their scale."""
    mean = X.mean(axis=0, dtype=np.float64)
    scale = X.std(axis=0, dtype=np.float64)
    least = 1e-6 * (np.abs(mean) + scale.max(initial=0))
    scale = np.where(scale > least, scale, 1.0)
    mean, scale = mean.astype(np.float32), scale.astype(np.float32)
    return Standardize(torch.from_numpy(mean), torch.from_numpy(scale))


class Items:
    """Rows of an array: kept as a tensor, or read as needed when it is large."""

    # They are features, or what a backbone takes: with `pixels`, uint8 are those of
    # images and become numbers from 0 to 1; `integers`, such as tokens, become int64
    # instead of float32. Features are standardised, once those that are kept.

    def __init__(
        self,
        X: NDArray[Any],
        *,
        pixels: bool = False,
        integers: bool = False,
        standardize: Standardize | None = None,
    ) -> None:
        self.X, self.standardize = X, standardize
        self._pixels, self._integers = pixels, integers
        size = X.size * (8 if integers else 4)
        whole = size <= MOST_BYTES and not isinstance(X, np.memmap)
        self._tensor = self._as_tensor(np.asarray(X)) if whole else None

    def __getitem__(self, rows: Tensor) -> Tensor:
        if self._tensor is None:
            return self._as_tensor(self.X[rows.numpy()])
        return self._tensor.index_select(0, rows)  # a quarter of the time of [rows]

    def _as_tensor(self, X: NDArray[Any]) -> Tensor:
        if self._integers:
            if X.dtype.kind not in "iu":
                raise FeatureError(
                    f"items must be integers, as those learnt from, got dtype {X.dtype}"
                )
            return torch.from_numpy(np.array(X, np.int64))
        if self._pixels and X.dtype == np.uint8:
            return torch.from_numpy(np.array(X)).float() / 255
        if X.dtype.kind not in "biuf":
            raise FeatureError(f"items must be numbers, got dtype {X.dtype}")
        tensor = torch.from_numpy(np.array(X, np.float32))
        if self.standardize is None:
            return tensor
        return self.standardize.in_place(tensor)


def parts_of(rows: Tensor, size: int) -> list[Tensor]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


class Head(nn.Module):
    """From features to scores: linear layers with ReLU between them."""

    #: Done to features first; nothing in training, whose items are standardised before.
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
        layers: list[Layer] = []
        for layer in self.layers:
            linear: Any = layer
            bias = np.zeros(linear.out_features)
            if linear.bias is not None:
                bias = _array(linear.bias)
            layers.append((_array(linear.weight).T, bias))
        if isinstance(self.standardize, Standardize):  # folded into the first layer
            weights, bias = layers[0]
            weights = weights / _array(self.standardize.scale)[:, None]
            layers[0] = weights, bias - _array(self.standardize.mean) @ weights
        if isinstance(self.norm, nn.BatchNorm1d):  # and this into the last
            norm, (weights, bias) = self.norm, layers[-1]
            factor = _array(norm.weight) / np.sqrt(_array(norm.running_var) + norm.eps)
            shift = _array(norm.bias) - _array(norm.running_mean) * factor
            layers[-1] = weights * factor, bias * factor + shift
        most = np.finfo(np.float32).max
        if not all((np.abs(M) <= most).all() for layer in layers for M in layer):
            raise FeatureError(
                "the trained weights leave the range of float32: standardize the "
                "features, or lower the learning rate"
            )
        if len(layers) == 1:
            return LinearEncoder(*layers[0], zero_bit=1)
        return MLPEncoder(*zip(*layers, strict=True), zero_bit=1)


def _array(tensor: Any) -> Matrix:
    array: Matrix = tensor.detach().cpu().numpy().astype(np.float64)
    return array


class HashNetwork(nn.Module):
    """A backbone, or nothing, and a head."""

    def __init__(
        self,
        head: Head,
        backbone: nn.Module | None = None,
        trainable: int | None = None,
    ) -> None:
        super().__init__()
        self.backbone, self.head = backbone, head
        #: Whether there is a backbone of which nothing is trained.
        self.keeps_backbone = backbone is not None and trainable == 0
        self._frozen = frozen_layers(backbone, trainable)
        self._still = still_modules(backbone, trainable)

    def forward(self, X: Tensor) -> Tensor:
        scores: Tensor = self.head(self.features(X))
        return scores

    def features(self, X: Tensor) -> Tensor:
        if self.backbone is None:
            return X
        output: Tensor = self.backbone(X)
        if output.ndim < 2 or len(output) != len(X):
            raise FeatureError(
                "the backbone must give each item a row of features, but gave "
                f"{tuple(output.shape)} for {len(X)} items"
            )
        features = output.flatten(start_dim=1).float()
        if features.shape[1] != self.head.n_inputs:
            raise FeatureError(
                f"the backbone gives {features.shape[1]} features, but gave "
                f"{self.head.n_inputs} to begin with"
            )
        return features

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Freeze the layers that are not trained, inside the block only."""
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
    return [
        module
        for module in backbone.modules()
        if next(module.parameters(recurse=False), None) is not None
    ]


def probe_backbone(backbone: nn.Module, X: NDArray[Any]) -> tuple[int, bool]:
    """Return how many features a backbone makes, and whether it takes int64 only."""
    # Items are given to it as float32, and integers that it refuses so as int64.
    device = device_of(backbone)
    backbone.eval()
    reasons = []
    for integers in (False, True) if X.dtype.kind in "iu" else (False,):
        items = Items(X, pixels=True, integers=integers)[torch.arange(len(X))]
        try:
            with torch.inference_mode():
                features = backbone(items.to(device))
        except _REFUSALS as error:
            if lacks_memory(error):
                raise
            line = str(error).splitlines()[0] if str(error) else type(error).__name__
            reasons.append(f"as {np.asarray(items).dtype}: {line}")
            cause = error
        else:
            break
    else:
        raise FeatureError(
            f"the backbone refuses items of shape {X.shape[1:]} {'; '.join(reasons)}"
        ) from cause
    is_tensor = isinstance(features, Tensor)
    shown = f"shape {tuple(features.shape)}" if is_tensor else type(features).__name__
    rows = is_tensor and features.ndim > 1 and len(features) == len(X)
    if not rows or not features.numel():
        raise FeatureError(
            f"the backbone must give one row of features for each of {len(X)} items, "
            f"got {shown}"
        )
    return int(features.flatten(start_dim=1).shape[1]), integers
