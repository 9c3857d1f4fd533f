"""Checks of arguments that several packages make, one clear line each."""

import operator
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np

from fewbits.errors import ArgumentError


def whole_number(value: int, name: str) -> int:
    """Return `value` as an int, or refuse it."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        given = repr(value) if np.isscalar(value) else type(value).__name__
        raise ArgumentError(f"{name} must be a whole number, got {given}") from None


def check_count(value: int, name: str, minimum: int = 1) -> int:
    """Return `value` as an int that is at least `minimum`."""
    number = whole_number(value, name)
    if number < minimum:
        raise ArgumentError(f"{name} must be at least {minimum}, got {number}")
    return number


def check_rate(rate: float, name: str = "rate") -> None:
    """Refuse a share that is not above 0 and below 1."""
    if not isinstance(rate, Real) or not 0 < rate < 1:
        raise ArgumentError(
            f"{name} must be a number above 0 and below 1, got {rate!r}"
        )


def check_seed(value: Any) -> int:
    """Return `value` as an int that seeds every generator."""
    number = whole_number(value, "random_state")
    if isinstance(value, bool) or not 0 <= number < 2**32:
        raise ArgumentError(
            f"random_state must be an integer from 0 to 2**32 - 1, got {value!r}"
        )
    return number


def check_choice(value: str, name: str, choices: Iterable[str]) -> str:
    """Return `value` when it is one of `choices`."""
    known = tuple(choices)
    if value not in known:
        raise ArgumentError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return value


def check_k(k: int, name: str = "k") -> int:
    """Return `k` as an int; it may exceed the number of codes, within reason."""
    if type(k) is not int:
        k = whole_number(k, name)
    if not 1 <= k < 2**31:
        raise ArgumentError(f"{name} must be at least 1 and below 2**31, got {k}")
    return k


def check_radius(radius: int) -> int:
    """Return a Hamming distance as an int that is at least 0."""
    return check_count(radius, "radius", 0)


def check_prefix(n_bits: int, whole: int) -> int:
    """Return the length of a prefix of codes of `whole` bits as an int."""
    n_bits = whole_number(n_bits, "n_bits")
    if not 1 <= n_bits <= whole:
        raise ArgumentError(
            f"a prefix must have between 1 and {whole} bits, got {n_bits}"
        )
    return n_bits


def check_zero_bit(zero_bit: int) -> int:
    """Return the bit of a score of exactly zero as an int, 0 or 1."""
    if np.ndim(zero_bit) or zero_bit not in (0, 1):
        raise ArgumentError(f"zero_bit must be 0 or 1, got {zero_bit!r}")
    return int(zero_bit)


def check_bits(bits: Iterable[int] | None, n_bits: int) -> list[int]:
    """Return the numbers of the chosen bits, all of them for None."""
    if bits is None:
        return list(range(n_bits))
    return [check_bit(bit, n_bits) for bit in bits]


def check_bit(bit: int, n_bits: int) -> int:
    """Return the number of one bit."""
    bit = whole_number(bit, "a bit")
    if not 0 <= bit < n_bits:
        raise ArgumentError(f"there is no bit {bit} in codes of {n_bits} bits")
    return bit


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator for a seed, a generator, or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"random_state is not a seed: {error}") from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question after the name that was meant, or nothing if none is near.

    Names of a part, as ``loss.gamma``, are compared by what stands behind the dot.

    Examples
    --------
    >>> nearest("iqt", ["itq", "lsh"]), nearest("pca", ["itq", "lsh"])
    (" (did you mean 'itq'?)", '')
    >>> nearest("loss.gama", ["loss.gamma"]), nearest("loss.block", ["loss.mode"])
    (" (did you mean 'loss.gamma'?)", '')
    """
    part, dot, last = name.lower().rpartition(".")
    behind = [
        each.removeprefix(part + dot) for each in known if each.startswith(part + dot)
    ]
    matches = get_close_matches(last, behind, n=1)
    return f" (did you mean {part + dot + matches[0]!r}?)" if matches else ""
