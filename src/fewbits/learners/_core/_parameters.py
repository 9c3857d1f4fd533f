"""What parameters may be, settings in groups, and docstrings that bases complete."""

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval as SklearnInterval
from sklearn.utils._param_validation import StrOptions, make_constraint

from fewbits.codes import MAX_BITS
from fewbits.errors import ArgumentError

_SECTION = re.compile(r"^(\w+)\n-{4,}\n", re.MULTILINE)


def documented(kind: type, title: str) -> dict[str, str]:
    """Return what a class says of each of its ``Parameters`` or ``Attributes``."""
    parts = _SECTION.split(cleandoc(kind.__doc__ or ""))
    return _entries(dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, ""))


def complete(kind: type) -> None:
    """Add what the bases of a class say of the parameters and attributes it shares."""
    parts = _SECTION.split(cleandoc(kind.__doc__ or ""))
    for title in {"Parameters", "Attributes"}.intersection(parts[1::2]):
        place = parts.index(title) + 1
        entries = _entries(parts[place])
        for base in kind.__mro__[1:]:
            for name, entry in documented(base, title).items():
                if "\n" not in entries.setdefault(name, entry):  # a name and a type
                    entries[name] += entry[len(entry.partition("\n")[0]) :]
        parts[place] = "\n".join(dict.fromkeys(entries.values())) + "\n\n"
    sections = zip(parts[1::2], parts[2::2], strict=True)
    bodies = (f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections)
    kind.__doc__ = "".join([parts[0], *bodies]) or None


def _entries(body: str) -> dict[str, str]:
    body = re.sub(r",\n(?=\S)", ", ", body.strip("\n"))  # names on several lines
    entries = re.split(r"\n(?=\S)", body) if body else []
    return {
        name: entry
        for entry in entries
        for name in re.split(" : |\n", entry)[0].split(", ")
    }


#: Each iteration has a seed of its own, or a value of the objective.
MAX_ITERATIONS = 1_000_000


class Interval(SklearnInterval):  # type: ignore[misc]
    """Integers, or finite numbers, but no truth values."""

    def __init__(
        self,
        kind: type[int] | type[float],
        low: float,
        high: float | None = None,
        closed: Literal["left", "right", "both", "neither"] = "both",
    ) -> None:
        if high is None and closed == "both":
            closed = "left"
        super().__init__(Integral if kind is int else Real, low, high, closed=closed)

    def is_satisfied_by(self, val: Any) -> bool:
        fits = not isinstance(val, bool) and super().is_satisfied_by(val)
        try:
            return fits and (self.type is Integral or math.isfinite(val))
        except OverflowError:
            return False


#: Kinds of which one is allowed, words among them; or a function that takes the name
#: and the value and raises ArgumentError.
Constraint = Sequence[Interval | str | None] | Callable[[str, Any], object]


def check(name: str, value: Any, allowed: Constraint) -> None:
    if callable(allowed):
        allowed(name, value)
        return
    kinds = [make_constraint(kind) for kind in allowed]
    if not any(kind.is_satisfied_by(value) for kind in kinds):
        needed = " or ".join(map(str, kinds))
        raise ArgumentError(f"{name} must be {needed}, got {value!r}")


def words(*options: str) -> StrOptions:
    return StrOptions({*options})


def check_integers(name: str, values: Any, high: int | None = None) -> None:
    is_sequence = isinstance(values, Sequence | np.ndarray) and np.ndim(values) > 0
    if not is_sequence or isinstance(values, str):
        raise ArgumentError(
            f"{name} must be a sequence of integers, such as [{min(high or 64, 64)}], "
            f"got {values!r}"
        )
    for value in values:
        check(f"each of {name}", value, [Interval(int, 1, high)])


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
POSITIVE = [Interval(float, 0, closed="neither")]
SHARE = [Interval(float, 0, 1, closed="right")]
#: Of parameters that mean the same in all learners that have them.
USUAL: dict[str, Constraint] = {
    "n_bits": N_BITS,
    "n_iter": [Interval(int, 1, MAX_ITERATIONS)],
    "tol": [Interval(float, 0)],
    "class_weight": [words("balanced"), None],
    "C": POSITIVE,
    "reg": [Interval(float, 0)],
    "verbose": ["boolean", Interval(int, 0)],
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
