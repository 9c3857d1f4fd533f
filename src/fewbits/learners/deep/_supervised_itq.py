"""The deep form of supervised ITQ: a network, and a linear path beside it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._iterative import cached_step
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import FROM_0, USUAL, Config
from fewbits.learners._core._rows import checksum, column_means
from fewbits.learners._itq import InnerITQ
from fewbits.learners._supervised_itq import SUPERVISION, supervision_of
from fewbits.learners.deep._config import NetworkConfig, TrainingConfig
from fewbits.learners.deep._hash import DeepHash
from fewbits.learners.deep._network import as_device
from fewbits.learners.deep.losses import CSQ

Float64Array = NDArray[np.float64]
Layer = tuple[Float64Array, Float64Array]  # weights and bias

#: Scores of the network that are rotated together with the features.
_N_SCORES, _CENTRES = 64, "hadamard"
#: Predictable centres of fewer classes have bits that are the same for all of them.
_FEW_CLASSES = 20
#: With more classes there are no memberships beside them.
_MOST_CLASSES = 1024
#: Log odds beyond which an item belongs to a class, or does not; then ReLU gives them.
_LIMIT = 3.0
#: Items that tell how large products are, or a few more.
_ITEMS = 10_000


@dataclass(eq=False, repr=False)
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

    Notes
    -----
    A method of fewbits. With scores ``g(x)`` of the network, the code is that of ITQ on
    ``[sqrt(1 - a) x / s, a g(x) / t, sqrt(a (1 - a)) m(x) / u]``, where s, t and u make
    the total variance of each block 1. Memberships ``m(x)`` are softmax over classes,
    of the products of scores and centres in units of their standard deviation, as log
    odds between -3 and 3 with a denominator that is the same for all items. With more
    than 1024 classes there are none, and the scores have their share. At 1 a network
    learns the bits themselves, at `predictable_centres`; of fewer than 20 classes, and
    of more than there are codes, scores are rotated there, too.

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

    n_bits: int = 64
    _: KW_ONLY
    supervision: float | str = 0.5
    network: NetworkConfig | None = None
    training: TrainingConfig | None = None
    n_iter: int = 50
    device: str = "auto"
    verbose: bool = False
    random_state: Any = None

    constraints: ClassVar = USUAL | {"supervision": SUPERVISION, "n_iter": FROM_0}

    def _check_parameters(self) -> None:
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
            # The scores are the code's, without a rotation.
            encoder, _, self.held_out_ = self._network_of(
                X, y, self.n_bits, "predictable"
            )
            self.n_iter_ = 0
            return encoder
        network, centres, self.held_out_ = self._network_of(X, y)
        scores = network.project(X)
        has_members = share < 1 and len(centres) <= _MOST_CLASSES
        members = _memberships(scores, centres) if has_members else None
        Z, scale, mean = _blocks(X, scores, members, share)
        itq = self._rotated(Z)
        outer = scale[:, None] * itq.weights.astype(np.float64)
        bias = itq.bias - mean @ outer
        return _with_linear_path(network, members, outer, bias)

    def _network_of(
        self, X: Array, y: Any, n_scores: int = _N_SCORES, centres: str = _CENTRES
    ) -> tuple[Encoder, NDArray[np.int8], NDArray[np.int64]]:
        """Return a network's map to scores, their centres, and rows it did not see."""
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

        def fitted() -> tuple[Encoder, NDArray[np.int8], NDArray[np.int64]]:
            learner.fit(X, y)
            assert learner.centres_ is not None  # those of CSQ
            return learner.encoder_, learner.centres_, learner.held_out_

        return cached_step("network", lambda: (checksum(X), labels, settings), fitted)

    def _rotated(self, X: Array) -> LinearEncoder:
        itq = InnerITQ(
            self.n_bits,
            n_iter=self.n_iter,
            verbose=self.verbose,
            random_state=self.random_state,
        ).fit(X)
        self.objective_, self.n_iter_ = itq.objective_, itq.n_iter_
        return cast("LinearEncoder", itq.encoder_)


