"""What the parts of a step of PiCoDes take, on a part of the paper's problem."""

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments._cells import Cell
from experiments._clusters import clusters
from fewbits._kernels import set_num_threads
from fewbits.learners.supervised.picodes import _steps as steps
from fewbits.learners.supervised.picodes._start import components, first_projectors
from fewbits.learners.supervised.picodes._steps import Problem, State

LAM, COST = 1000.0, 100.0
N_PROJECTORS = 5


def parts(*, items: int, features: int, bits: int, classes: int, seed: int) -> Cell:
    """Return the processor time of each part, and the memory at the peak.

    Returns
    -------
    dict
        Seconds to the principal components and their rows; of one classifier; to find
        what the bits of all examples cost, for one bit; and the median of those of one
        projector, with its search along the line. Of these, how many were better than
        the old one.
    """
    set_num_threads(1)
    X, y = clusters(items, features, classes, seed)
    at_start, x = timed(components, X, None)
    problem = Problem(x.rows, y, classes, LAM, COST, seed)
    rng = np.random.RandomState(seed)
    A, a0 = first_projectors(problem, bits, "random", rng)
    start = steps.start(problem, A, a0)
    of_classifiers, state = timed(steps.learn_classifiers, problem, start)
    of_costs, of_projectors, n_better = [], [], 0
    for c in range(N_PROJECTORS):
        seconds, deltas = timed(costs_of, problem, state, c)
        of_costs.append(seconds)
        old = state.A[:, c], state.a0[c]
        seconds, found = timed(steps.projector, problem, deltas, state.H[:, c], old)
        of_projectors.append(seconds)
        n_better += found is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "seconds_to_start": at_start,
        "seconds_per_classifier": of_classifiers / classes,
        "seconds_of_costs": float(np.median(of_costs)),
        "seconds_per_projector": float(np.median(of_projectors)),
        "idle": int(np.sum(~state.W.any(axis=1))),
        "better": n_better,
        "peak_bytes": peak,
    }


def costs_of(problem: Problem, state: State, c: int) -> steps.Float64Array:
    """Return what a 1 costs more than a 0 in bit `c` of each example."""
    w = state.W[:, c]
    M = state.margins - np.outer(state.H[:, c], w)
    return steps.hinge_sums(problem, M + w) - steps.hinge_sums(problem, M)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the processor time of a call, and its result."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def counted_bytes(items: int, features: int, bits: int, classes: int) -> int:
    """Return the memory that a projector needs, array by array.

    Features in float32; their components in float64, and LIBLINEAR's copy of them, 16
    bytes an entry; bits, before and after the step, and scores of all classes in
    float64.
    """
    return items * (features * (4 + 8 + 16) + 2 * bits * 8 + classes * 8)
