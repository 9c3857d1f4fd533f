"""Refuse parameters that are out of range, in one line that says what was needed."""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from fewbits.codes import MAX_BITS
from fewbits.errors import ArgumentError

#: Each iteration has a seed of its own, or a value of the objective.
MAX_ITERATIONS = 1_000_000


@contextmanager
def plain_integers(estimator: BaseEstimator) -> Iterator[None]:
    """Let parameters that are integers of NumPy, which overflow, be Python's."""
    given = {
        name: value
        for name, value in estimator.get_params().items()
        if isinstance(value, np.integer)
    }
    estimator.set_params(**{name: int(value) for name, value in given.items()})
    try:
        yield
    finally:
        estimator.set_params(**given)


def check_n_bits(value: Any) -> int:
    """Return a code length, between 1 and the longest code of the package."""
    return check_integer("n_bits", value, 1, MAX_BITS)


def check_batch_size(value: Any, tol: float) -> None:
    """Refuse what is neither a number of rows nor None, and batches with a `tol`."""
    if value is None:
        return
    check_integer("batch_size", value, 1)
    if tol > 0:
        raise ArgumentError(
            f"tol={tol:g} needs batch_size=None: the objective of batches "
            "goes up and down"
        )


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int when it lies between `low` and `high`, both included."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        upper = "or more" if high is None else f"to {high}"
        raise ArgumentError(f"{name} must be an integer, {low} {upper}, got {value!r}")
    return int(value)


def check_integers(name: str, values: Any, high: int | None = None) -> None:
    """Refuse what is not a sequence of integers from 1 to `high`."""
    is_sequence = isinstance(values, Sequence | np.ndarray) and np.ndim(values) > 0
    if not is_sequence or isinstance(values, str):
        raise ArgumentError(
            f"{name} must be a sequence of integers, such as [{min(high or 64, 64)}], "
            f"got {values!r}"
        )
    for value in values:
        check_integer(f"each of {name}", value, 1, high)


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, above: bool = False
) -> float:
    """Return `value` as a float in [low, high], or in (low, high] with `above`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not (low < value if above else low <= value) or value > high:
        lower = f"above {low:g}" if above else f"at least {low:g}"
        upper = "" if high == np.inf else f" and at most {high:g}"
        raise ArgumentError(f"{name} must be a number {lower}{upper}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # of an integer
        number = np.inf
    if not np.isfinite(number):
        raise ArgumentError(f"{name} must be finite, got {value!r}")
    return number


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool when it is one."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_verbose(value: Any) -> None:
    """Refuse what is neither a bool nor an integer of 0 or more."""
    if isinstance(value, bool | np.bool_):
        return
    if not isinstance(value, int | np.integer) or value < 0:
        raise ArgumentError(f"verbose must be True, False or a level, got {value!r}")


def check_path(name: str, value: Any) -> None:
    """Refuse what is neither the path of a file nor None."""
    if value is not None and not isinstance(value, str | os.PathLike):
        raise ArgumentError(f"{name} must be a path or None, got {value!r}")
    if value is not None and not os.fspath(value):
        raise ArgumentError(f"{name} must be a path or None, got an empty one")
    if value is not None and os.path.isdir(value):
        raise ArgumentError(f"{name} must be a file, {os.fspath(value)} is a folder")


def check_seed(value: Any) -> None:
    """Refuse a `random_state` that seeds nothing."""
    try:
        if isinstance(value, bool | np.bool_):
            raise ValueError(value)
        check_random_state(value)
    except ValueError:
        raise ArgumentError(
            "random_state must be an integer from 0 to 2**32 - 1, a RandomState or "
            f"None, got {value!r}"
        ) from None


def check_class_weight(value: Any) -> None:
    """Refuse what says neither that classes weigh the same nor that rows do."""
    if value is not None and not (isinstance(value, str) and value == "balanced"):
        raise ArgumentError(f"class_weight must be 'balanced' or None, got {value!r}")


def check_choice(name: str, value: Any, options: Collection[str]) -> None:
    """Refuse a `value` that is not one of the named options."""
    if not (isinstance(value, str) and value in options):
        named = ", ".join(repr(option) for option in options)
        raise ArgumentError(f"{name} must be one of {named}, got {value!r}")
