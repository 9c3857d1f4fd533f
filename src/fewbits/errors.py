"""Errors and warnings that callers may want to distinguish.

Each error is also the built-in error that fits, so ``except ValueError`` keeps working.
"""

import errno
from typing import NamedTuple

_REASON = 200  # characters of a message that are shown


class FewbitsError(Exception):
    """Base of every error raised on purpose by this package."""


class FeatureError(FewbitsError, ValueError):
    """Features have the wrong shape or dtype, or are not finite."""


class CodeError(FewbitsError, ValueError):
    """Packed codes have the wrong shape or width."""


class ArgumentError(FewbitsError, ValueError):
    """A parameter lies outside its range."""


class ArtefactError(FewbitsError, ValueError):
    """A file on disk is not the artefact it was opened as, or it is damaged."""


class NewerFormatError(FewbitsError, ValueError):
    """A file is intact, and of a newer fewbits; the message names what that needs.

    Nothing of it is read, changed or repaired. It is no `ArtefactError`.
    """


class LockedError(FewbitsError, TimeoutError):
    """Another process changes the collection; the message says which."""


class MissingDataError(FewbitsError, FileNotFoundError):
    """A data set is not on this machine; the message says how to get it."""


class MissingExtraError(FewbitsError, ImportError):
    """An optional dependency is not installed; the message names the command."""


class ServiceError(FewbitsError, ConnectionError):
    """A service did not answer, or refused a request; the message says why.

    Parameters
    ----------
    message : str
    status : int, default=None
        Status of its answer, if there was one.
    code : str, default=None
        What the answer calls the error, such as ``"unauthorized"``.
    """

    def __init__(
        self, message: str, status: int | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class OutOfMemoryError(FewbitsError, MemoryError):
    """Training ran out of memory; the message says where, and what to do."""


class DivergedError(FewbitsError, ArithmeticError):
    """Training diverged to NaN or infinity."""


class InterruptedWarning(UserWarning):
    """A learner was interrupted, and keeps the result reached so far.

    Parameters
    ----------
    message : str
    n_done, n_planned : int
        Iterations.
    """

    def __init__(self, message: str, n_done: int, n_planned: int) -> None:
        super().__init__(message, n_done, n_planned)  # what pickling asks for
        self.n_done = n_done
        self.n_planned = n_planned

    def __str__(self) -> str:
        return str(self.args[0])


def a_kind(value: object) -> str:
    """Return the kind of a value with its article, for messages.

    Examples
    --------
    >>> a_kind(1), a_kind("")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def one_line(error: BaseException, longest: int = _REASON) -> str:
    r"""Return another library's message as one short line that a terminal can show.

    Examples
    --------
    >>> one_line(ValueError("bad\n  bytes \x1b[31m"))
    'bad bytes ?[31m'
    """
    line = " ".join(str(error).split()) or type(error).__name__
    return "".join(x if x.isprintable() else "?" for x in line[:longest])


class Outcome(NamedTuple):
    """What an error is over HTTP: its name in the answer, and the status.

    A client raises `kind` again if `is_raised`, else ServiceError. With `errnos`, only
    an OSError that has one of them is meant.
    """

    code: str
    kind: type[Exception]
    status: int
    is_raised: bool = True
    errnos: tuple[int, ...] = ()

    def fits(self, error: BaseException) -> bool:
        """Return whether it is that of an error."""
        if not isinstance(error, self.kind):
            return False
        return not self.errnos or getattr(error, "errno", None) in self.errnos


#: What each error is over HTTP, looked through in this order. On the command line each
#: is one line, and exit status 2.
OUTCOMES = (
    Outcome("disk_full", OSError, 507, False, (errno.ENOSPC, errno.EDQUOT)),
    Outcome("disk_failed", OSError, 503, False, (errno.EIO,)),
    Outcome("feature_error", FeatureError, 422),
    Outcome("code_error", CodeError, 422),
    Outcome("argument_error", ArgumentError, 422),
    Outcome("locked", LockedError, 409),
    Outcome("artefact_error", ArtefactError, 503),
    Outcome("newer_format", NewerFormatError, 503),
    Outcome("missing_data", MissingDataError, 501),
    Outcome("missing_extra", MissingExtraError, 501),
    Outcome("service_error", ServiceError, 502, is_raised=False),
    Outcome("internal_error", FewbitsError, 500, is_raised=False),
)


def outcome_of(error: BaseException) -> Outcome | None:
    """Return what becomes of an error; None of one that nothing expects."""
    return next((outcome for outcome in OUTCOMES if outcome.fits(error)), None)
