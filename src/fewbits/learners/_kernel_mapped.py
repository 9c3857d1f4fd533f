"""Any learner behind a homogeneous kernel map."""

from dataclasses import KW_ONLY, asdict, dataclass
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from fewbits._typing import Array
from fewbits.encoders import KernelMap, KernelMapEncoder, kernel_map
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._rows import is_mapped
from fewbits.learners._kernel_map import in_memory, mapped_blocks, mapped_shape


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
    order : int, default=1
    gamma : float, default=1
    interval : float, default=None
    signed : bool, default=False
        See `HomogeneousKernelMap`.

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
    n_features_in_ : int

    Raises
    ------
    ArgumentError
        From `fit`, when a parameter is out of range, here or in `learner`.
    FeatureError
        From `fit` and `encode`, when X has negative values, unless `signed`.

    Notes
    -----
    Mapped features are kept in memory, or in a temporary file when X is a memory map.

    References
    ----------
    Vedaldi and Zisserman, "Efficient Additive Kernels via Explicit Feature Maps", CVPR
    2010; used by Bergamo, Torresani and Fitzgibbon, "PiCoDes", NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).dirichlet(np.ones(8), size=100)
    >>> mapped = KernelMapped(ITQ(n_bits=16, random_state=0), kernel="chi2").fit(X)
    >>> mapped.encoder_
    KernelMapEncoder(8 -> 16 bits)
    >>> mapped.encode(X).shape
    (100, 2)
    """

    learner: Learner
    _: KW_ONLY
    kernel: str = "intersection"
    order: int = 1
    gamma: float = 1.0
    interval: float | None = None
    signed: bool = False

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
        self.learner_ = clone(self.learner).fit(_mapped(X, kernel), y)
        self.objective_ = self.learner_.objective_
        if hasattr(self.learner_, "n_dead_bits_"):  # and so has warned of them
            self.n_dead_bits_ = self.learner_.n_dead_bits_
        return KernelMapEncoder(self.learner_.encoder_, **asdict(kernel))

    def _kernel_map(self) -> KernelMap:
        return kernel_map(
            self.kernel, self.order, self.gamma, self.interval, self.signed
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.signed
        tags.target_tags = get_tags(self.learner).target_tags
        return tags


def _mapped(X: Array, kernel: KernelMap) -> NDArray[np.float32]:
    """Map all rows, into a file without a name when X is in a file itself."""
    if not is_mapped(X):
        return in_memory(X, kernel)
    with TemporaryFile() as file:
        for _, block in mapped_blocks(X, kernel):
            file.write(block.data)
        file.flush()
        return np.memmap(file, np.float32, "r", shape=mapped_shape(X, kernel))
