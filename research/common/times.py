"""Time to encode a vector: processor time on one thread, the least of several turns.

A turn starts with a call that is not timed: the place in the order matters less.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from fewbits import _kernels
from fewbits.encoders import Encoder
from fewbits.learners import Learner
from research.common.features import FeatureSet
from research.core.record import Metrics

#: Rows to learn a step from, and rows of a batch.
N_LEARN, N_BATCH = 2000, 512
TURNS = {"batch_us": 5, "single_us": 20}
#: Calls of a single vector in a turn, which are too short for the clock.
CALLS = 20


def encoder_of(learner: Learner, features: FeatureSet) -> Encoder:
    """Return an encoder of the right shape after one step: its time is the same."""
    if "n_iter" in learner.get_params():
        learner.set_params(n_iter=1)
    rows = np.random.default_rng(0).permutation(len(features.database))[:N_LEARN]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant bits
        return learner.fit(features.database[rows]).encoder_


def encode_times(
    encoders: Mapping[str, Encoder], features: FeatureSet
) -> dict[str, Metrics]:
    """Return microseconds for a vector, in a batch and alone, of each encoder."""
    found: dict[str, dict[str, float]] = {name: {} for name in encoders}
    sizes = {"batch_us": min(N_BATCH, len(features.queries)), "single_us": 1}
    _kernels.set_num_threads(1)
    try:
        for metric, n in sizes.items():
            X = np.ascontiguousarray(features.queries[:n])
            calls = {name: partial(each.encode, X) for name, each in encoders.items()}
            inner = CALLS if n == 1 else 1
            for name, seconds in in_turns(calls, TURNS[metric], inner).items():
                found[name][metric] = round(1e6 * seconds / n, 3)
    finally:
        _kernels.set_num_threads(None)
    return dict(found)


def in_turns(
    calls: Mapping[str, Callable[[], object]], turns: int, inner: int
) -> dict[str, float]:
    """Return the least seconds of one call of each, all in turn."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(turns):
        for name, call in calls.items():
            call()
            start = time.process_time()
            for _ in range(inner):
                call()
            least[name] = min(least[name], (time.process_time() - start) / inner)
    return least
