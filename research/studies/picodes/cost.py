"""The time that PiCoDes and DBC take to learn.

Noisy clusters stand for features; one of N, d, bits and classes is doubled at a time.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._kernels import set_num_threads
from fewbits.learners import DBC, PiCoDes
from research.core.record import Metrics

BASE = {"items": 2000, "features": 128, "bits": 32, "classes": 50}
FACTORS = (0.5, 2, 4)
SIZES = [
    BASE,
    *({**BASE, name: int(f * BASE[name])} for name in BASE for f in FACTORS),
]
N_ITER = 2


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


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the processor time of a call, and its result; others do not count."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result
