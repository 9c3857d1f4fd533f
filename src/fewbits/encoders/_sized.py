"""Helpers of encoders whose arrays do not imply the number of features."""

import numpy as np
from numpy.typing import ArrayLike

from fewbits.encoders._base import Encoder, Tensors, as_zero_bit, frozen
from fewbits.errors import ArgumentError


class SizedEncoder(Encoder):
    """An encoder that keeps its number of features beside one bias for each bit."""

    def __init__(self, bias: ArrayLike, n_features: ArrayLike, zero_bit: int) -> None:
        self.bias, size = frozen(bias), frozen(n_features, np.int64)
        if size.size != 1:
            raise ArgumentError(f"n_features must be one number, got {size.tolist()}")
        self._n_features = int(size.item())
        self.zero_bit = as_zero_bit(zero_bit)

    @property
    def n_features(self) -> int:
        return self._n_features

    @property
    def n_bits(self) -> int:
        return len(self.bias)

    def tensors(self) -> Tensors:
        return {"bias": self.bias, "n_features": np.array([self.n_features], np.int64)}
