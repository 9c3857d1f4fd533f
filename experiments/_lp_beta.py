"""LP-beta: a kernel machine for each group of features, combined by a linear programme.

The upper reference of the PiCoDes and DBC papers. Gehler and Nowozin, "On Feature
Combination for Multiclass Object Classification", ICCV 2009, with weights that all
classes share. Nothing here is compact or fast.
"""

from collections.abc import Callable, Mapping
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
        Weight of the errors of a machine; of several, each group takes the one whose
        outputs in cross-validation are right most often, the smallest if tied.
    nu : float, default=0.1
        About the share of training rows that may miss the margin, above 0, at most 1.
    n_folds : int, default=5
    random_state : int, default=0
        Seeds the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    beta_ : dict of str to float
        The weight of each group.
    C_ : dict of str to float
    """

    def __init__(
        self,
        *,
        kernel: str | Mapping[str, str] = "rbf-chi2",
        C: ArrayLike = (1.0, 10.0, 100.0),
        nu: float = 0.1,
        n_folds: int = 5,
        random_state: int = 0,
    ) -> None:
        if not 0 < nu <= 1:
            raise ArgumentError(f"nu must lie above 0 and at most at 1, got {nu}")
        self.kernel, self.nu = kernel, nu
        self.costs = np.unique(np.asarray(C, np.float64))
        self.n_folds, self.random_state = n_folds, random_state

    def fit(self, groups: Groups, labels: ArrayLike) -> Self:
        """Learn from the features of each group and a label for each row."""
        self.classes_, y = np.unique(np.asarray(labels), return_inverse=True)
        matrices = _matrices(groups, len(y))
        folds = self._folds(matrices, y)
        self._machines: dict[str, tuple[Kernel, list[SVC]]] = {}
        self.C_: dict[str, float] = {}
        outputs = []
        for name, X in matrices.items():
            kind = self.kernel if isinstance(self.kernel, str) else self.kernel[name]
            kernel = Kernel(kind, X)
            K = kernel(X)
            found = [_held_out(K, y, float(C), folds) for C in self.costs]
            best = int(np.argmax([np.mean(F.argmax(axis=1) == y) for F in found]))
            self.C_[name] = float(self.costs[best])
            outputs.append(found[best])
            self._machines[name] = kernel, _machines(K, y, self.C_[name])
        beta = combine(np.stack(outputs), y, self.nu)
        self.beta_ = dict(zip(matrices, beta.tolist(), strict=True))
        return self

    def scores(self, groups: Groups) -> Matrix:
        """Return the combined score of each row and class, (n, n_classes)."""
        if set(groups) != set(self.beta_):
            raise ArgumentError(
                f"trained on {', '.join(self.beta_)}, got {', '.join(groups)}"
            )
        matrices = _matrices(groups)
        parts = [
            self.beta_[name] * _outputs(kernel(matrices[name]), machines)
            for name, (kernel, machines) in self._machines.items()
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


def _held_out(K: Matrix, y: NDArray[np.int64], C: float, folds: Any) -> Matrix:
    """Return the outputs for each row of machines trained on the other folds."""
    F = np.empty((len(y), int(y.max()) + 1))
    for learn, check in folds:
        machines = _machines(K[np.ix_(learn, learn)], y[learn], C)
        F[check] = _outputs(K[np.ix_(check, learn)], machines)
    return F


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
