"""What a file asks of the program that reads or changes it, and what this one knows."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from fewbits.errors import NewerFormatError

_ADVICE = "install a newer fewbits"


def check_readable(
    path: str | Path, manifest: Mapping[str, Any], newest: int, known: Collection[str]
) -> None:
    """Refuse a manifest of a newer format, or with a feature that is not known.

    Raises ValueError where it names its features by anything but a list of texts.
    """
    number = manifest["format"]
    if type(number) is not int or number > newest:
        raise NewerFormatError(
            f"{path} was written in format {number}, this version reads formats up to "
            f"{newest}: {_ADVICE}"
        )
    if names := _unknown(features_of(manifest, "reader_features"), known):
        raise NewerFormatError(
            f"{path} needs {names}, which this version does not know: {_ADVICE}"
        )
    features_of(manifest, "writer_features")


def check_changeable(
    path: str | Path, features: Iterable[str], known: Collection[str]
) -> None:
    """Refuse to change what needs a feature of writers that is not known."""
    if names := _unknown(features, known):
        raise NewerFormatError(
            f"{path} can be read but not changed: that needs {names}, which this "
            f"version does not know: {_ADVICE}"
        )


def features_of(manifest: Mapping[str, Any], name: str) -> list[str]:
    """Return a list of features; earlier formats have none."""
    names = manifest.get(name, [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ValueError(f"{name} is {names!r}"[:100])
    return names


def _unknown(features: Iterable[str], known: Collection[str]) -> str:
    return ", ".join(repr(name) for name in features if name not in known)


def check_kind(path: str | Path, data: bytes, kind: bytes) -> bool:
    """Return whether an intact file begins with its kind, as ``fewbits del 1``.

    Raises NewerFormatError where it is one with another number.
    """
    begin, name = data[: len(kind)], kind[:12]
    if begin != kind and begin.startswith(name) and begin[12:13].isdigit():
        theirs, ours = (x.split(b"\n")[0].decode("latin-1") for x in (begin, kind))
        raise NewerFormatError(
            f"{path} is of kind {theirs!r}, this version reads {ours!r}: {_ADVICE}"
        )
    return begin == kind
