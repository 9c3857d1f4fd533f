"""Hints on installing optional dependencies."""

from fewbits.errors import MissingExtraError


def install_hint(extra: str) -> str:
    """Return the command that installs what an extra needs beside fewbits.

    Where fewbits is installed, from a clone or otherwise, it stays as it is.

    Examples
    --------
    >>> install_hint("vision")
    "pip install 'fewbits[vision]'"
    """
    return f"pip install 'fewbits[{extra}]'"


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """Return the error that says what needs an extra, and how to install it."""
    return MissingExtraError(f"{what}: {install_hint(extra)}")