class _Memberships(NamedTuple):
    """Log odds of classes by scores g, ``g @ weights + bias``, cut at 3."""

    weights: Float64Array  # (n_scores, n_classes)
    bias: Float64Array  # (n_classes,)

    def of(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        odds = scores @ self.weights.astype(np.float32) + self.bias.astype(np.float32)
        return odds.clip(-_LIMIT, _LIMIT)


def _memberships(
    scores: NDArray[np.float32], centres: NDArray[np.int8]
) -> _Memberships:
    # They stand for softmax over the products of scores and centres, in units of their
    # standard deviation. What the other classes add to its denominator changes little
    # from item to item: without the largest, its median over items takes its place.
    C = centres.T.astype(np.float64)
    some = scores[:: max(1, len(scores) // _ITEMS)]
    products = some.astype(np.float64) @ C
    mean, scale = products.mean(), products.std() or 1.0
    products = np.sort((products - mean) / scale, axis=1)
    others = float(np.median(logsumexp(products[:, :-1], axis=1)))
    return _Memberships(C / scale, np.full(C.shape[1], -mean / scale - others))


def _blocks(
    X: Array, scores: NDArray[np.float32], members: _Memberships | None, share: float
) -> tuple[NDArray[np.float32], Float64Array, Float64Array]:
    """Return Z, scale and mean: ``Z = scale * ([x, g(x), m(g(x))] - mean)``."""
    parts, shares = [np.asarray(X, np.float32), scores], [1 - share, share]
    if members is not None:
        parts.append(members.of(scores))
        shares[1:] = share**2, share * (1 - share)
    means = [column_means(part) for part in parts]
    scales = []
    for part, mean, of_part in zip(parts, means, shares, strict=True):
        variance = float(np.square(part - mean).sum(axis=1).mean())
        scale = np.sqrt(of_part / variance) if variance else 0.0
        scales.append(np.full(len(mean), scale))
    scale, mean = np.concatenate(scales), np.concatenate(means)
    return ((np.hstack(parts) - mean) * scale).astype(np.float32), scale, mean


def _with_linear_path(
    network: Encoder,
    members: _Memberships | None,
    outer: Float64Array,
    bias: Float64Array,
) -> Encoder:
    """Return the map ``[x, g(x), m(g(x))] @ outer + bias`` of a network g."""
    # Hidden layers pass on x, or its bits where they are fewer, beside their own units:
    # ``relu(x)`` and ``relu(-x)``, whose difference is x. Another passes on all of that
    # beside memberships, ``relu(u + 3) - relu(u - 3) - 3``.
    d, n_scores = network.n_features, network.n_bits
    direct, of_scores, of_members = np.split(outer, [d, d + n_scores])
    if isinstance(network, LinearEncoder):
        own = [(network.weights, network.bias)]
    else:
        assert isinstance(network, MLPEncoder)
        own = list(zip(network.weights, network.biases, strict=True))
    *hidden, (W, b) = [(W.astype(float), b.astype(float)) for W, b in own]
    bias = bias + b @ of_scores
    if not hidden:
        direct = direct + W @ of_scores
        if members is None:
            return LinearEncoder(direct, bias, zero_bit=1)
    inner, last = np.eye(d), direct  # whose product is `direct`
    if direct.shape[1] < d:
        inner, last = direct, np.eye(direct.shape[1])
    carry, last = np.hstack([inner, -inner]), np.vstack([last, -last])
    layers: list[Layer] = []
    for hidden_W, hidden_b in hidden:
        # The first layer meets x, the others what the one before has passed on.
        wide = block_diag(hidden_W, carry) if layers else np.hstack([hidden_W, carry])
        layers.append((wide, np.pad(hidden_b, (0, carry.shape[1]))))
        carry = np.eye(carry.shape[1])
    if hidden:
        last = np.vstack([W @ of_scores, last])
        carry = np.eye(len(last))
    if members is not None:
        U, u = W @ members.weights, b @ members.weights + members.bias
        U = np.vstack([U, np.zeros((len(carry) - len(U), U.shape[1]))])
        thresholds = np.concatenate([u + _LIMIT, u - _LIMIT])
        bias_of_units = np.pad(thresholds, (0, carry.shape[1]))
        layers.append((np.hstack([U, U, carry]), bias_of_units))
        last = np.vstack([of_members, -of_members, last])
        bias = bias - _LIMIT * of_members.sum(axis=0)
    layers.append((last, bias))
    return MLPEncoder([W for W, _ in layers], [b for _, b in layers], zero_bit=1)
