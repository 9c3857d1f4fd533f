"""Calibrations on disk."""

from pathlib import Path

import numpy as np

from fewbits._artefacts import Tensors, checksum, read_tensors, tensor_bytes
from fewbits.classify._calibration import Calibration
from fewbits.errors import ArtefactError

FORMAT = "fewbits-calibration-1"


def calibration_bytes(calibration: Calibration) -> bytes:
    """Return the content of a file that `load_calibration` reads.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     content = calibration_bytes(Calibration(2.5, np.zeros(8)))
    ...     _ = Path(file.name).write_bytes(content)
    ...     load_calibration(file.name).scale
    2.5
    """
    tensors: Tensors = {
        "scale": np.array([calibration.scale], np.float64),
        "shifts": np.asarray(calibration.shifts, np.float64),
        "none": np.array([calibration.none], np.float64),
    }
    metadata = {"format": FORMAT, "fingerprint": _fingerprint(tensors)}
    return tensor_bytes(tensors, metadata)


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration, and check it against its fingerprint.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Calibration

    Raises
    ------
    ArtefactError
        When the file is not a calibration, is damaged, or was written by a newer
        version.
    OSError
        When there is no such file, or it may not be read.
    """
    metadata, tensors = read_tensors(path, "calibration", FORMAT)
    if _fingerprint(tensors) != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    try:
        scale, shifts, none = (tensors[name] for name in ("scale", "shifts", "none"))
        found = Calibration(float(scale.item()), shifts, float(none.item()))
    except (LookupError, ValueError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    # Written so that NaN is refused as well.
    sound = 0 < found.scale < np.inf and 0 <= found.none < 1
    sound = sound and shifts.ndim == 1 and bool(np.isfinite(shifts).all())
    if not sound:
        raise ArtefactError(f"{path} is damaged: its numbers are out of range")
    return found


def _fingerprint(tensors: Tensors) -> str:
    return checksum("calibration", tensors)
