"""What parameters may be, as data, and settings in groups.

A learner and a group name the values of their parameters in `constraints`; errors are
one line that says what came and what was needed.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from sys import float_info
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from fewbits.codes import MAX_BITS
from fewbits.errors import ArgumentError
from fewbits.learners._core._docs import complete

#: Each iteration has a seed of its own, or a value of the objective.
MAX_ITERATIONS = 1_000_000
#: Ends that belong to an interval, as scikit-learn names them.
Closed = Literal["left", "right", "both", "neither"]


@dataclass(frozen=True)
class Interval:
    """Integers or numbers from `low` to `high`, of which those `closed` are allowed."""

    kind: type[int] | type[float]
    low: float
    high: float | None = None
    closed: Closed = "both"

    def __contains__(self, value: Any) -> bool:
        kind: Any = Integral if self.kind is int else Real
        if not isinstance(value, kind) or isinstance(value, bool):
            return False
        if not (self.low <= value if self._closed_at("left") else self.low < value):
            return False
        if self.high is None:
            # The largest float64 is beyond NumPy's shorter floats.
            most = float_info.max if isinstance(value, int | float) else None
            finite = value < inf if most is None else value <= most
            return kind is Integral or bool(finite)
        return bool(
            value <= self.high if self._closed_at("right") else value < self.high
        )

    def __str__(self) -> str:
        if self.kind is int:
            upper = "or more" if self.high is None else f"to {self.high}"
            return f"an integer, {self.low} {upper}"
        lower = "at least" if self._closed_at("left") else "above"
        words = f"a number {lower} {self.low:g}"
        if self.high is None:
            return words
        upper = "at most" if self._closed_at("right") else "below"
        return f"{words} and {upper} {self.high:g}"

    def _closed_at(self, end: str) -> bool:
        return self.closed in (end, "both")


#: Intervals, None, bool, and words, of which one is allowed; or a function that takes
#: the name and the value and raises ArgumentError.
Constraint = Sequence[Interval | type[bool] | str | None] | Callable[[str, Any], object]


def check(name: str, value: Any, allowed: Constraint) -> None:
    if callable(allowed):
        allowed(name, value)
        return
    for option in allowed:
        if isinstance(option, Interval):
            fits = value in option
        elif option is bool:
            fits = isinstance(value, bool | np.bool_)
        else:
            fits = type(value) in (str, np.str_, type(None)) and value == option
        if fits:
            return
    needed = " or ".join(map(_in_words, allowed))
    words = [option for option in allowed if isinstance(option, str)]
    if len(words) > 1 and all(option in words or option is None for option in allowed):
        needed = f"one of {', '.join(map(repr, words))}"
        needed += " or None" if None in allowed else ""
    if "a number" in needed and value in Interval(float, float_info.max, math.inf):
        needed = "finite"
    raise ArgumentError(f"{name} must be {needed}, got {value!r}")


def _in_words(allowed: Any) -> str:
    if allowed is bool:
        return "True or False"
    return str(allowed) if isinstance(allowed, Interval) else repr(allowed)


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    check(name, value, [Interval(int, low, high)])
    return int(value)


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float | None = None,
    *,
    closed: Closed = "both",
) -> float:
    check(name, value, [Interval(float, low, high, closed)])
    return float(value)


def check_integers(name: str, values: Any, high: int | None = None) -> None:
    is_sequence = isinstance(values, Sequence | np.ndarray) and np.ndim(values) > 0
    if not is_sequence or isinstance(values, str):
        raise ArgumentError(
            f"{name} must be a sequence of integers, such as [{min(high or 64, 64)}], "
            f"got {values!r}"
        )
    for value in values:
        check_integer(f"each of {name}", value, 1, high)


def check_path(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(f"{name} must be a path or None, got {value!r}")
    if not os.fspath(value):
        raise ArgumentError(f"{name} must be a path or None, got an empty one")
    if os.path.isdir(value):
        raise ArgumentError(f"{name} must be a file, {os.fspath(value)} is a folder")


def check_seed(name: str, value: Any) -> None:
    try:
        if isinstance(value, bool | np.bool_):
            raise ValueError(value)
        check_random_state(value)
    except ValueError:
        raise ArgumentError(
            f"{name} must be an integer from 0 to 2**32 - 1, a RandomState or None, "
            f"got {value!r}"
        ) from None


N_BITS = [Interval(int, 1, MAX_BITS)]
VERBOSE: Constraint = [bool, Interval(int, 0)]
POSITIVE = [Interval(float, 0, closed="neither")]
SHARE = [Interval(float, 0, 1, closed="right")]
#: Of parameters that mean the same in all learners that have them.
USUAL: dict[str, Constraint] = {
    "n_bits": N_BITS,
    "n_iter": [Interval(int, 1, MAX_ITERATIONS)],
    "tol": [Interval(float, 0)],
    "batch_size": [Interval(int, 1), None],
    "class_weight": ["balanced", None],
    "C": POSITIVE,
    "reg": [Interval(float, 0)],
    "relative": [bool],
    "verbose": VERBOSE,
    "checkpoint": check_path,
    "random_state": check_seed,
}
#: The `n_iter` of learners that may keep what they start with.
FROM_0 = [Interval(int, 0, MAX_ITERATIONS)]


class Config(BaseEstimator):  # type: ignore[misc]
    """A group of settings of a learner, named ``group__setting``."""

    constraints: ClassVar[Mapping[str, Constraint]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete(cls)

    def check(self) -> None:
        """Refuse settings that do not go together."""
