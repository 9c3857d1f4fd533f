"""Learners that alternate until they may stop."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from fewbits._warnings import warn_user
from fewbits.errors import InterruptedWarning
from fewbits.learners._core._base import Learner
from fewbits.learners._core._checkpoint import Checkpoint
from fewbits.learners._core._parameters import (
    MAX_ITERATIONS,
    check_integer,
    check_number,
    check_verbose,
)
from fewbits.learners._core._progress import report

State = TypeVar("State")


class IterativeLearner(Learner):
    """A learner whose `_learn` walks along improving states.

    The iterations stop after `n_iter`, or sooner when one of them lowers the objective
    by no more than `tol` times its value (never for ``tol=0``), or at an interrupt from
    the keyboard. After an interrupt the learner is fitted with what was reached, and an
    `InterruptedWarning` says so; an interrupt before the first iteration has ended is
    passed on.
    """

    n_iter: int
    tol: float
    verbose: bool
    n_iter_: int

    @property
    def n_planned(self) -> int:
        """Maximum number of iterations."""
        return self.n_iter

    def _check_iterations(self, least: int = 1) -> None:
        check_integer("n_iter", self.n_iter, least, MAX_ITERATIONS)
        check_number("tol", self.tol, 0)
        check_verbose(self.verbose)

    def _run(
        self,
        states: Iterator[tuple[State, float]],
        start: State | None = None,
        file: Checkpoint | None = None,
    ) -> State:
        """Return the last of `states` to be reached, `start` if none; keep score.

        With a `file`, whose states are arrays, they follow on what it holds.
        """
        objective = [] if file is None else file.objective
        # In one assignment: an interrupt must not leave a state without its value.
        reached: tuple[Any, int] = start, len(objective)
        walk: Iterator[tuple[Any, float]] = islice(states, self._n_left(objective))
        try:
            for state, value in walk:
                objective.append(value)
                reached = state, len(objective)
                if file is not None:
                    file.keep(state, objective)
                self._report(objective)
                if self._may_stop(objective):
                    break
            if file is not None:
                # The remaining steps may take long, too.
                file.write(reached[0], objective)
                file.is_done = True
        except KeyboardInterrupt:
            del objective[reached[1] :]
            if not objective:
                raise
            if file is not None:
                file.write(reached[0], objective)
            warn_of_interrupt(self, len(objective), self.n_iter, file and file.path)
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)
        last: State = reached[0]
        assert last is not None
        return last

    def _n_left(self, objective: list[float]) -> int:
        return 0 if self._may_stop(objective) else self.n_iter - len(objective)

    def _may_stop(self, objective: list[float]) -> bool:
        return may_stop(objective, self.tol)

    def _report(self, objective: list[float]) -> None:
        name = type(self).__name__
        report(name, len(objective), self.n_iter, objective[-1], verbose=self.verbose)


def may_stop(objective: list[float], tol: float) -> bool:
    """Return whether the last iteration lowered the objective too little."""
    if tol == 0 or len(objective) < 2:
        return False
    before, after = objective[-2:]
    return before - after <= tol * abs(before)


def warn_of_interrupt(
    learner: Learner, n_done: int, n_planned: int, path: Any, when: str = ""
) -> None:
    """Warn of an interrupt: the result is kept, and how to resume."""
    when = when or f"after {n_done} of {n_planned} iterations"
    later = "" if path is None else f"; the same fit resumes from {path}"
    name = type(learner).__name__
    message = f"interrupted {when}; the {name} learnt so far is kept{later}"
    warn_user(InterruptedWarning(message, n_done, n_planned))


@contextmanager
def interrupts_passed_on() -> Iterator[None]:
    """Let an interrupt end a fit, where what it has reached so far is of no use.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> with interrupts_passed_on():  # Ctrl-C: KeyboardInterrupt, not a warning
    ...     itq = ITQ(n_bits=4, random_state=0).fit(X)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterruptedWarning)
        try:
            yield
        except InterruptedWarning as interrupted:
            raise KeyboardInterrupt from interrupted
