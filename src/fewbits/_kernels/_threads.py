"""The number of threads of the kernels. Results never depend on it."""

import operator
import os

from fewbits._runtime import current_runtime
from fewbits.errors import ArgumentError

_chosen: int | None = None  # None where it is to be found out, at the next use


def num_threads() -> int:
    """Return the number of threads.

    All the processors that this process may use, unless `set_num_threads` or
    ``FEWBITS_NUM_THREADS`` says otherwise, but no more than the blocks around allow.
    Both are read at the first use.
    """
    global _chosen
    if _chosen is None:
        text = os.environ.get("FEWBITS_NUM_THREADS", "")
        if text and (not text.isdigit() or int(text) < 1):
            raise ArgumentError(
                f"FEWBITS_NUM_THREADS must be a whole number from 1 on, got {text!r}"
            )
        if text:
            _chosen = int(text)
        elif hasattr(os, "sched_getaffinity"):
            _chosen = len(os.sched_getaffinity(0))
        else:
            _chosen = os.cpu_count() or 1
    limit = current_runtime().threads
    return _chosen if limit is None else min(limit, _chosen)


def set_num_threads(n: int | None) -> None:
    """Use `n` threads from now on; ``None`` reads the default again."""
    global _chosen
    try:
        number = None if n is None else operator.index(n)
    except TypeError:
        raise ArgumentError(
            f"the number of threads must be a whole number, got {n!r}"
        ) from None
    if number is not None and number < 1:
        raise ArgumentError(f"the number of threads must be at least 1, got {n}")
    _chosen = number
