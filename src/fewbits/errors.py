"""Errors that callers may want to tell apart.

Each is also the built-in error that fits, so ``except ValueError`` keeps working.
"""


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


class MissingDataError(FewbitsError, FileNotFoundError):
    """A data set is not on this machine; the message says how to get it."""


class MissingExtraError(FewbitsError, ImportError):
    """An optional dependency is not installed; the message names the command."""
