"""An encoder behind a map whose dot products are an additive kernel."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders._base import Encoder, Tensors, frozen
from fewbits.encoders._homogeneous import kernel_map
from fewbits.encoders._inner import OuterEncoder, as_text, inner_tensors, word_of
from fewbits.errors import ArgumentError


@final
class KernelMapEncoder(OuterEncoder):
    """An encoder behind a homogeneous kernel map.

    The map gives each feature ``2 * order + 1`` values, such that the dot product of
    two mapped rows is about the kernel of the rows, a sum over their features. A
    hyperplane on the mapped features is a curved surface on the features themselves.

    Parameters
    ----------
    inner : Encoder
        Takes ``2 * order + 1`` values for each feature: the first of all features, then
        the second of all features, and so on.
    kernel : {'intersection', 'chi2', 'js'}, default='intersection'
        ``min(a, b)``, ``2 a b / (a + b)``, or the Jensen-Shannon kernel ``a / 2 log2((a
        + b) / a) + b / 2 log2((a + b) / b)``.
    order : int, default=1
        Frequencies of the map, 1 to 100.
    gamma : float, default=1
        Degree of homogeneity, above 0 and at most 2: the kernel is multiplied by
        ``(a b)^((gamma - 1) / 2)``.
    interval : float, default=None
        Distance of the frequencies, above 0 and at most 10; None takes one that suits
        the kernel and the order.
    signed : bool, default=False
        Take negative features, as ``map(-x) = -map(x)``, rather than refuse them.

    Attributes
    ----------
    inner : Encoder
    map : KernelMap
        The parameters of the map, with the interval that is used.

    Raises
    ------
    ArgumentError
        When a parameter is out of range, or the inner encoder takes a number of
        features that is not a multiple of ``2 * order + 1``.
    FeatureError
        When a row that is encoded has negative features, unless `signed`.

    Notes
    -----
    The mapped features are float32, rounded from values that are the same on every
    machine: they use only operations that IEEE 754 defines to the last bit.

    References
    ----------
    Vedaldi and Zisserman, "Efficient Additive Kernels via Explicit Feature Maps", CVPR
    2010; used by Bergamo, Torresani and Fitzgibbon, "PiCoDes", NIPS 2011.

    Examples
    --------
    >>> from fewbits.encoders import LinearEncoder
    >>> inner = LinearEncoder([[1.0], [0.0], [0.0]], [-1.0])
    >>> encoder = KernelMapEncoder(inner, "chi2", interval=0.5)
    >>> encoder
    KernelMapEncoder(1 -> 1 bits)
    >>> encoder.project([[0.0], [2.0], [8.0]])
    array([[-1.],
           [ 0.],
           [ 1.]], dtype=float32)
    """

    kind: ClassVar[str] = "kernel-map"

    def __init__(
        self,
        inner: Encoder,
        kernel: str = "intersection",
        *,
        order: int = 1,
        gamma: float = 1.0,
        interval: float | None = None,
        signed: bool = False,
    ) -> None:
        if not isinstance(inner, Encoder) or isinstance(inner, KernelMapEncoder):
            raise ArgumentError(f"need an encoder behind the map, got {inner!r}")
        self.inner, self.zero_bit = inner, inner.zero_bit
        self.map = kernel_map(kernel, order, gamma, interval, signed)
        if inner.n_features % self.map.n_values:
            raise ArgumentError(
                f"a map of order {self.map.order} gives {self.map.n_values} values for "
                f"each feature, but the inner encoder takes {inner.n_features}"
            )

    @classmethod
    def from_tensors(cls, inner: Encoder, tensors: Tensors) -> Self:
        """Rebuild what `tensors` gave, except for the inner encoder."""
        return cls(
            inner,
            word_of(tensors["kernel"]),
            order=tensors["order"].item(),
            gamma=tensors["gamma"].item(),
            interval=tensors["interval"].item(),
            signed=bool(tensors["signed"].item()),
        )

    @property
    def n_features(self) -> int:
        return self.inner.n_features // self.map.n_values

    def tensors(self) -> Tensors:
        return {
            **inner_tensors(self.inner),
            "inner": as_text(self.inner.kind),
            "kernel": as_text(self.map.kernel),
            "order": frozen([self.map.order], np.int64),
            "gamma": frozen([self.map.gamma], np.float64),
            "interval": frozen([self.map.interval], np.float64),
            "signed": frozen([self.map.signed], np.uint8),
        }

    def _mapped(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        return self.map.blocks(X)

    def _prefix(self, n_bits: int) -> Self:
        return type(self)(self.inner.prefix(n_bits), **asdict(self.map))
