"""The time to encode a single vector."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import Encoder

_ROUNDS, _BURST = 5, 20


def seconds_alone(encoders: Sequence[Encoder], queries: NDArray[Any]) -> list[float]:
    """Return the time of each encoder for a query, with queries one by one.

    The median over some rounds of the shortest time in each: other work delays single
    calls by much, or all of a round. Encoders take turns, so that a slow spell of the
    machine is not one encoder's alone.
    """
    burst = [queries[i : i + 1] for i in range(min(len(queries), _BURST))]
    rounds = [[_shortest(each, burst) for each in encoders] for _ in range(_ROUNDS)]
    return [float(seconds) for seconds in np.median(rounds, axis=0)]


def _shortest(encoder: Encoder, burst: Sequence[NDArray[Any]]) -> float:
    times = []
    for query in burst:
        start = time.perf_counter()
        encoder.encode(query)
        times.append(time.perf_counter() - start)
    return min(times)
