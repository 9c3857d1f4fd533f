"""A file of measurements, from which a later run resumes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError
from fewbits.learners.fitting import data_checksum
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._measured import Measured

_FORMATS = "fewbits-measurements-"
FORMAT = f"{_FORMATS}3"


class Journal:
    """A file of JSON lines: a header on the data, then one line for each learner.

    Parameters
    ----------
    path : Path or None
        None stores the measurements in memory only.
    about : mapping
        What the measurements depend on. The target is not part of it: another one uses
        the same measurements.
    overwrite : bool, default=False
        Whether measurements of something else are replaced.

    Raises
    ------
    ArtefactError
        When the file holds measurements of something else, or none.
    """

    def __init__(
        self, path: Path | None, about: dict[str, Any], *, overwrite: bool = False
    ) -> None:
        self.path, self.overwrite = path, overwrite
        self._known: dict[tuple[int, str, str], list[Measured]] = {}
        header = {"format": FORMAT, **about}
        content = b"" if path is None or not path.exists() else path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        cut_off = _line(header).encode().startswith(content)
        if whole or not cut_off:
            lines = whole.splitlines() or [content]
            whole = whole if self._read(lines, header) else b""
        if path is not None and len(whole) < len(content):
            path.write_bytes(whole)  # a crash cut off what follows
        if not whole:
            self._append(header)

    def get(
        self, n_items: int, learner: Configuration, kind: str
    ) -> list[Measured] | None:
        """Return the measurements of a learner with so many rows, or None."""
        return self._known.get((n_items, learner.key, kind))

    def put(
        self,
        n_items: int,
        learner: Configuration,
        kind: str,
        found: Sequence[Measured],
    ) -> None:
        """Store measurements."""
        self._known[n_items, learner.key, kind] = list(found)
        key = [n_items, learner.key, kind]
        self._append({"key": key, "found": [each.as_dict() for each in found]})

    def _append(self, line: dict[str, Any]) -> None:
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(line))

    def _read(self, lines: list[bytes], header: dict[str, Any]) -> bool:
        """Read the journal, or start anew if it is of other data and may be replaced.

        A run that failed, or was stopped at once, leaves nothing to lose.
        """
        try:
            first, *rest = map(json.loads, lines)
            then = dict(first)
            if not str(then.get("format")).startswith(_FORMATS):
                raise ValueError("'fewbits tune' has not written it")
            other = [name for name in header if then.get(name) != header[name]]
            if other and (self.overwrite or not rest):
                return False
            for line in rest if not other else ():
                n_items, key, kind = line["key"]
                found = [Measured.from_dict(each) for each in line["found"]]
                self._known[n_items, key, kind] = found
        except (ValueError, LookupError, TypeError) as error:
            raise ArtefactError(
                f"{self.path} holds no measurements: {error}"
            ) from error
        if other:
            raise ArtefactError(
                f"{self.path} holds measurements of other data or settings "
                f"({', '.join(other)}): replace it by 'fewbits tune --overwrite' (in "
                "Python by overwrite=True), or name another file by --measurements"
            )
        return True


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content) + "\n"


def digest(X: NDArray[Any], y: NDArray[Any] | None) -> str:
    """Return a checksum of all rows and classes, whatever the names of the classes."""
    classes = None if y is None else np.unique(y, return_inverse=True)[1]
    return data_checksum(X, classes)
