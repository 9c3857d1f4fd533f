"""Circulant binary embedding."""

from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits._unit_rows import unit_rows
from fewbits.encoders import CirculantEncoder
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._parameters import (
    check_choice,
    check_flag,
    check_n_bits,
    check_number,
)
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import Rows, column_means
from fewbits.learners.unsupervised.structured._circulant_steps import circulants
from fewbits.learners.unsupervised.structured._structured import centred


class CBE(ResumableLearner):
    """Project on the rows of a circulant matrix, random or learnt.

    A fixed random sign for each feature, then a matrix each of whose rows is the one
    above moved on by one place: d numbers instead of ``d * n_bits``, and a product in
    ``d log(d)`` operations whatever the length of the code, up to d bits.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536. Beyond the number of features, each that
        many bits come from a matrix of their own.
    learn : bool, default=True
        Alternate between codes and matrix (CBE-opt); False keeps the random matrix
        (CBE-rand).
    penalty : float, default=1.0
        Weight of the second term of the objective, from 1e-30 to 1e30.
    rest : {"zero", "free"}, default="zero"
        What the outputs of a matrix behind the last bit should be: 0, as in the paper,
        or anything ("free"), which the paper does not have. Which one ranks better
        depends on the data: compare with ``learn=False``, too, where bits are far fewer
        than features.
    n_iter : int, default=10
        Number of alternations.
    tol : float, default=0
        Stop when an iteration lowers the objective by no more than this share of it;
        0 disables early stopping.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the signs and the initial matrices.

    Attributes
    ----------
    encoder_ : CirculantEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        ``||B - X R'||^2 + penalty * ||R R' - I||^2``, summed over the matrices and
        divided by ``n * n_bits``, at the end of each iteration; what should be "free"
        has the targets of the last iteration. It never rises. Empty for a random
        matrix.
    n_iter_ : int
        Number of iterations done.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Notes
    -----
    Rows are centred and scaled to unit length, which changes no bit of a code but the
    weight of rows and of the penalty. Of d bits that a matrix gives, those behind the
    last have targets of 0, as in the paper, unless they are free. Both steps are exact,
    each frequency for itself, so that any number of features does.

    A score of exactly 0 is encoded as 1. An interrupt keeps the matrix reached, with a
    warning. A longer code of random matrices begins with the shorter one of the same
    seed.

    References
    ----------
    Yu, Kumar, Gong and Chang, "Circulant Binary Embedding", ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> cbe = CBE(n_bits=12, random_state=0).fit(X)
    >>> cbe.encode(X).shape
    (200, 2)
    >>> cbe.encoder_
    CirculantEncoder(16 -> 12 bits)
    >>> bool(cbe.objective_[-1] < cbe.objective_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        learn: bool = True,
        penalty: float = 1.0,
        rest: str = "zero",
        n_iter: int = 10,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.learn = learn
        self.penalty = penalty
        self.rest = rest
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_flag("learn", self.learn)
        check_number("penalty", self.penalty, 1e-30, 1e30)
        check_choice("rest", self.rest, ("zero", "free"))
        self._check_iterations()

    def _learn(self, X: Array, y: Any) -> CirculantEncoder:
        rng = check_random_state(self.random_state)
        d = X.shape[1]
        signs = np.packbits(rng.random_sample(d) < 0.5)
        columns = _random_columns(self.n_bits, d, rng)
        mean = column_means(X)
        if self.learn:
            flips = 1.0 - 2.0 * np.unpackbits(signs, count=d)
            rows = Rows(X, mean, n_out=2 * d)
            states = partial(
                circulants,
                lambda: (unit_rows(block) * flips for block in rows),
                d,
                self.n_bits,
                self.penalty,
                self.rest == "free",
            )
            (spectra,) = self._resume(states, (rfft(columns),), X)
            columns = irfft(spectra, d)
        else:
            self._run(iter(()), columns)
        encoder = CirculantEncoder(columns, signs, np.zeros(self.n_bits), zero_bit=1)
        encoder = centred(encoder, mean)
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder


def _random_columns(n_bits: int, d: int, rng: RandomState) -> NDArray[np.float64]:
    columns: NDArray[np.float64] = rng.standard_normal((-(-n_bits // d), d))
    return columns
