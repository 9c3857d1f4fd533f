"""LP-beta: kernel machines of groups of features, combined by a linear programme.

The upper reference of the PiCoDes and DBC papers. Gehler and Nowozin, "On Feature
Combination for Multiclass Object Classification", ICCV 2009, with weights that all
classes share; they find, too, that equal weights are hard to beat. Nothing here is
compact or fast.
"""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from research.common.classic import kinds_of
from research.core.record import Metrics

Matrix = NDArray[np.float64]
Groups = Mapping[str, NDArray[Any]]

KERNELS = ("rbf-chi2", "intersection")
#: Weights of the errors of machines, and shares of rows that may miss the margin.
COSTS, NUS = (1.0, 10.0, 100.0), (0.1, 0.3, 0.5)
N_FOLDS = 5
_TOLERANCE = 1e-9


def lp_beta_metrics(
    X: NDArray[np.float32], y: NDArray[Any], tests: NDArray[np.float32], truth: Any
) -> Metrics:
    """Learn from classic descriptors; score LP-beta, as a mean over classes.

    With the kernel that is right most often in cross-validation.
    """
    learnt = [LPBeta(kernel).fit(_groups(X), y) for kernel in KERNELS]
    best = max(learnt, key=lambda learner: learner.held_out_accuracy_)
    return {
        "accuracy": mean_over_classes(truth, best.predict(_groups(tests))),
        "accuracy_by": [best.kernel, best.C_, best.nu_],
    }


def _groups(X: NDArray[np.float32]) -> dict[str, Matrix]:
    return {name: part.astype(np.float64) for name, part in kinds_of(X).items()}


def mean_over_classes(truth: NDArray[Any], predictions: NDArray[Any]) -> float:
    """Return the accuracy, each class counting the same."""
    right = predictions == truth
    return float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))


def intersection(X: Matrix, Y: Matrix) -> Matrix:
    """Return ``sum_i min(x_i, y_i)``, which is half of ``|x| + |y| - |x - y|``."""
    sums = X.sum(axis=1)[:, None] + Y.sum(axis=1)
    values: Matrix = (sums - manhattan_distances(X, Y)) / 2
    return values


def chi2_distances(X: Matrix, Y: Matrix) -> Matrix:
    """Return ``sum_i (x_i - y_i)^2 / (x_i + y_i)``."""
    values: Matrix = -additive_chi2_kernel(X, Y)
    return values


def kernel_to(name: str, X: Matrix) -> Callable[[Matrix], Matrix]:
    """Return a kernel to the training rows of one group, its scale learnt from them.

    ``intersection`` is divided by its mean value for a row with itself; ``rbf-chi2`` is
    ``exp(-d / mean d)`` of chi-squared distances.
    """
    if name == "rbf-chi2":
        spread = float(chi2_distances(X, X).mean()) or 1.0
        return lambda rows: np.exp(-(chi2_distances(rows, X) / spread))
    own = float(np.diag(intersection(X, X)).mean()) or 1.0
    return lambda rows: intersection(rows, X) / own


class LPBeta:
    """Combine kernel machines of groups of features by weights that sum to 1.

    The weight of errors `C_`, the same for all groups, and `nu_` are those whose
    combination is right most often in cross-validation, which `held_out_accuracy_`
    says: of machines and weights that had no part in it.
    """

    def __init__(self, kernel: str, random_state: int = 0) -> None:
        self.kernel, self.random_state = kernel, random_state

    def fit(self, groups: Groups, labels: NDArray[Any]) -> Self:
        """Learn from the features of each group and a label for each row."""
        self.classes_, self._y = np.unique(labels, return_inverse=True)
        n_folds = min(N_FOLDS, int(np.bincount(self._y).min()))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        self._splits = list(folds.split(self._y, self._y))
        self._kernels = {n: kernel_to(self.kernel, X) for n, X in groups.items()}
        self._products = {n: self._kernels[n](X) for n, X in groups.items()}
        self._held_out = {
            C: np.stack([self._outputs_held_out(K, C) for K in self._products.values()])
            for C in COSTS
        }
        return self._choose()

    def _choose(self) -> Self:
        """Take what classifies best by weights that are learnt from other folds."""
        ways = [(C, nu) for C in self._held_out for nu in NUS]
        shares = [self._share_right(self._held_out[C], nu) for C, nu in ways]
        self.held_out_accuracy_ = max(shares)
        self.C_, self.nu_ = ways[int(np.argmax(shares))]
        beta = combine(self._held_out[self.C_], self._y, self.nu_)
        self.beta_ = dict(zip(self._kernels, beta.tolist(), strict=True))
        self._machines = {
            name: _machines(K, self._y, self.C_) for name, K in self._products.items()
        }
        return self

    def _share_right(self, F: Matrix, nu: float) -> float:
        right = np.empty(len(self._y), bool)
        for learn, check in self._splits:
            beta = combine(F[:, learn], self._y[learn], nu)
            totals = np.tensordot(beta, F[:, check], axes=1)
            right[check] = totals.argmax(axis=1) == self._y[check]
        return float(right.mean())

    def _outputs_held_out(self, K: Matrix, C: float) -> Matrix:
        """Return the outputs for each row of machines trained on the other folds."""
        F = np.empty((len(K), len(self.classes_)))
        for learn, check in self._splits:
            machines = _machines(K[np.ix_(learn, learn)], self._y[learn], C)
            F[check] = _outputs(K[np.ix_(check, learn)], machines)
        return F

    def predict(self, groups: Groups) -> NDArray[Any]:
        """Return the class of each row."""
        parts = [
            self.beta_[name] * _outputs(kernel(groups[name]), self._machines[name])
            for name, kernel in self._kernels.items()
        ]
        found: NDArray[Any] = self.classes_[np.sum(parts, axis=0).argmax(axis=1)]
        return found


def combine(F: Matrix, y: NDArray[np.int64], nu: float) -> Matrix:
    """Return the weights that maximise the margin which all but few rows reach.

    Minimise ``-rho + sum_i xi_i / (nu N)`` under ``sum_m beta_m (f_m,y_i(x_i) -
    f_m,k(x_i)) + xi_i >= rho`` for each row and other class, ``beta >= 0`` and
    ``sum_m beta_m = 1``. Only constraints that turn out to be broken are given to the
    solver, which changes nothing in the end. `F` are outputs for rows that the machines
    were not trained on, by group, row and class.
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
    places = np.arange(len(rows)), rows
    own_slack = sp.csr_array((np.ones(len(rows)), places), shape=(len(rows), n))
    sides: list[Any] = [sp.csr_array(margins[:, rows, rivals].T), own_slack]
    sides.append(sp.csr_array(-np.ones((len(rows), 1))))
    sums_to_1: Any = sp.csr_array(np.r_[np.ones(n_groups), np.zeros(n + 1)][None])
    found: Any = linprog(
        np.concatenate([np.zeros(n_groups), np.full(n, 1 / (nu * n)), [-1.0]]),
        A_ub=-sp.hstack(sides, format="csr"),
        b_ub=np.zeros(len(rows)),
        A_eq=sums_to_1,
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
