"""How long PiCoDes and DBC take to learn, and the parts of a step of PiCoDes.

Noisy clusters stand for features; one of N, d, bits and classes is doubled at a time.
The parts are measured on growing parts of the problem of the paper, with its 6,415
features: times to the principal components and their rows, of a classifier, to find
what one bit of all examples costs, and of a projector with its search along the line.
"""

import resource
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._kernels import set_num_threads
from fewbits.learners import DBC, PiCoDes
from fewbits.learners.picodes import _steps as steps
from fewbits.learners.picodes._start import components, first_projectors
from fewbits.learners.picodes._steps import Problem, State
from research.core.record import Metrics

BASE = {"items": 2000, "features": 128, "bits": 32, "classes": 50}
FACTORS = (0.5, 2, 4)
SIZES = [
    BASE,
    *({**BASE, name: int(f * BASE[name])} for name in BASE for f in FACTORS),
]
LARGE = [
    {"items": items, "features": 6415, "bits": 256, "classes": 32}
    for items in (7500, 10_000, 15_000)  # more than there are features
]
PARTS, N_ITER = "parts of PiCoDes", 2
LAM, COST, N_PROJECTORS = 1000.0, 100.0, 5


def clusters(
    items: int, features: int, classes: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return noisy clusters, a class each, in directions of falling variance."""
    rng = np.random.default_rng(seed)
    scale = (1 + np.arange(features, dtype=np.float32)) ** -0.5
    centres = rng.standard_normal((classes, features), np.float32)
    y = np.arange(items) % classes
    noise = rng.standard_normal((items, features), np.float32)
    return (centres[y] + 1.5 * noise) * scale, y


def step_metrics(
    *, method: str, seed: int, items: int, features: int, bits: int, classes: int
) -> Metrics:
    """Return seconds of one thread per bit and iteration."""
    X, y = clusters(items, features, classes, seed)
    make: Any = {"PiCoDes": PiCoDes, "DBC": DBC}[method]
    seconds, iterations = [], []
    set_num_threads(1)
    try:
        for n_iter in (0, N_ITER) if method == "DBC" else (1, 1 + N_ITER):
            learner = make(bits, n_iter=n_iter, tol=0.0, random_state=seed)
            taken, _ = timed(learner.fit, X, y)
            seconds.append(taken)
            iterations.append(learner.n_iter_)
    finally:
        set_num_threads(None)
    n_more = iterations[1] - iterations[0]
    return {"seconds_per_bit": (seconds[1] - seconds[0]) / (bits * n_more)}


def parts_alone(**size: int) -> Metrics:
    """Return `parts` of a process of its own, as the memory at the peak is one's."""
    with get_context("spawn").Pool(1) as pool:
        found: Metrics = pool.apply(parts, (), size)
    return found


def parts(*, seed: int, items: int, features: int, bits: int, classes: int) -> Metrics:
    """Return the processor time of each part, and the memory at the peak."""
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
        seconds, deltas = timed(_costs_of, problem, state, c)
        of_costs.append(seconds)
        old = state.A[:, c], state.a0[c]
        seconds, found = timed(steps.projector, problem, deltas, state.H[:, c], old)
        of_projectors.append(seconds)
        n_better += found is not None
    return {
        "seconds_to_start": at_start,
        "seconds_per_classifier": of_classifiers / classes,
        "seconds_of_costs": float(np.median(of_costs)),
        "seconds_per_projector": float(np.median(of_projectors)),
        "idle": int(np.sum(~state.W.any(axis=1))),
        "better": n_better,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def _costs_of(problem: Problem, state: State, c: int) -> steps.Float64Array:
    """Return what a 1 costs more than a 0 in bit `c` of each example."""
    w = state.W[:, c]
    M = state.margins - np.outer(state.H[:, c], w)
    return steps.hinge_sums(problem, M + w) - steps.hinge_sums(problem, M)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the processor time of a call, and its result; others do not count."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result
