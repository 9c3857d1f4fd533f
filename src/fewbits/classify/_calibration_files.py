"""Calibrations on disk."""

from pathlib import Path

import numpy as np

from fewbits._artefacts import Tensors, checksum, read_tensors, tensor_bytes
from fewbits.classify._calibration import Calibration
from fewbits.errors import ArtefactError
from fewbits.ood import FalseAcceptRates

FORMAT = "fewbits-calibration-1"
#: Not in the files of all bundles.
_LEFT_OUT, _N_LEFT_OUT = "leave_one_class_out_rates", "left_out_items"


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
    if calibration.left_out is not None:
        *curves, n_items = calibration.left_out
        tensors[_LEFT_OUT] = np.array(curves, np.float64)
        tensors[_N_LEFT_OUT] = np.array([n_items], np.int64)
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
        left_out = _left_out(tensors)
        found = Calibration(float(scale.item()), shifts, float(none.item()), left_out)
    except (LookupError, ValueError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    # Written so that NaN is refused as well.
    sound = 0 < found.scale < np.inf and 0 <= found.none < 1
    sound = sound and shifts.ndim == 1 and bool(np.isfinite(shifts).all())
    if not (sound and _sound(left_out, len(shifts))):
        raise ArtefactError(f"{path} is damaged: its numbers are out of range")
    return found


def _left_out(tensors: Tensors) -> FalseAcceptRates | None:
    """Return how often left-out classes are accepted, if the file knows."""
    if _LEFT_OUT not in tensors:
        return None
    rates, errors = np.asarray(tensors[_LEFT_OUT], np.float64)
    return FalseAcceptRates(rates, errors, int(tensors[_N_LEFT_OUT].item()))


def _sound(left_out: FalseAcceptRates | None, n_bits: int) -> bool:
    if left_out is None:
        return True
    rates, errors, n_items = left_out
    rising = rates.shape == (n_bits + 1,) and bool((np.diff(rates) >= 0).all())
    known = np.isnan(errors) | (errors >= 0)  # with one class there is no error
    within = rates[0] >= 0 and rates[-1] <= 1 and n_items > 0
    return rising and within and bool(known.all())


def _fingerprint(tensors: Tensors) -> str:
    return checksum("calibration", tensors)
