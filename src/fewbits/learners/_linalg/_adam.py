"""Adam, for gradients that are written by hand."""

from collections.abc import Sequence

from fewbits.learners._core._device import Matrix, namespace

Parameters = Sequence[Matrix]

_DECAYS = 0.9, 0.999  # of the means, as the authors recommend
_TINY = 1e-8


class Adam:
    """Steps along gradients, each entry in units of what it usually is.

    Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, alg. 1. The
    parameters are changed in place.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.means = [namespace(x).zeros_like(x) for x in parameters]
        self.squares = [namespace(x).zeros_like(x) for x in parameters]
        self.n_steps = 0

    def step(self, gradients: Parameters, rate: float) -> None:
        self.n_steps += 1
        first, second = (1 - decay**self.n_steps for decay in _DECAYS)
        slots = zip(self.parameters, self.means, self.squares, gradients, strict=True)
        for parameter, mean, square, gradient in slots:
            mean += (1 - _DECAYS[0]) * (gradient - mean)
            square += (1 - _DECAYS[1]) * (gradient**2 - square)
            root = namespace(square).sqrt(square / second)
            parameter -= rate * (mean / first) / (root + _TINY)
