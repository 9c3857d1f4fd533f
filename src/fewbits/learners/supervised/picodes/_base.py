"""Parameters and initialisation that PiCoDes and their relaxation share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits._warnings import warn_user
from fewbits.learners._core._dead_bits import (
    ON_ROWS,
    n_constant,
    tell_dead_bits,
    tell_equal_bits,
)
from fewbits.learners._core._labels import one_class_each
from fewbits.learners._core._parameters import (
    check_choice,
    check_class_weight,
    check_integer,
    check_n_bits,
    check_number,
)
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners.supervised.picodes._start import (
    LEAST_COMPONENTS,
    STARTS,
    Components,
    components,
    first_projectors,
)
from fewbits.learners.supervised.picodes._steps import Float64Array, Problem, State


class Start(NamedTuple):
    """Components, the problem that they pose, and first projectors."""

    x: Components
    problem: Problem
    A: Float64Array
    a0: Float64Array
    rng: RandomState


class PiCoDesLearner(ResumableLearner):
    """A learner of projectors for linear classifiers."""

    n_bits: int
    lam: float
    class_weight: str | None
    C: float
    init: str
    n_components: int | None
    needs_labels = True
    uses_device = True

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_number("lam", self.lam, 0, above=True)
        check_class_weight(self.class_weight)
        check_number("C", self.C, 0, above=True)
        check_choice("init", self.init, STARTS)
        if self.n_components is not None:
            check_integer("n_components", self.n_components, 1)
        self._check_iterations()

    def _start(self, X: Array, y: Any, *, line_search: bool = True) -> Start:
        self.classes_, numbers = one_class_each(y, X, type(self).__name__)
        rng = check_random_state(self.random_state)
        x = components(X, self.n_components or max(self.n_bits, LEAST_COMPONENTS))
        problem = Problem(
            x.rows,
            numbers,
            len(self.classes_),
            self.lam,
            self.C,
            seed=int(rng.randint(2**31 - 1)),
            line_search=line_search,
            balanced=self.class_weight is not None,
        )
        A, a0 = first_projectors(problem, self.n_bits, self.init, rng)
        return Start(x, problem, A, a0, rng)

    def _describe(self, state: State) -> None:
        self.n_idle_classes_ = int(np.sum(~state.W.any(axis=1)))
        if self.n_idle_classes_:
            balanced = self.class_weight is not None
            advice = "raise lam" if balanced else "set class_weight='balanced'"
            advice += ", or learn more bits"
            warn_user(
                f"{self.n_idle_classes_} of {len(self.classes_)} classes have a "
                f"classifier that ignores the code, so no bit serves them: {advice}"
            )
        bits = state.H > 0
        self.n_dead_bits_ = tell_dead_bits(n_constant(bits), self.n_bits, ON_ROWS)
        self.n_different_bits_ = tell_equal_bits(bits, "take fewer bits")
