"""What projections have in common that never form their matrix."""

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import Encoder
from fewbits.learners._rows import Rows

AnyEncoder = TypeVar("AnyEncoder", bound=Encoder)


def centred(encoder: AnyEncoder, mean: NDArray[np.float64]) -> AnyEncoder:
    """Return an encoder without a bias as one that takes `mean` off its features.

    Its own scores of the mean do as well as exact ones: they err by no more than the
    scores of a row near the mean.
    """
    bias = -encoder.project(mean[None])[0]
    parts: dict[str, Any] = {**encoder.tensors(), "bias": bias}
    return type(encoder)(**parts | {"zero_bit": encoder.zero_bit})


def unit_rows(rows: Rows) -> Iterator[NDArray[np.float64]]:
    """Walk over rows scaled to unit length; a row of zeros stays as it is."""
    for block in rows:
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        yield block / np.where(lengths > 0, lengths, 1)
