"""Settings of the sparse step of an iteration."""

from dataclasses import dataclass

from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import check_choice, check_integer


@dataclass(kw_only=True, repr=False, eq=False)
class SparseSolver(Config):
    """The sparse step of `SparseProjections`.

    Parameters
    ----------
    kind : {'one-step', 'iterative'}, default='one-step'
        Threshold once, eq. (11), or `n_iter` times, eq. (10). The paper finds the two
        equally accurate. The other settings are of the latter.
    n_iter : int, default=30
        Number of thresholdings in each sparse step.
    step : {'frobenius', 'spectral'}, default='frobenius'
        Step size of eq. (10): the paper's ``1 / ||X||_F^2``, which is safe and tiny, or
        ``1 / lambda_max(X X')``, the largest for which eq. (4) cannot rise.
    start : {'dense', 'previous'}, default='dense'
        Where eq. (10) starts: at the dense matrix, as in the paper, or at the sparse
        matrix of the previous iteration, with which eq. (3) cannot rise.
    """

    kind: str = "one-step"
    n_iter: int = 30
    step: str = "frobenius"
    start: str = "dense"

    def check(self) -> None:
        check_choice("solver.kind", self.kind, ("one-step", "iterative"))
        check_integer("solver.n_iter", self.n_iter, 1)
        check_choice("solver.step", self.step, ("frobenius", "spectral"))
        check_choice("solver.start", self.start, ("dense", "previous"))
