"""Warnings that point at the line that called the package."""

import sys
import warnings

#: Packages between a user and the function that warns.
_BETWEEN = {"contextlib", "fewbits", "joblib", "sklearn", "torch"}


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller that is neither this package nor a library it uses.

    Parameters
    ----------
    message : str or Warning
    category : type, default=UserWarning
        When the message is a string.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package_of(frame.f_globals) in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package_of(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
