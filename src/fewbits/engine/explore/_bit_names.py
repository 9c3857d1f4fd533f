"""Names that people give to bits, in a file beside the bundle."""

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from fewbits._files import atomic_write
from fewbits.bundle import Bundle, read_names
from fewbits.errors import ArgumentError

#: Names of the values 0 and 1 of a bit; None where a side has none.
Sides = tuple[str | None, str | None]
_LONGEST = 200
_CHANGING = Lock()


def bit_names_path(folder: str | Path, bundle: Bundle) -> Path:
    """Return the file with the names of the bits of an encoder.

    Its name holds the encoder's fingerprint: bits of another encoder have other
    meanings. ``fewbits inspect --names`` takes the file.
    """
    return Path(folder) / f"bit-names-{bundle.encoder.fingerprint[:12]}.json"


def bit_names(folder: str | Path | None, bundle: Bundle) -> dict[int, Sides]:
    """Return the names that were given to the bits of a bundle.

    Parameters
    ----------
    folder : str, Path or None
        Folder of the bundle; None for one in memory, which has no names.
    bundle : Bundle

    Raises
    ------
    ArgumentError
        When the file holds anything else.
    """
    if folder is None:
        return {}
    path = bit_names_path(folder, bundle)
    if not path.is_file():
        return {}
    n_bits = bundle.encoder.n_bits
    return {bit: each for bit, each in read_names(path).items() if bit < n_bits}


def name_bit(
    folder: str | Path,
    bundle: Bundle,
    bit: int,
    zeros: str | None,
    ones: str | None,
) -> Sides:
    """Name the sides of a bit, and return their names as they were saved.

    Parameters
    ----------
    folder : str or Path
    bundle : Bundle
    bit : int
    zeros, ones : str or None
        Names of the values 0 and 1. None, or a blank, takes the name away.

    Raises
    ------
    ArgumentError
        When there is no such bit, or a name is longer than 200 characters or has
        control characters.
    OSError
        When the file cannot be written.
    """
    check_bit(bundle, bit)
    sides = _checked(zeros, "zeros"), _checked(ones, "ones")
    with _CHANGING:
        names = {**bit_names(folder, bundle), bit: sides}
        if sides == (None, None):
            del names[bit]
        _write(bit_names_path(folder, bundle), names)
    return sides


def check_bit(bundle: Bundle, bit: int) -> int:
    """Return the number of a bit that there is.

    Raises
    ------
    ArgumentError
        When there is none.
    """
    n_bits = bundle.encoder.n_bits
    if not 0 <= bit < n_bits:
        raise ArgumentError(f"bit must be between 0 and {n_bits - 1}, got {bit}")
    return bit


def _checked(name: str | None, side: str) -> str | None:
    if name is None or not name.strip():
        return None
    name = name.strip()
    if len(name) > _LONGEST:
        raise ArgumentError(
            f"the name of the {side} has {len(name)} characters; at most {_LONGEST}"
        )
    # Cs: half of a pair of UTF-16, which no file of UTF-8 can hold.
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise ArgumentError(f"the name of the {side} has control characters")
    return name


def _write(path: Path, names: Mapping[int, Sides]) -> None:
    content = {str(bit): names[bit] for bit in sorted(names)}
    with atomic_write(path) as file:
        file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
