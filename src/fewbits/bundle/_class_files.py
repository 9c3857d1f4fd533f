"""Files of a bundle about its classes: codes, calibration of scores, rejection."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from fewbits.bundle._folder import checked_path
from fewbits.classify import (
    Calibration,
    Codebook,
    calibration_bytes,
    load_calibration,
    load_codebook,
)
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.ood import Rejection, load_rejection, rejection_bytes

_CODEBOOK, _CALIBRATION = "codebook.safetensors", "calibration.safetensors"
_REJECTION = "rejection.safetensors"


def check_classes(
    n_bits: int, codebook: Codebook | None, calibration: Calibration | None
) -> None:
    """Refuse a codebook or a calibration of codes of another length.

    Raises
    ------
    ArgumentError
    """
    if codebook is not None and codebook.n_bits != n_bits:
        raise ArgumentError(
            f"the codebook has {codebook.n_bits} bits, the encoder {n_bits}"
        )
    if calibration is None:
        return
    if codebook is None:
        raise ArgumentError("a calibration is of no use without a codebook")
    if len(calibration.shifts) != n_bits:
        raise ArgumentError(
            f"the calibration is of {len(calibration.shifts)} bits, the encoder has "
            f"{n_bits}"
        )


def check_rejection(n_features: int, rejection: Rejection | None) -> None:
    """Refuse a rejection of other features.

    Raises
    ------
    ArgumentError
    """
    if rejection is not None and len(rejection.score.mean) != n_features:
        raise ArgumentError(
            f"the rejection is of {len(rejection.score.mean)} features, the encoder "
            f"of {n_features}"
        )


def class_files(
    codebook: Codebook | None,
    calibration: Calibration | None,
    rejection: Rejection | None = None,
) -> dict[str, Callable[[IO[bytes]], object]]:
    """Return the names of the files, and what writes each."""
    files: dict[str, Callable[[IO[bytes]], object]] = {}
    if codebook is not None:
        book = codebook.to_bytes()
        files[_CODEBOOK] = lambda file: file.write(book)
    if calibration is not None:
        content = calibration_bytes(calibration)
        files[_CALIBRATION] = lambda file: file.write(content)
    if rejection is not None:
        scores = rejection_bytes(rejection)
        files[_REJECTION] = lambda file: file.write(scores)
    return files


def read_classes(
    folder: Path, manifest: Mapping[str, Any], n_bits: int
) -> tuple[Codebook | None, Calibration | None]:
    """Return what the folder of a bundle holds of both; older ones hold less.

    Raises
    ------
    ArtefactError
        When a file is missing or damaged, or of codes of another length.
    """
    codebook = calibration = None
    if _CODEBOOK in manifest["files"]:
        codebook = load_codebook(checked_path(folder, manifest, _CODEBOOK))
    if _CALIBRATION in manifest["files"]:
        calibration = load_calibration(checked_path(folder, manifest, _CALIBRATION))
    try:
        check_classes(n_bits, codebook, calibration)
    except ArgumentError as error:
        raise ArtefactError(f"{folder} mixes files of two bundles: {error}") from error
    return codebook, calibration


def read_rejection(
    folder: Path, manifest: Mapping[str, Any], n_features: int
) -> Rejection | None:
    """Return what the folder of a bundle holds of it.

    Raises
    ------
    ArtefactError
        When the file is missing or damaged, or of other features.
    """
    if _REJECTION not in manifest["files"]:
        return None
    rejection = load_rejection(checked_path(folder, manifest, _REJECTION))
    try:
        check_rejection(n_features, rejection)
    except ArgumentError as error:
        raise ArtefactError(f"{folder} mixes files of two bundles: {error}") from error
    return rejection


def check_same_classes(first: Codebook | None, second: Codebook | None) -> None:
    """Refuse two codebooks whose codes do not mean the same."""
    if first is None or second is None:
        raise ArgumentError(
            "bundles of two encoders have the same codes only where both have learnt "
            "those of the same classes: 'fewbits fit --method llc --codebook BUNDLE'"
        )
    if first.n_bits != second.n_bits:
        raise ArgumentError(
            f"one bundle has codes of {first.n_bits} bits, the other of {second.n_bits}"
        )
    theirs = dict(zip(second.names.tolist(), second.codes, strict=True))
    both = [
        (name, code, theirs[name])
        for name, code in zip(first.names.tolist(), first.codes, strict=True)
        if name in theirs
    ]
    if not both:
        raise ArgumentError("the two bundles have learnt codes of other classes")
    for name, one, other in both:
        if (one != other).any():
            raise ArgumentError(
                f"class {name!r} has another code in each bundle: learn one of them "
                "with the codes of the other, 'fewbits fit --codebook BUNDLE'"
            )
