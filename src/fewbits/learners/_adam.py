"""Adam, for gradients that are written by hand."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Adam:
    """Step along gradients, each divided by its usual size.

    Parameters
    ----------
    parameters : sequence of ndarray
        Changed in place.
    n_steps : int
        Over which the rate falls to 0, along half a cosine.
    rate : float
        Of the first step.

    References
    ----------
    Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, alg. 1.
    """

    def __init__(
        self, parameters: Sequence[NDArray[np.float32]], n_steps: int, rate: float
    ) -> None:
        self.parameters, self.n_steps, self.rate = parameters, n_steps, rate
        self.step_number = 0
        self._mean = [np.zeros_like(each) for each in parameters]
        self._square = [np.zeros_like(each) for each in parameters]

    def step(self, gradients: Sequence[NDArray[np.float32]]) -> None:
        """Change the parameters."""
        rate = self.rate * (1 + np.cos(np.pi * self.step_number / self.n_steps)) / 2
        self.step_number += 1
        t = self.step_number
        moments = zip(self._mean, self._square, strict=True)
        for parameter, gradient, (mean, square) in zip(
            self.parameters, gradients, moments, strict=True
        ):
            mean += np.float32(0.1) * (gradient - mean)
            square += np.float32(0.001) * (gradient**2 - square)
            size = np.sqrt(square / np.float32(1 - 0.999**t)) + np.float32(1e-8)
            parameter -= np.float32(rate / (1 - 0.9**t)) * mean / size
