"""Rejection on disk."""

from pathlib import Path

import numpy as np

from fewbits._artefacts import Tensors, checksum, read_tensors, tensor_bytes
from fewbits.errors import ArtefactError
from fewbits.ood._rejection import Rejection
from fewbits.ood._scores import SCORES

FORMAT = "fewbits-rejection-1"
_OF_SCORE = ("mean", "scale", "weights")
_CURVES = ("thresholds", "false_reject", "false_accept", "standard_errors")
_COUNTS = ("n_items", "n_classes")


def rejection_bytes(rejection: Rejection) -> bytes:
    """Return the content of a file that `load_rejection` reads.

    Weights are stored in single precision.
    """
    score = rejection.score
    tensors: Tensors = {
        **{name: getattr(score, name).astype(np.float32) for name in _OF_SCORE},
        **{name: getattr(rejection, name) for name in _CURVES},
        "counts": np.array([getattr(rejection, name) for name in _COUNTS], np.int64),
    }
    fingerprint = checksum(score.name, tensors)
    metadata = {"format": FORMAT, "score": score.name, "fingerprint": fingerprint}
    return tensor_bytes(tensors, metadata)


def load_rejection(path: str | Path) -> Rejection:
    """Read a rejection, and check it against its fingerprint.

    Raises
    ------
    ArtefactError
        When the file is not one, is damaged, or was written by a newer version.
    OSError
        When there is no such file, or it may not be read.
    """
    metadata, tensors = read_tensors(path, "rejection", FORMAT)
    name = metadata.get("score", "")
    if name not in SCORES or checksum(name, tensors) != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    try:
        score = SCORES[name](*(tensors[x].astype(np.float64) for x in _OF_SCORE))
        n_items, n_classes = tensors["counts"].tolist()
        curves = {name: tensors[name] for name in _CURVES}
        found = Rejection(score, n_items=n_items, n_classes=n_classes, **curves)
    except (LookupError, ValueError, TypeError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    n = len(found.thresholds)
    sound = all(len(each) == n > 0 for each in curves.values())
    sound = sound and all(np.isfinite(each).all() for each in tensors.values())
    if not (sound and score.weights.ndim == 2 and found.n_classes > 1):
        raise ArtefactError(f"{path} is damaged: its numbers are out of range")
    return found
