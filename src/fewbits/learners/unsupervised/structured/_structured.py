"""Base class of projections that never form their matrix."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import Encoder

AnyEncoder = TypeVar("AnyEncoder", bound=Encoder)


def centred(encoder: AnyEncoder, mean: NDArray[np.float64]) -> AnyEncoder:
    """Return an encoder without a bias as one that takes `mean` off its features.

    Its own scores of the mean do as well as exact ones: they err by no more than the
    scores of a row near the mean.
    """
    bias = -encoder.project(mean[None])[0]
    parts: dict[str, Any] = {**encoder.tensors(), "bias": bias}
    return type(encoder)(**parts | {"zero_bit": encoder.zero_bit})
