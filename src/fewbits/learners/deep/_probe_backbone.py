"""Probe of what a backbone takes and gives, with two items before training."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fewbits.errors import FeatureError
from fewbits.learners.deep._data import ArrayItems
from fewbits.learners.deep._torch import device_of, memory_advice

#: What modules raise for items that they were not made for.
_REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, AssertionError)


class BackboneProbe(NamedTuple):
    """Facts known of a backbone.

    Attributes
    ----------
    width : int
        How many features it gives for each item.
    integers : bool
        Whether it takes the items as integers only, as embeddings of tokens do.
    """

    width: int
    integers: bool


def probe_backbone(backbone: nn.Module, X: NDArray[Any]) -> BackboneProbe:
    """Give some items to a backbone: as float32, and integers that it refuses as int64.

    Raises
    ------
    FeatureError
        When it refuses them, or does not give a row of features for each.
    FewbitsError
        When there is no memory for them.
    """
    reasons = []
    for integers in (False, True) if X.dtype.kind in "iu" else (False,):
        items = ArrayItems(X, pixels=True, integers=integers)[torch.arange(len(X))]
        try:
            features = _features(backbone, items)
        except _REFUSALS as error:
            reasons.append(f"as {np.asarray(items).dtype}: {_first_line(error)}")
            cause = error
        else:
            return BackboneProbe(_width(features, len(items)), integers)
    raise FeatureError(
        f"the backbone refuses items of shape {X.shape[1:]} {'; '.join(reasons)}"
    ) from cause


def _features(backbone: nn.Module, items: Tensor) -> Any:
    device = device_of(backbone)
    advice = (
        f"with {len(items)} items in the backbone on {device}, before training: free "
        "some there, or move the backbone to another device"
    )
    backbone.eval()
    with torch.inference_mode(), memory_advice(advice):
        return backbone(items.to(device))


def _width(features: Any, n: int) -> int:
    if not isinstance(features, Tensor) or features.shape[:1] != (n,):
        raise FeatureError(
            f"the backbone must give one row of features for each of {n} items, got "
            f"{_shown(features)}"
        )
    if features.ndim < 2:
        raise FeatureError(
            "the backbone must give rows (n, n_features), got one number for each "
            f"item, {_shown(features)}"
        )
    if not features.numel():
        raise FeatureError(f"the backbone gives no features, {_shown(features)}")
    return int(features.flatten(start_dim=1).shape[1])


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _shown(value: Any) -> str:
    is_tensor = isinstance(value, Tensor)
    return f"shape {tuple(value.shape)}" if is_tensor else type(value).__name__
