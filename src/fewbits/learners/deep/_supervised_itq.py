"""The deep form of supervised ITQ: a network, and a linear path beside it."""

from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import Learner, warn_constant_bits
from fewbits.learners._core._iterative import cached_step
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import (
    Config,
    check_integer,
    check_n_bits,
    check_verbose,
)
from fewbits.learners._core._rows import checksum, column_means
from fewbits.learners._itq import ITQ
from fewbits.learners._supervised_itq import check_supervision, supervision_of
from fewbits.learners.deep._config import NetworkConfig, TrainingConfig
from fewbits.learners.deep._hash import DeepHash
from fewbits.learners.deep._linear_path import with_linear_path
from fewbits.learners.deep._memberships import Memberships, memberships
from fewbits.learners.deep._torch import as_device
from fewbits.learners.deep.losses import CSQ

Float64Array = NDArray[np.float64]

#: Scores of the network that are rotated together with the features.
_N_SCORES, _CENTRES = 64, "hadamard"
#: Predictable centres of fewer classes have bits that are the same for all of them.
_FEW_CLASSES = 20
#: With more classes there are no memberships beside them.
_MOST_CLASSES = 1024


class DeepSupervisedITQ(Learner):
    """Rotate features, a network's scores and classes together: one code for all.

    The deep form of `fewbits.learners.SupervisedITQ`. A network that is trained on
    labels (CSQ, `DeepHash`) ranks known classes far better than linear maps do, and
    classes that come later worse than ITQ. Features beside its scores keep both; so do
    memberships in classes, which are alike for items of none.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    supervision : float or 'validated', default=0.5
        Share of the variance that comes from the network: 0 is `ITQ`, 1 is CSQ with
        predictable centres. 'validated' chooses it: classes and rows are held out, and
        the share taken with the best harmonic mean of mAP on known classes and on those
        held out (Xian et al., 2019). It trains six networks more, on at most 20,000
        rows.
    network : NetworkConfig or None, default=None
        Hidden layers, by default one; there is no backbone.
    training : TrainingConfig or None, default=None
        Epochs, batches, rates, and what is held out; None takes the defaults.
    n_iter : int, default=50
        Number of iterations of ITQ; 0 keeps a random rotation.
    device : str, default="auto"
        Of the network, as in `DeepHash`.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the network, the rotation, and which classes are held out.

    Attributes
    ----------
    encoder_ : LinearEncoder or MLPEncoder
        The learnt encoder, without torch; save this, not the learner.
    supervision_ : float
        The share that was used.
    validation_ : SupervisionScores or None
        What was measured for each share; None unless it was chosen.
    classes_ : ndarray of shape (n_classes,)
    held_out_ : ndarray of int64
        Rows of X that the network was not trained on.
    objective_ : ndarray of shape (n_iter_,)
        Of ITQ, as there; empty where nothing is rotated.
    n_iter_ : int
        Number of iterations of ITQ done.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Raises
    ------
    ArgumentError
        When y is missing or holds a single class; when 'validated' has fewer than three
        classes of six rows.

    Notes
    -----
    A method of fewbits. With scores ``g(x)`` of the network, the code is that of ITQ on
    ``[sqrt(1 - a) x / s, a g(x) / t, sqrt(a (1 - a)) m(x) / u]``, where s, t and u make
    the total variance of each block 1. Memberships ``m(x)`` are softmax over classes,
    of the products of scores and centres in units of their standard deviation, as log
    odds between -3 and 3 with a denominator that is the same for all items. With more
    than 1024 classes there are none, and the scores have their share.

    At 1 a network learns the bits themselves, at `predictable_centres`: these rank
    known classes better than rotated scores where classes differ in size. Of fewer than
    20 classes, and of more than there are codes, scores are rotated there, too.

    The encoder is one network: its hidden layers pass the features on beside their own
    units, as ``x = relu(x) - relu(-x)``, and another has the memberships.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Yuan et al., "Central Similarity Quantization for Efficient Image and Video
    Retrieval", CVPR 2020.

    Xian, Lampert, Schiele and Akata, "Zero-Shot Learning - A Comprehensive Evaluation
    of the Good, the Bad and the Ugly", TPAMI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners.deep import DeepSupervisedITQ, TrainingConfig
    >>> y = np.repeat([0, 1, 2], 40)
    >>> X = np.eye(3, 16)[y] * 4 + np.random.default_rng(0).normal(size=(120, 16))
    >>> short = TrainingConfig(max_epochs=5)
    >>> DeepSupervisedITQ(8, training=short, random_state=0).fit(X, y).encoder_
    MLPEncoder(16 -> 8 bits)
    """

    configs: ClassVar[dict[str, type[Config]]] = {
        "network": NetworkConfig,
        "training": TrainingConfig,
    }
    needs_labels = True

    def __init__(
        self,
        n_bits: int = 64,
        *,
        supervision: float | str = 0.5,
        network: NetworkConfig | None = None,
        training: TrainingConfig | None = None,
        n_iter: int = 50,
        device: str = "auto",
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.supervision = supervision
        self.network = network
        self.training = training
        self.n_iter = n_iter
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_supervision(self.supervision)
        check_integer("n_iter", self.n_iter, 0)
        check_verbose(self.verbose)
        self._check_configs()
        as_device(self.device)
        if self.network is not None and self.network.backbone is not None:
            raise ArgumentError(
                "DeepSupervisedITQ takes features: leave network.backbone out"
            )

    def _learn(self, X: Array, y: Any) -> Encoder:
        self.classes_, _ = indicator(y, X, type(self).__name__)
        share, self.validation_ = supervision_of(self, X, y)
        self.supervision_, self.held_out_ = share, np.empty(0, np.int64)
        if share == 0:
            return self._rotated(X)
        if share == 1 and _FEW_CLASSES <= len(self.classes_) <= 2**self.n_bits:
            return self._at_its_end(X, y)
        network, centres, self.held_out_ = self._network_of(X, y)
        scores = network.project(X)
        has_members = share < 1 and len(centres) <= _MOST_CLASSES
        members = memberships(scores, centres) if has_members else None
        Z, scale, mean = blocks(X, scores, members, share)
        itq = self._rotated(Z)
        outer = scale[:, None] * itq.weights.astype(np.float64)
        bias = itq.bias - mean @ outer
        encoder = with_linear_path(network, members, outer, bias)
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder

    def _at_its_end(self, X: Array, y: Any) -> Encoder:
        """Return a network whose scores are the code's, without a rotation."""
        found = self._network_of(X, y, self.n_bits, "predictable")
        encoder, _, self.held_out_ = found
        self.objective_, self.n_iter_ = np.empty(0), 0
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder

    def _network_of(
        self, X: Array, y: Any, n_scores: int = _N_SCORES, centres: str = _CENTRES
    ) -> tuple[Encoder, NDArray[np.int8], NDArray[np.int64]]:
        """Return a network's map to scores, their centres, and rows it did not see.

        Fits that share their steps share it.
        """
        rng = check_random_state(self.random_state)
        learner = DeepHash(
            n_scores,
            loss=CSQ(centres),
            network=self.network,
            training=self.training,
            device=self.device,
            verbose=self.verbose,
            random_state=int(rng.randint(2**31 - 1)),
        )
        settings = repr(learner.get_params())
        _, Y = indicator(y, X, type(self).__name__)
        labels = Y.indptr.tobytes(), Y.indices.tobytes()
        return cached_step(
            "network",
            lambda: (checksum(X), labels, settings),
            lambda: _learnt(learner.fit(X, y)),
        )

    def _rotated(self, X: Array) -> LinearEncoder:
        """Return ITQ's encoder of these rows; its iterations are this learner's."""
        itq = ITQ(
            self.n_bits,
            n_iter=self.n_iter,
            verbose=self.verbose,
            random_state=self.random_state,
        ).fit(X)
        self.objective_, self.n_iter_ = itq.objective_, itq.n_iter_
        self.n_dead_bits_ = itq.n_dead_bits_
        return cast("LinearEncoder", itq.encoder_)


def _learnt(
    learner: DeepHash,
) -> tuple[Encoder, NDArray[np.int8], NDArray[np.int64]]:
    assert learner.centres_ is not None  # those of CSQ
    return learner.encoder_, learner.centres_, learner.held_out_


def blocks(
    X: Array, scores: NDArray[np.float32], members: Memberships | None, share: float
) -> tuple[NDArray[np.float32], Float64Array, Float64Array]:
    """Return features, scores and memberships beside each other, with their shares.

    Returns
    -------
    Z : ndarray of shape (n, n_features + n_scores [+ n_classes]), dtype float32
        ``scale * ([x, g(x), m(g(x))] - mean)``
    scale, mean : ndarray of shape (n_features + n_scores [+ n_classes],)
    """
    parts, shares = [np.asarray(X, np.float32), scores], [1 - share, share]
    if members is not None:
        parts.append(members.of(scores))
        shares[1:] = share**2, share * (1 - share)
    means = [column_means(part) for part in parts]
    scales = []
    for part, mean, each in zip(parts, means, shares, strict=True):
        variance = float(np.square(part - mean).sum(axis=1).mean())
        scale = np.sqrt(each / variance) if variance else 0.0
        scales.append(np.full(len(mean), scale))
    scale, mean = np.concatenate(scales), np.concatenate(means)
    return ((np.hstack(parts) - mean) * scale).astype(np.float32), scale, mean
