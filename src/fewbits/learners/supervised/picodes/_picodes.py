"""PiCoDes: bits on which linear classifiers work well, also for novel classes."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._parameters import check_flag
from fewbits.learners.supervised.picodes._base import PiCoDesLearner
from fewbits.learners.supervised.picodes._forecast import Forecast
from fewbits.learners.supervised.picodes._steps import (
    Problem,
    State,
    learn_classifiers,
    learn_projectors,
    objective,
    start,
)


class PiCoDes(PiCoDesLearner):
    """Learn bits for linear classifiers: compact codes for recognising new classes.

    Any number of bits, whatever the number of classes. The classes of the training data
    only guide the choice of bits; `Bundle.search_by_example` and linear models on the
    codes then generalise to classes unseen in training.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    lam : float, default=1000
        Weight of the mean classification error in eq. (4), against the size of the
        classifiers. `fewbits.evaluation.classification.novel_class_score` shows how to
        choose it on classes that were held out.
    class_weight : {'balanced', None}, default=None
        'balanced' lets the examples of a class weigh as much as all others together in
        its classifier, which the paper does not. With many classes and few bits, plain
        classifiers predict negative for every item, and there is nothing to learn from.
    C : float, default=100
        Weight of the errors of a projector (LIBLINEAR's C in eq. 6), for features
        scaled to a mean squared length of 1 and costs to a mean of 1.
    line_search : bool, default=True
        Take the exact best step from the old projector towards the new one; False takes
        the new one entirely or not at all.
    init : {'itq', 'pca', 'random', 'classes'}, default='itq'
        First projectors: those of ITQ; principal components, randomly rotated where
        there are fewer than bits; random directions; or linear SVMs between random
        halves of the classes.
    n_components : int, default=None
        Reduce the features to as many principal components first (the paper: 6,415 of
        52,080). None takes as many as bits, and at least 128. They are folded into the
        encoder, so encoding costs the same.
    n_iter : int, default=10
        Number of alternations between classifiers and projectors.
    tol : float, default=1e-3
        Stop when an iteration lowers the objective by no more than this share of it.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the first projectors and LIBLINEAR.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Eq. (4) at the end of each iteration. It never rises.
    classes_ : ndarray of shape (n_classes,)
    n_idle_classes_ : int
        Classes whose classifier ignores the code; more than 0 gives a warning.
    n_dead_bits_ : int
        Bits that are constant on the training rows; a warning is given if any.
    n_different_bits_ : int
        Distinct bits, up to complement, on the training rows; a
        warning is given if they are half of the bits, or fewer.
    n_iter_ : int
        Number of iterations done.
    n_features_in_ : int

    Warns
    -----
    UserWarning
        In the first iteration, when the fit will take minutes; `RelaxedPiCoDes` takes
        seconds. When classes or bits are of no use, see above.

    Notes
    -----
    Eq. (6) is used with the sign that minimises eq. (5): a positive cost difference
    asks for a zero. As printed in the paper, it asks for a one, and the objective does
    not fall. The bound on eq. (5) is loose, so a new projector or classifier is only
    taken if the objective itself is lower with it. Few whole projectors are: the
    classifiers fit the old ones. A partial step often is better: the line search, which
    the paper does not have, makes progress where whole steps are stuck.

    The paper states neither the first projectors nor `lam`, `C` and the number of
    iterations. A score of exactly 0 gives a 0. LIBLINEAR stops early, so rows in
    another order give somewhat other codes.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: Learning a Compact Code for
    Novel-Category Recognition", NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 10
    >>> X = rng.normal(size=(10, 16))[y] + rng.normal(size=(200, 16))
    >>> picodes = PiCoDes(n_bits=8, random_state=0).fit(X, y)
    >>> picodes.encoder_
    LinearEncoder(16 -> 8 bits)
    >>> bool(picodes.objective_[-1] < picodes.objective_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        lam: float = 1000.0,
        class_weight: str | None = None,
        C: float = 100.0,
        line_search: bool = True,
        init: str = "itq",
        n_components: int | None = None,
        n_iter: int = 10,
        tol: float = 1e-3,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.class_weight = class_weight
        self.C = C
        self.line_search = line_search
        self.init = init
        self.n_components = n_components
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_flag("line_search", self.line_search)
        super()._check_parameters()

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        first = self._start(X, y, line_search=bool(self.line_search))
        state = start(first.problem, first.A, first.a0)
        forecast = Forecast(self.n_iter, self.n_bits)
        states = partial(descent, first.problem, forecast=forecast)
        state = State(*self._resume(states, state, X, first.problem.y))
        self._describe(state)
        return first.x.encoder(state.A, state.a0)


def descent(
    problem: Problem, start: Arrays, *, forecast: Forecast
) -> Iterator[tuple[State, float]]:
    """Yield ever better states with eq. (4), which never rises."""
    state = State(*start)
    while True:
        state = learn_classifiers(problem, state)
        forecast.classifiers_done()
        state = learn_projectors(problem, state, forecast.projectors_done)
        yield state, objective(problem, state)
