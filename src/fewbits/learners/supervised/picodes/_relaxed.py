"""PiCoDes by gradient descent on a smooth objective, as a baseline."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._nested import Config
from fewbits.learners.supervised.picodes._base import PiCoDesLearner
from fewbits.learners.supervised.picodes._config import RelaxedTraining
from fewbits.learners.supervised.picodes._relaxation import (
    epochs,
    first_epoch,
    unit_scores,
)
from fewbits.learners.supervised.picodes._steps import State, learn_classifiers, start


class RelaxedPiCoDes(PiCoDesLearner):
    """Learn the bits of PiCoDes by gradient descent, with sigmoids in their place.

    Classifiers and projectors are learnt together, from random batches of rows. The
    authors of PiCoDes found this much worse than block coordinate descent. On deep
    features of images it is as good for new classes: docs/papers/picodes.md.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    lam : float, default=1000
        Weight of the mean classification error in eq. (4), as in `PiCoDes`.
    training : RelaxedTraining or None, default=None
        The sigmoid's temperatures, and the steps; None takes the defaults.
    class_weight : {'balanced', None}, default=None
        'balanced' lets the examples of a class weigh as much as all others together in
        its classifier, which the paper does not. With many classes and few bits, plain
        classifiers say no to everything, and there is nothing to learn from.
    C : float, default=100
        Weight of the errors of the hyperplanes that ``init='classes'`` starts from.
    init : {'itq', 'pca', 'random', 'classes'}, default='itq'
        First projectors, as in `PiCoDes`.
    n_components : int, default=None
        Reduce the features to as many principal components first. None takes as many
        as bits, and at least 128.
    n_iter : int, default=10
        Number of epochs, each a walk over all rows.
    tol : float, default=0
        Stop when an epoch lowers the objective by no more than this share of it, which
        includes not at all; 0 does all epochs.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the first projectors, the batches and LIBLINEAR.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The encoder of the best epoch; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Eq. (4) of the bits, not of the sigmoids, at the end of each epoch, with
        classifiers trained on the bits as `PiCoDes` does. It may rise.
    classes_ : ndarray of shape (n_classes,)
    n_idle_classes_ : int
        Classes whose classifier ignores the code; more than 0 gives a warning.
    n_dead_bits_ : int
        Bits that are constant on the training rows; a warning is given if any.
    n_different_bits_ : int
        Bits of which none is another one, or its opposite, on the training rows; a
        warning is given if they are half of the bits, or fewer.
    n_iter_ : int
        Number of epochs done.
    n_features_in_ : int

    Raises
    ------
    ArgumentError
        When y is missing, is not a label per row, or holds a single class.

    Notes
    -----
    The first classifiers are those that `PiCoDes` trains on the first bits. A score of
    exactly 0 gives a 0.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: Learning a Compact Code for
    Novel-Category Recognition", NIPS 2011, end of section 3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 10
    >>> X = rng.normal(size=(10, 16))[y] + rng.normal(size=(200, 16))
    >>> relaxed = RelaxedPiCoDes(n_bits=8, n_iter=5, random_state=0).fit(X, y)
    >>> relaxed.encoder_
    LinearEncoder(16 -> 8 bits)
    >>> relaxed.objective_.shape
    (5,)
    """

    configs: ClassVar[Mapping[str, type[Config]]] = {"training": RelaxedTraining}

    def __init__(
        self,
        n_bits: int = 64,
        *,
        lam: float = 1000.0,
        training: RelaxedTraining | None = None,
        class_weight: str | None = None,
        C: float = 100.0,
        init: str = "itq",
        n_components: int | None = None,
        n_iter: int = 10,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.training = training
        self.class_weight = class_weight
        self.C = C
        self.init = init
        self.n_components = n_components
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    @property
    def _training(self) -> RelaxedTraining:
        return self._config("training", RelaxedTraining)

    def _check_parameters(self) -> None:
        self._check_configs()
        super()._check_parameters()

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        first = self._start(X, y)
        A, a0 = unit_scores(first.problem, first.A, first.a0)
        states = partial(
            epochs,
            first.problem,
            first.rng,
            self._temperatures(),
            batch_size=self._training.batch_size,
            learning_rate=self._training.learning_rate,
        )
        begin = learn_classifiers(first.problem, start(first.problem, A, a0))
        found = self._resume(states, first_epoch(begin), X, first.problem.y)
        best = State(*found[:5])
        self._describe(best)
        return first.x.encoder(best.A, best.a0)

    def _temperatures(self) -> list[float]:
        ends = self._training.temperature, self._training.final_temperature
        return [float(T) for T in np.geomspace(*ends, self.n_iter)]
