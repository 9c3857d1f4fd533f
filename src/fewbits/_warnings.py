"""Warnings that point at the line that called the package."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Packages between a user and the function that warns.
_BETWEEN = {"contextlib", "fewbits", "joblib", "sklearn", "torch"}
_COLLECTED: ContextVar[list[str] | None] = ContextVar("collected", default=None)


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller that is neither this package nor a library it uses."""
    messages = _COLLECTED.get()
    if messages is not None:
        messages.append(str(message))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _BETWEEN:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Gather what `warn_user` says in this thread, for a user who is elsewhere."""
    messages: list[str] = []
    token = _COLLECTED.set(messages)
    try:
        yield messages
    finally:
        _COLLECTED.reset(token)
