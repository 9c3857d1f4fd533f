"""LP-beta: a kernel machine for each group of features, combined by a linear programme.

The upper reference of the PiCoDes and DBC papers. Gehler and Nowozin, "On Feature
Combination for Multiclass Object Classification", ICCV 2009, with weights that all
classes share; they find, too, that equal weights are hard to beat. Nothing here is
compact or fast.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from fewbits.errors import ArgumentError

Matrix = NDArray[np.float64]
Groups = Mapping[str, ArrayLike]

_TOLERANCE = 1e-9


def linear(X: Matrix, Y: Matrix) -> Matrix:
    values: Matrix = X @ Y.T
    return values


def intersection(X: Matrix, Y: Matrix) -> Matrix:
    """Return ``sum_i min(x_i, y_i)``, which is half of ``|x| + |y| - |x - y|``."""
    values: Matrix = (_sums(X, Y) - manhattan_distances(X, Y)) / 2
    return values


def chi2(X: Matrix, Y: Matrix) -> Matrix:
    """Return ``sum_i 2 x_i y_i / (x_i + y_i)``."""
    values: Matrix = (_sums(X, Y) + additive_chi2_kernel(X, Y)) / 2
    return values


def chi2_distances(X: Matrix, Y: Matrix) -> Matrix:
    """Return ``sum_i (x_i - y_i)^2 / (x_i + y_i)``."""
    values: Matrix = -additive_chi2_kernel(X, Y)
    return values


def _sums(X: Matrix, Y: Matrix) -> Matrix:
    sums: Matrix = X.sum(axis=1)[:, None] + Y.sum(axis=1)
    return sums


KERNELS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "linear": linear,
    "intersection": intersection,
    "chi2": chi2,
}


class Kernel:
    """A kernel to the training rows of one group, its scale learnt from them.

    Parameters
    ----------
    name : str
        A key of `KERNELS`, divided by its mean value for a row with itself, or
        "rbf-chi2": ``exp(-d / mean d)`` of chi-squared distances.
    X : ndarray of shape (n, n_features)
        At least 0, except for "linear".
    """

    def __init__(self, name: str, X: Matrix) -> None:
        if name != "rbf-chi2" and name not in KERNELS:
            known = ", ".join([*KERNELS, "rbf-chi2"])
            raise ArgumentError(f"no kernel {name!r}; known are {known}")
        self.name, self.X = name, X
        values = self._values(X)
        scale = values.mean() if name == "rbf-chi2" else np.diag(values).mean()
        self.scale = float(scale) or 1.0

    def __call__(self, X: Matrix) -> Matrix:
        """Return one column for each training row."""
        values = self._values(X) / self.scale
        return np.exp(-values) if self.name == "rbf-chi2" else values

    def _values(self, X: Matrix) -> Matrix:
        if self.name != "linear" and X.min(initial=0) < 0:
            raise ArgumentError(f"{self.name} takes features of at least 0")
        return KERNELS.get(self.name, chi2_distances)(X, self.X)


class LPBeta:
    """Combine kernel machines of groups of features by weights that sum to 1.

    Parameters
    ----------
    kernel : str or mapping of str to str, default="rbf-chi2"
        "linear", "intersection", "chi2" or "rbf-chi2", for all groups or for each.
    C : float or sequence of float, default=(1, 10, 100)
        Weight of the errors of a machine; of several, that whose combination is right
        most often in cross-validation. It is the same for all groups: outputs of
        machines with others have other scales, and the linear programme would weigh
        these rather than what the groups know.
    nu : float or sequence of float, default=(0.1, 0.3, 0.5)
        About the share of training rows that may miss the margin, above 0, at most 1;
        of several the best, as for C.
    n_folds : int, default=5
    random_state : int, default=0
        Seeds the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    beta_ : dict of str to float
        The weight of each group.
    C_ : float
    nu_ : float or None
        None for equal weights.
    held_out_accuracy_ : float
        Of combinations whose machines and weights had no part in what they classify.
    """

    def __init__(
        self,
        *,
        kernel: str | Mapping[str, str] = "rbf-chi2",
        C: ArrayLike = (1.0, 10.0, 100.0),
        nu: ArrayLike = (0.1, 0.3, 0.5),
        n_folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.kernel = kernel
        self.costs, self.nus = (np.unique(np.asarray(v, np.float64)) for v in (C, nu))
        if not (self.nus.min() > 0 and self.nus.max() <= 1):
            raise ArgumentError(f"nu must lie above 0 and at most at 1, got {nu}")
        self.n_folds, self.random_state = n_folds, random_state

    def fit(self, groups: Groups, labels: ArrayLike) -> Self:
        """Learn from the features of each group and a label for each row."""
        self.classes_, self._y = np.unique(np.asarray(labels), return_inverse=True)
        matrices = _matrices(groups, len(self._y))
        self._splits = self._folds(matrices, self._y)
        self._kernels = {n: Kernel(self._kind(n), X) for n, X in matrices.items()}
        self._products = {n: self._kernels[n](X) for n, X in matrices.items()}
        self._held_out = {
            C: np.stack([self._outputs_aside(K, C) for K in self._products.values()])
            for C in self.costs.tolist()
        }
        return self._choose(self.nus.tolist())

    def with_equal_weights(self) -> Self:
        """Return the same machines with equal weights, and what C is best for these."""
        return copy(self)._choose([None])

    def _kind(self, group: str) -> str:
        return self.kernel if isinstance(self.kernel, str) else self.kernel[group]

    def _choose(self, nus: Sequence[float | None]) -> Self:
        """Take what classifies best by weights that are learnt from other folds."""
        ways = [(C, nu) for C in self._held_out for nu in nus]
        shares = [self._share_right(self._held_out[C], nu) for C, nu in ways]
        self.held_out_accuracy_ = max(shares)
        self.C_, self.nu_ = ways[int(np.argmax(shares))]
        beta = weights(self._held_out[self.C_], self._y, self.nu_)
        self.beta_ = dict(zip(self._kernels, beta.tolist(), strict=True))
        self._machines = {
            name: _machines(K, self._y, self.C_) for name, K in self._products.items()
        }
        return self

    def _share_right(self, F: Matrix, nu: float | None) -> float:
        right = np.empty(len(self._y), bool)
        for learn, check in self._splits:
            beta = weights(F[:, learn], self._y[learn], nu)
            totals = np.tensordot(beta, F[:, check], axes=1)
            right[check] = totals.argmax(axis=1) == self._y[check]
        return float(right.mean())

    def _outputs_aside(self, K: Matrix, C: float) -> Matrix:
        """Return the outputs for each row of machines trained on the other folds."""
        F = np.empty((len(K), len(self.classes_)))
        for learn, check in self._splits:
            machines = _machines(K[np.ix_(learn, learn)], self._y[learn], C)
            F[check] = _outputs(K[np.ix_(check, learn)], machines)
        return F

    def scores(self, groups: Groups) -> Matrix:
        """Return the combined score of each row and class, (n, n_classes)."""
        if set(groups) != set(self.beta_):
            raise ArgumentError(
                f"trained on {', '.join(self.beta_)}, got {', '.join(groups)}"
            )
        matrices = _matrices(groups)
        parts = [
            self.beta_[name] * _outputs(kernel(matrices[name]), self._machines[name])
            for name, kernel in self._kernels.items()
        ]
        total: Matrix = np.sum(parts, axis=0)
        return total

    def predict(self, groups: Groups) -> NDArray[Any]:
        """Return the class of each row."""
        found: NDArray[Any] = self.classes_[self.scores(groups).argmax(axis=1)]
        return found

    def _folds(self, matrices: dict[str, Matrix], y: NDArray[np.int64]) -> Any:
        counts = np.bincount(y)
        if len(counts) < 2 or counts.min() < 2:
            raise ArgumentError(
                "LP-beta needs at least 2 classes of at least 2 rows each, got "
                f"{len(counts)} with {counts.min()} or more"
            )
        n_folds = min(self.n_folds, int(counts.min()))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        return list(folds.split(next(iter(matrices.values())), y))


def weights(F: Matrix, y: NDArray[np.int64], nu: float | None) -> Matrix:
    """Return the weights of groups; without `nu` they are equal."""
    return np.full(len(F), 1 / len(F)) if nu is None else combine(F, y, nu)


def combine(F: Matrix, y: NDArray[np.int64], nu: float) -> Matrix:
    """Return the weights that maximise the margin which all but few rows reach.

    Minimise ``-rho + sum_i xi_i / (nu N)`` under ``sum_m beta_m (f_m,y_i(x_i) -
    f_m,k(x_i)) + xi_i >= rho`` for each row and other class, ``beta >= 0`` and
    ``sum_m beta_m = 1``. Only constraints that turn out to be broken are given to the
    solver, which changes nothing in the end.

    Parameters
    ----------
    F : ndarray of shape (n_groups, n, n_classes)
        Outputs for rows that the machines were not trained on.
    y : ndarray of shape (n,)
        Numbers of classes.
    """
    n_groups, n, _ = F.shape
    margins = F[:, np.arange(n), y][..., None] - F
    needed = np.zeros(margins.shape[1:], bool)
    beta = np.full(n_groups, 1 / n_groups)
    slack, rho = np.zeros(n), np.inf
    while True:
        totals = np.tensordot(beta, margins, axes=1) + slack[:, None]
        totals[np.arange(n), y] = np.inf  # no constraint against its own class
        hardest = totals.argmin(axis=1)
        broken = totals[np.arange(n), hardest] < rho - _TOLERANCE
        broken &= ~needed[np.arange(n), hardest]
        if not broken.any():
            return beta
        needed[broken, hardest[broken]] = True
        beta, slack, rho = _programme(margins, needed, nu)


def _programme(
    margins: Matrix, needed: NDArray[np.bool_], nu: float
) -> tuple[Matrix, Matrix, float]:
    """Solve with the constraints `needed`; return beta, xi and rho."""
    rows, rivals = np.nonzero(needed)
    n_groups, n = margins.shape[:2]
    n_needed = len(rows)
    own_slack = sp.csr_array(
        (np.ones(n_needed), (np.arange(n_needed), rows)), shape=(n_needed, n)
    )
    sides: list[Any] = [sp.csr_array(margins[:, rows, rivals].T), own_slack]
    sides.append(sp.csr_array(-np.ones((n_needed, 1))))
    at_least = sp.hstack(sides, format="csr")
    price = np.concatenate([np.zeros(n_groups), np.full(n, 1 / (nu * n)), [-1.0]])
    weights: Any = sp.csr_array(
        np.concatenate([np.ones(n_groups), np.zeros(n + 1)])[None]
    )
    found: Any = linprog(
        price,
        A_ub=-at_least,
        b_ub=np.zeros(n_needed),
        A_eq=weights,
        b_eq=[1.0],
        bounds=[(0, None)] * (n_groups + n) + [(None, None)],
        method="highs",
    )
    if not found.success:
        raise RuntimeError(f"the linear programme was not solved: {found.message}")
    return found.x[:n_groups], found.x[n_groups:-1], float(found.x[-1])


def _machines(K: Matrix, y: NDArray[np.int64], C: float) -> list[SVC]:
    """Return a machine for each class against the others."""
    machine = {"kernel": "precomputed", "C": C, "cache_size": 50}
    return [SVC(**machine).fit(K, y == k) for k in range(int(y.max()) + 1)]


def _outputs(K: Matrix, machines: list[SVC]) -> Matrix:
    return np.stack([machine.decision_function(K) for machine in machines], axis=1)


def _matrices(groups: Groups, n: int | None = None) -> dict[str, Matrix]:
    if not groups:
        raise ArgumentError("no group of features")
    matrices = {name: np.asarray(X, np.float64) for name, X in groups.items()}
    for name, X in matrices.items():
        n = len(X) if n is None else n
        if X.ndim != 2 or len(X) != n:
            raise ArgumentError(f"{name} must be a matrix of {n} rows, got {X.shape}")
        if not np.isfinite(X).all():
            raise ArgumentError(f"{name} must be finite, got NaN or infinity")
    return matrices
