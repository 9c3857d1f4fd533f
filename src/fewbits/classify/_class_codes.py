"""Checks of the codes that classes get."""

from fewbits._checks import whole_number
from fewbits._frozen import frozen_array
from fewbits._typing import CodeArray
from fewbits.codes import as_codes, check_unused
from fewbits.errors import ArgumentError


def bits_needed(n_classes: int) -> int:
    """Return the shortest length that has a code for each class.

    Examples
    --------
    >>> bits_needed(1000), bits_needed(1025)
    (10, 11)
    """
    n_classes = whole_number(n_classes, "n_classes")
    if n_classes < 1:
        raise ArgumentError(f"n_classes must be at least 1, got {n_classes}")
    return max(1, (n_classes - 1).bit_length())


def check_capacity(n_classes: int, n_bits: int) -> None:
    """Refuse more classes than there are codes.

    Raises
    ------
    ArgumentError
        With the number of bits that would do.

    Examples
    --------
    >>> check_capacity(1000, 10)
    >>> check_capacity(1000, 8)
    Traceback (most recent call last):
    fewbits.errors.ArgumentError: 1000 classes need at least 10 bits to get codes of \
their own, got 8
    """
    needed = bits_needed(n_classes)
    if needed > whole_number(n_bits, "n_bits"):
        raise ArgumentError(
            f"{n_classes} classes need at least {needed} bits to get codes of their "
            f"own, got {n_bits}"
        )


def class_codes(codes: CodeArray, n_bits: int) -> CodeArray:
    """Return codes that are valid for classes, as a read-only array."""
    array = as_codes(codes, n_bits=n_bits)
    if not len(array):
        raise ArgumentError("a codebook needs at least one class, got none")
    check_unused(array, n_bits, "class codes")
    return frozen_array(array)
