"""PiCoDes by gradient descent on a smooth objective, as a baseline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import expit

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._iterative import Arrays
from fewbits.learners._core._parameters import POSITIVE, Config, Interval
from fewbits.learners._linalg._adam import Adam
from fewbits.learners._picodes import (
    PiCoDesLearner,
    Problem,
    State,
    first_state,
    learn_classifiers,
    objective,
)

Float64Array = NDArray[np.float64]
#: A (n, C), a0 (C,), W (K, C) and b (K,), as in `State`.
Parameters = list[Float64Array]


@dataclass(kw_only=True, repr=False, eq=False)
class RelaxedTraining(Config):
    """Settings of the training of `RelaxedPiCoDes`.

    Parameters
    ----------
    temperature : float, default=1.0
        T of the sigmoid ``1 / (1 + exp(-2 a'x / T))`` in the first epoch, in units of
        the root mean square that scores have at the start.
    final_temperature : float, default=1.0
        T in the last epoch; it falls by the same factor after each. The paper states
        neither its T nor whether it falls.
    learning_rate : float, default=0.01
        Length of the steps of Adam.
    batch_size : int, default=100
        Rows that a step is computed from.
    """

    temperature: float = 1.0
    final_temperature: float = 1.0
    learning_rate: float = 0.01
    batch_size: int = 100

    constraints: ClassVar = {
        "temperature": POSITIVE,
        "final_temperature": POSITIVE,
        "learning_rate": POSITIVE,
        "batch_size": [Interval(int, 1)],
    }


@dataclass(eq=False, repr=False)
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
        File of the progress: `fit` resumes from it, to the same result, and deletes it.
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

    n_bits: int = 64
    _: KW_ONLY
    lam: float = 1000.0
    training: RelaxedTraining | None = None
    class_weight: str | None = None
    C: float = 100.0
    init: str = "itq"
    n_components: int | None = None
    n_iter: int = 10
    tol: float = 0.0
    checkpoint: Any = None
    verbose: bool = False
    random_state: Any = None

    configs: ClassVar[Mapping[str, type[Config]]] = {"training": RelaxedTraining}

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        training = self._config("training", RelaxedTraining)
        problem, A, a0, rng = self._start(X, y)
        # The unit of temperatures: scores of a mean square of 1.
        squares = np.mean((problem.X @ A + a0) ** 2, axis=0)
        scale = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
        state = first_state(problem, A * scale, a0 * scale)
        state = learn_classifiers(problem, state)
        parameters = state.A, state.a0, state.W, state.b
        zeros = [np.zeros_like(each) for each in parameters]
        start = (*state, *parameters, *zeros, *zeros, np.array([np.inf, 0]))
        ends = training.temperature, training.final_temperature
        states = partial(
            epochs,
            problem,
            rng,
            np.geomspace(*ends, self.n_iter).tolist(),
            training.batch_size,
            training.learning_rate,
        )
        best = State(*self._run(states, start, X, problem.y)[:5])
        return self._encoder(problem, best)


def epochs(
    problem: Problem,
    rng: RandomState,
    temperatures: Sequence[float],
    batch_size: int,
    learning_rate: float,
    start: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield the best bits so far, and eq. (4) of those at the end of each epoch."""
    # Behind the arrays of the best `State` stand the parameters, Adam's means and
    # squares of each, and two numbers: eq. (4) of the best bits, and the epochs that
    # were done.
    best, (least, n_done) = start[:5], start[-1]
    parameters = [each.copy() for each in start[5:9]]
    adam = Adam(parameters)
    adam.means, adam.squares = ([*map(np.copy, start[i : i + 4])] for i in (9, 13))
    adam.n_steps = int(n_done) * -(-len(problem.X) // batch_size)
    for epoch, temperature in enumerate(temperatures, 1):
        order = rng.permutation(len(problem.X))
        if epoch <= n_done:
            continue
        with np.errstate(over="ignore", invalid="ignore"):  # raised as an error below
            for first in range(0, len(order), batch_size):
                rows = order[first : first + batch_size]
                slopes = gradients(problem, parameters, rows, temperature)
                adam.step(slopes, learning_rate)
            # The bits that ``h`` gives, and classifiers on them.
            A, a0, W, b = (parameter.copy() for parameter in parameters)
            H = (problem.X @ A + a0 > 0).astype(np.float64)
            hardened = learn_classifiers(problem, State(A, a0, H, W, b))
            value = objective(problem, hardened)
        if not np.isfinite(value):
            raise ArgumentError(
                "the objective is not finite; take a smaller lam or "
                "training.learning_rate, or a larger training.temperature"
            )
        if value < least:
            best, least = hardened, value
        changing = [*parameters, *adam.means, *adam.squares]
        yield (*best, *map(np.copy, changing), np.array([least, epoch])), value


def gradients(
    problem: Problem,
    parameters: Parameters,
    rows: NDArray[np.int64],
    temperature: float,
) -> Parameters:
    """Return a subgradient of eq. (4), its mean loss taken over `rows`."""
    # Eq. (4) with ``1 / (1 + exp(-2 a_c'x / T))`` for ``1[a_c'x > 0]``.
    A, a0, W, b = parameters
    X, y, own = problem.X[rows], problem.y[rows], np.arange(len(rows))
    soft = expit(2 / temperature * (X @ A + a0))
    M = soft @ W.T + b
    # The slope of l[y_ik M_ik]: -y_ik where the margin is missed.
    of_own, of_others = problem.weights
    slopes = np.where(M > -1, of_others, 0.0)
    slopes[own, y] = np.where(M[own, y] < 1, -of_own[y], 0.0)
    slopes *= problem.lam / len(rows)
    inner = slopes @ W * soft * (1 - soft) * (2 / temperature)
    return [X.T @ inner, inner.sum(axis=0), W + slopes.T @ soft, slopes.sum(axis=0)]
