"""Random error-correcting output codes: the simplest codes from labels."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._base import Learner
from fewbits.learners._core._device import product
from fewbits.learners._core._labels import indicator
from fewbits.learners._core._parameters import USUAL
from fewbits.learners._linalg._orthogonal import principal_axes
from fewbits.learners._supervised_itq import centred_sums


@dataclass(eq=False, repr=False)
class ECOC(Learner):
    """Predict random codewords of classes by ridge regression.

    Each bit parts the classes into random halves, and a hyperplane predicts the half.
    Nothing else is learnt: what other codes from labels are to be compared with.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    reg : float, default=1.0
        Added to the diagonal of the covariance of the features, in units of their mean
        variance.
    random_state : int, RandomState instance or None, default=None
        Draws the halves.

    Attributes
    ----------
    encoder_ : LinearEncoder
    classes_ : ndarray of shape (n_classes,)
    codewords_ : ndarray of shape (n_classes, n_bits), dtype uint8
        The bits that rows of a class should have.
    objective_ : ndarray of shape (1,)
        Mean squared error of the scores, codewords being -1 and 1, and the regulariser.

    Notes
    -----
    Scores are cut at their mean, so that halves of few rows do not give constant bits.
    A row of several classes should have the bit that most of them have. L classes have
    2^(L-1) - 1 partitions, so the bits of few classes repeat. A score of exactly 0
    gives a 0.

    References
    ----------
    Dietterich and Bakiri, "Solving Multiclass Learning Problems via Error-Correcting
    Output Codes", JAIR 2, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat(["ant", "bee", "cat", "dog"], 20)
    >>> X = np.repeat(np.eye(4), 20, axis=0)
    >>> ecoc = ECOC(n_bits=8, random_state=0).fit(X, labels)
    >>> bool((ecoc.transform(np.eye(4)) == ecoc.codewords_).all())
    True
    """

    n_bits: int = 64
    _: KW_ONLY
    reg: float = 1.0
    random_state: Any = None

    constraints: ClassVar = USUAL
    needs_labels = True
    uses_device = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        self.classes_, Y = indicator(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        # 0 and 1 as often as each other in every column, the larger half drawn.
        n, n_bits = len(self.classes_), self.n_bits
        order = np.argsort(rng.random_sample((n, n_bits)), axis=0)
        halves = 2 * order + rng.randint(2, size=n_bits) < n
        self.codewords_ = halves.astype(np.uint8)
        signs = 2.0 * self.codewords_ - 1
        axes = principal_axes(X)
        covariances = axes.directions.T @ centred_sums(X, Y, axes.mean).T
        ridge = self.reg * axes.scatter.sum() / X.shape[1]
        covariances = covariances @ signs
        weights = covariances / (axes.scatter + ridge)[:, None]
        targets = Y @ signs
        energy = np.sum((targets - targets.mean(axis=0)) ** 2)
        # Of ridge regression: what is explained is the product with the solution.
        self.objective_ = np.array([energy - np.vdot(weights, covariances)])
        self.objective_ /= targets.size
        W = product(axes.directions, weights)
        return LinearEncoder(W, bias=-axes.mean @ W)
