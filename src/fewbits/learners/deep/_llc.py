"""LLC: codes for classes, then codes for items."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fewbits._typing import Array
from fewbits.classify import Codebook
from fewbits.codes import MAX_BITS, pack, unpack
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, DivergedError
from fewbits.learners._core._device import tensor_signs
from fewbits.learners._core._parameters import N_BITS, USUAL, Config, check_integers
from fewbits.learners.deep._base import DeepLearner, Problem
from fewbits.learners.deep._config import CodebookConfig
from fewbits.learners.deep._network import HashNetwork
from fewbits.learners.deep.centres import UniqueCodes, check_sizes, unique
from fewbits.learners.deep.losses import LossContext
from fewbits.learners.deep.losses._centres import (
    PREDICTABLE,
    SEMANTIC,
    ClassLoss,
    CodebookLoss,
    CodeLoss,
    class_means,
    given_codes,
    make_centres,
)

_CODEBOOKS = ("learnt", "predictable", "semantic", "random", "svd", "cca")
_CLASSIFIER_EPOCHS = 20
Matrix = NDArray[np.float64]
_LEAST = 1e-9  # share of the mean variance that CCA adds at least


@dataclass(eq=False, repr=False)
class LLC(DeepLearner):
    """Learn a short binary code for each class, then a network that gives it to items.

    Phase 1 learns the codes by classifying with them, straight-through; phase 2 trains
    the network of phase 1 to give each item the code of its class, bit by bit. Items
    are classified by decoding their code with `codebook_of_classes`.

    Parameters
    ----------
    n_bits : int, default=None
        Length of the code; None takes that of a given codebook, or else
        ``2 ceil(log2(n_classes))``: twice as many bits as it takes to number the
        classes.
    codebook : str, Codebook or array-like of shape (n_classes, n_bits)
        "learnt", the default, does phase 1. "predictable" takes its place: codes whose
        bits can be predicted from the features of unseen items, see
        `fewbits.learners.deep.centres.predictable_centres`. "semantic" ones are near
        each other where the means of the classes' features are. "random", "svd" (of a
        linear classifier) and "cca" are the baselines of the paper. A
        `fewbits.classify.Codebook` is taken as it is, by the names of its classes, and
        so is an array of -1 and 1 in the order of the sorted labels.
    codebook_training : CodebookConfig or None, default=None
        How phase 1 learns the codebook; None takes the defaults.
    reg : float, default=1.0
        Regularisation of CCA, in units of the mean variance.
    training : TrainingConfig or None, default=None
        Of both phases, except that phase 1 has `max_epochs` of its own. The epoch with
        the best accuracy on held-out items is kept, by scores in phase 1 and by the
        nearest class code in phase 2; among equals, the one with the smallest loss.
    checkpoint : path or None, default=None
        Each phase has a file of its own: the name with ``.codebook`` (or
        ``.classifier``) and ``.items`` appended. `fit` goes on from them.

    Attributes
    ----------
    encoder_ : LinearEncoder or MLPEncoder
    codebook_ : ndarray of shape (n_classes, n_bits), dtype int8
        The class codes, -1 and 1, in the order of `classes_`; all different,
        at each of ``nested_bits``, too, unless the codebook was given. If phase 1 meets
        numbers that are not finite, the last good one is kept, without an encoder.
    n_repaired_ : int
        Classes whose code was changed because another class had the same, at the
        shortest of ``nested_bits``.
    n_turned_ : int
        Bits of the codebook that phase 1 flipped.
    codebook_history_ : list of dict
        The metrics of the epochs of phase 1. In these and in `history_` there are also
        ``accuracy``, on the held-out items, and ``phase``: "classifier" (for "svd"),
        "codebook" or "items".

    Notes
    -----
    The projection of the paper has no bias (``NetworkConfig(bias=False)``). Features
    that are centred (``standardize``) need one where most classes share a bit, as of
    ten classes. Phase 1 as published turns hardly any bit on small data; the learning
    rate of `codebook_training` is the codebook's own.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners.deep import LLC, CodebookConfig, TrainingConfig
    >>> y = np.repeat(["ant", "bee", "cat"], 40)
    >>> centres = np.repeat(np.eye(3, 16), 40, axis=0) * 4
    >>> X = centres + np.random.default_rng(0).normal(size=(120, 16))
    >>> llc = LLC(
    ...     codebook_training=CodebookConfig(max_epochs=5),
    ...     training=TrainingConfig(max_epochs=5),
    ...     random_state=0,
    ... ).fit(X, y)
    >>> llc.codebook_.shape, len(np.unique(llc.codebook_, axis=0))
    ((3, 4), 3)
    >>> llc.codebook_of_classes()
    Codebook(3 classes, 4 bits)
    """

    configs: ClassVar[dict[str, type[Config]]] = {
        **DeepLearner.configs,
        "codebook_training": CodebookConfig,
    }
    constraints: ClassVar = USUAL | {"n_bits": [*N_BITS, None]}
    _one_phase = False

    n_bits: int | None = None
    _: KW_ONLY
    codebook: Any = "learnt"
    codebook_training: CodebookConfig | None = None
    reg: float = 1.0

    def codebook_of_classes(self) -> Codebook:
        """Return the class codes with the names of classes, as decoders take them.

        Returns
        -------
        fewbits.classify.Codebook
        """
        check_is_fitted(self)
        n_bits = self.codebook_.shape[1]
        return Codebook(pack(self.codebook_ > 0), n_bits, self.classes_)

    @property
    def _phase_1(self) -> CodebookConfig:
        return self._config("codebook_training", CodebookConfig)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.checkpoint is not None and Path(self.checkpoint).is_file():
            raise ArgumentError(
                f"{self.checkpoint} is a file: LLC keeps its checkpoints beside that "
                f"name, one for each phase ({Path(self.checkpoint).name}.items); give "
                "a name that is free"
            )
        shape = self.codebook
        if not isinstance(shape, str):
            shape = _shape_of(shape)
            if len(shape) == 2 and self.n_bits not in (None, shape[1]):
                raise ArgumentError(
                    f"n_bits={self.n_bits}, but the codebook has shape {shape}"
                )
        if shape not in _CODEBOOKS and (isinstance(shape, str) or len(shape) != 2):
            raise ArgumentError(
                f"codebook must be an array or one of {', '.join(_CODEBOOKS)}, got "
                f"{shape!r}"
            )
        config = self._phase_1
        check_integers(
            "codebook_training.nested_bits", config.nested_bits, self.n_bits or MAX_BITS
        )
        for name in ("init", "nested_bits", "similarity_weight"):
            value = getattr(config, name)
            if np.any(value) and shape != "learnt":
                raise ArgumentError(
                    f"codebook_training.{name}={value!r} is of a learnt codebook, "
                    "but codebook is another"
                )

    def _learn(self, X: Array, y: Any) -> Encoder:
        problem = self._problem(X, y)
        n_classes, n_bits = problem.targets.n_classes, self.n_bits
        kind = self.codebook if isinstance(self.codebook, str) else None
        if kind is None:
            n_bits = _shape_of(self.codebook)[1]
        elif n_bits is None:
            n_bits = 2 * max(1, (n_classes - 1).bit_length())
        self._n_bits = n_bits
        if kind is not None:
            nested = self._phase_1.nested_bits
            check_integers("codebook_training.nested_bits", nested, n_bits)
            for length in (n_bits, *nested):
                check_sizes(n_classes, length)
        network = self._make_network(problem, n_bits, bias=self._network_config.bias)
        if kind == "svd":
            most = min(n_classes - 1, network.head.n_inputs)
            check_directions(n_bits, most, "classifier")
        self.codebook_history_: list[dict[str, Any]] = []
        self.n_repaired_, self.n_turned_ = 0, 0
        if kind is None:
            codes = self.codebook
            if isinstance(codes, Codebook):
                bits = unpack(codes.codes[codes.rows(self.classes_)], n_bits)
                codes = np.where(bits, 1, -1)
            self.codebook_ = given_codes(codes, n_classes, n_bits)
        else:
            if kind == "learnt":  # which trains the network, too
                C = self._learn_codebook(problem, network)
            elif kind == "random":
                rng = check_random_state(problem.seed)
                C = rng.standard_normal((n_classes, n_bits))
            else:
                C = self._make_codebook(problem, kind, n_bits)
            self.codebook_, self.n_repaired_ = self._unique(C)
        loss = CodeLoss(self.codebook_)
        self._train(
            problem,
            network,
            loss,
            classify=lambda scores: tensor_signs(scores) @ loss.codes.T,
            phase="items",
        )
        # Of a resumed fit those that were trained for: of a backbone that has been
        # trained in place others might be made now.
        self.codebook_ = loss.codes.cpu().numpy().astype(np.int8)
        return self._deploy(problem, network)

    def _unique(self, C: NDArray[Any]) -> UniqueCodes:
        return unique(C, min([*self._phase_1.nested_bits, self._n_bits]))

    def _learn_codebook(self, problem: Problem, network: HashNetwork) -> NDArray[Any]:
        """Phase 1, eq. (2)."""
        config = self._phase_1
        start = None
        if config.init is not None:  # bits beyond its directions are random
            C = self._make_codebook(problem, config.init, None)[:, : self._n_bits]
            shape = len(C), self._n_bits - C.shape[1]
            more = check_random_state(problem.seed).standard_normal(shape)
            spread = np.sqrt(np.mean(np.square(C, dtype=np.float64))) if C.size else 1.0
            start = np.hstack([C, more * spread])
        loss = CodebookLoss(
            start,
            config.learning_rate,
            config.label_smoothing,
            config.nested_bits,
            config.similarity_weight,
        )
        try:
            self._train(
                problem,
                network,
                loss,
                classify=loss.classify,
                n_epochs=config.max_epochs,
                phase="codebook",
            )
        except DivergedError as error:
            self.codebook_ = self._unique(loss.values).codes
            rate = f"codebook_training.learning_rate ({config.learning_rate:g})"
            raise DivergedError(f"{error}; or lower {rate}") from error
        self.codebook_history_ = self.history_
        C = loss.values
        self.n_turned_ = int(np.sum((C >= 0) != (loss.first.cpu().numpy() >= 0)))
        return C

    def _make_codebook(
        self, problem: Problem, kind: str, n_bits: int | None
    ) -> NDArray[Any]:
        # Without `n_bits` it has as many as there are directions.
        if kind in (PREDICTABLE, SEMANTIC):
            features = partial(self._class_features, problem)
            context = LossContext(self._n_bits, problem.targets, problem.seed, features)
            return make_centres(kind, context).numpy()
        if kind == "svd":
            # The rows of a linear classifier, for standardised features.
            n_classes = problem.targets.n_classes
            network = self._make_network(problem, n_classes, linear=True)
            self._train(
                problem,
                network,
                ClassLoss(),
                classify=lambda scores: scores,
                n_epochs=_CLASSIFIER_EPOCHS,
                phase="classifier",
            )
            weights: Any = network.head.layers[0].weight
            rows = weights.detach().cpu().double().numpy()
            return svd_codebook(rows, n_bits)
        F = self._class_features(problem)
        F -= F.mean(axis=0)
        means, counts = class_means(F, problem.targets)
        several = problem.labels[problem.train] if problem.labels.ndim == 2 else None
        scatter = np.atleast_2d(np.cov(F, rowvar=False))
        return cca_codebook(means, counts, scatter, n_bits, self.reg, several)


def _shape_of(codebook: Any) -> tuple[int, ...]:
    """Return the shape of what should be codes, of rows of different lengths ()."""
    if isinstance(codebook, Codebook):
        return len(codebook), codebook.n_bits
    try:
        return np.shape(codebook)
    except ValueError:
        return ()


# Codebooks that are drawn, or known from a classifier or CCA: real numbers (n_classes,
# n_bits), whose signs are the codes. As they are, they are a start for learning one.


def svd_codebook(W: Matrix, n_bits: int | None) -> Matrix:
    W = W - W.mean(axis=0)  # which changes no decision
    n_bits = check_directions(n_bits, min(len(W) - 1, W.shape[1]), "classifier")
    U, _, _ = np.linalg.svd(W, full_matrices=False)
    return _signed(U[:, :n_bits])


def cca_codebook(
    M: Matrix,
    counts: Matrix,
    scatter: Matrix,
    n_bits: int | None,
    reg: float,
    labels: ArrayLike | None,
) -> Matrix:
    """Return where CCA between features and labels puts the classes."""
    # From the means M (n_classes, d) of classes, less that of all items, and the
    # covariance of features. `labels` are 1 for each label of an item, where items may
    # have several. Without `n_bits` there are as many as directions.
    values, E = np.linalg.eigh(scatter)
    whiten = E / np.sqrt(np.maximum(values, 0) + max(reg, _LEAST) * values.mean())
    if labels is None:
        # One-hot labels have covariance diag(p) - p p'; centred means need no more.
        p = counts / counts.sum()
        most, root = min(len(M) - 1, len(whiten)), np.sqrt(p)[:, None]
        n_bits = check_directions(n_bits, most, "cross-covariance")
        U, _, _ = np.linalg.svd(root * ((M - p @ M) @ whiten), full_matrices=False)
        return _signed(U[:, :n_bits] / root)
    Y = np.asarray(labels, np.float64)
    p = Y.mean(axis=0)
    values, V = np.linalg.eigh(np.atleast_2d(np.cov(Y, rowvar=False, bias=True)))
    real = values > _LEAST * values[-1]
    root = V[:, real] / np.sqrt(values[real])
    most = min(root.shape[1], len(whiten))
    n_bits = check_directions(n_bits, most, "cross-covariance")
    U, _, _ = np.linalg.svd(root.T @ (p[:, None] * M) @ whiten, full_matrices=False)
    A = root @ U[:, :n_bits]
    return _signed(A - p @ A)  # an item of one label, less the mean of all


def _signed(U: Matrix) -> Matrix:
    """Give singular vectors signs that do not depend on the solver."""
    largest = U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])]
    signed: Matrix = U * np.where(largest < 0, -1, 1)
    return signed


def check_directions(n_bits: int | None, available: int, name: str) -> int:
    """Return a length for which there are directions; None takes all there are."""
    if n_bits is not None and n_bits > available:
        raise ArgumentError(
            f"the {name} has {available} directions, too few for {n_bits} bits: take "
            "fewer, or a learnt or random codebook"
        )
    return available if n_bits is None else n_bits
