"""A homogeneous kernel map in front of any learner."""

from __future__ import annotations

from dataclasses import KW_ONLY, asdict, dataclass
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from fewbits._typing import Array
from fewbits.encoders import KernelMap, KernelMapEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._rows import as_float32, is_mapped, line_spans


@dataclass(eq=False, repr=False)
class KernelMapped(Learner):
    """Learn codes of features behind a homogeneous kernel map.

    Any learner then approximates its kernel version: hyperplanes on the mapped features
    are curved surfaces on the features. PiCoDes are learnt like this, from histograms.

    Parameters
    ----------
    learner : Learner
        Learns from the mapped features, ``2 * order + 1`` times as many; a clone is
        fitted. Its parameters can be reached as ``learner__n_bits`` and so on.
    kernel : {'intersection', 'chi2', 'js'}, default='intersection'
        ``min(a, b)``, ``2 a b / (a + b)``, or the Jensen-Shannon kernel ``a / 2 log2((a
        + b) / a) + b / 2 log2((a + b) / b)``; summed over the features.
    order : int, default=1
        Frequencies of the map, 1 to 100: a feature becomes ``2 * order + 1`` values.
    gamma : float, default=1
        Degree of homogeneity, above 0 and at most 2: the kernel is multiplied by
        ``(a b)^((gamma - 1) / 2)``.
    interval : float, default=None
        Distance of the frequencies, above 0 and at most 10; None takes one that suits
        the kernel and the order: for order 1 it is 0.6, 0.5 and 0.4.
    signed : bool, default=False
        Take negative features, as ``map(-x) = -map(x)``, rather than refuse them.

    Attributes
    ----------
    encoder_ : KernelMapEncoder
        The map and what was learnt; save this, not the learner.
    learner_ : Learner
        The fitted clone; its ``encoder_`` takes mapped features.
    objective_ : ndarray of shape (n_iter_,)
        That of `learner_`.
    n_dead_bits_ : int
        That of `learner_`, if it counts them.

    Notes
    -----
    The mean of ``|map(a) @ map(b) - kernel| / sqrt(a b)``, for a and b log-uniform in
    [0.001, 1], is .086, .063 and .045 at order 1, and .053, .022 and .013 at order 2.
    Mapped features are kept in memory, or in a temporary file when X is a memory map.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).dirichlet(np.ones(8), size=100)
    >>> mapped = KernelMapped(ITQ(n_bits=16, random_state=0), kernel="chi2").fit(X)
    >>> mapped.encoder_
    KernelMapEncoder(8 -> 16 bits)
    """

    learner: Learner
    _: KW_ONLY
    kernel: str = "intersection"
    order: int = 1
    gamma: float = 1.0
    interval: float | None = None
    signed: bool = False

    _dead_bits = None  # `learner_` counts them, and warns

    def _check_parameters(self) -> None:
        self._kernel_map()
        if not isinstance(self.learner, Learner) or isinstance(
            self.learner, KernelMapped
        ):
            raise ArgumentError(
                f"learner must be a learner such as PiCoDes(), got {self.learner!r}"
            )
        self.learner._check()

    def _learn(self, X: Array, y: Any) -> KernelMapEncoder:
        kernel = self._kernel_map()
        shape = len(X), kernel.n_values * X.shape[1]
        values: NDArray[np.float32]
        if is_mapped(X):
            with TemporaryFile() as file:  # without a name
                values = np.memmap(file, np.float32, "w+", shape=shape)
        else:
            values = np.empty(shape, np.float32)
        for span in line_spans(*shape, least=1):
            values[span] = kernel(as_float32(X[span]))
        self.learner_ = clone(self.learner).fit(values, y)
        self.objective_ = self.learner_.objective_
        if hasattr(self.learner_, "n_dead_bits_"):
            self.n_dead_bits_ = self.learner_.n_dead_bits_
        return KernelMapEncoder(self.learner_.encoder_, **asdict(kernel))

    def _kernel_map(self) -> KernelMap:
        return KernelMap(
            self.kernel, self.order, self.gamma, self.interval, self.signed
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.signed
        tags.target_tags = get_tags(self.learner).target_tags
        return tags
