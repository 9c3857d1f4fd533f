"""Checkpoint files from which an interrupted fit resumes."""

import json
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from fewbits._files import atomic_write, check_writable, remove_leftovers
from fewbits._runtime import changed, current_runtime
from fewbits._typing import Array
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.learners._core._rows import checksum

Arrays = tuple[NDArray[Any], ...]
Labels = sp.csr_array | NDArray[np.int64]  #: Numbers of classes, or a column for each.

_DAMAGE = (
    AttributeError,
    EOFError,
    KeyError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
)
_FORMAT = "fewbits-fit-1"
_FIRST = "learner"  # another one has other parameters, which say less
#: Entries that are checksums, or derived, and say nothing by themselves.
_IN_WORDS = {
    "data": "its rows or labels were others",
    "seed": "random_state was another",
}
_ROOM = 80
#: A file is renewed after this many seconds, and so that writing takes a twentieth of
#: the time at most.
_PAUSE, _WRITING_SHARE = 10.0, 1 / 20


class Checkpoint:
    """The state of a fit in a file, replaced whole; NumPy's ``.npz`` without pickles.

    Parameters
    ----------
    path : str or Path
    identity : dict
        What the fit depends on, for JSON: another fit refuses the file.

    Attributes
    ----------
    objective : list of float
        Of the iterations that the file knows.
    is_done : bool
        Whether no iteration is left.
    """

    def __init__(self, path: str | Path, identity: dict[str, Any]) -> None:
        self.path = Path(path)
        self.identity = json.loads(json.dumps(identity))
        self.objective: list[float] = []
        self.is_done = False
        self._due = 0.0

    def check(self) -> None:
        """Refuse a path that will be of no use, as far as is known without the data.

        Raises
        ------
        ArtefactError, OSError
            As `resume` does.
        """
        if not self.path.exists():
            return check_writable(self.path)
        with self._opened():
            pass

    def resume(self, start: Arrays) -> Arrays:
        """Return the state in the file; where there is none, write `start` to it.

        Raises
        ------
        ArtefactError
            When the file is damaged, or belongs to another fit; nothing in it is run.
        OSError
            When the file can be neither read nor written.
        """
        remove_leftovers(self.path)
        if not self.path.exists():
            self.write(start, [])
            return start
        state, self.objective = self._read()
        return state

    def keep(self, state: Arrays, objective: list[float]) -> None:
        """Write the state if the last time was long ago."""
        if time.monotonic() >= self._due:
            self.write(state, objective)

    def write(self, state: Arrays, objective: list[float]) -> None:
        """Replace the file by this state, all of it or nothing."""
        began = time.monotonic()
        head = json.dumps([_FORMAT, self.identity])
        with atomic_write(self.path) as file:
            np.savez(file, *state, head=np.array(head), objective=objective)
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, (ended - began) / _WRITING_SHARE)

    def remove(self) -> None:
        """Delete the file: the fit has ended."""
        later = current_runtime().done_checkpoints
        if later is None:
            self.path.unlink(missing_ok=True)
        else:
            later.append(self.path)

    def _read(self) -> tuple[Arrays, list[float]]:
        with self._opened() as file:
            objective = file["objective"].tolist()
            return tuple(
                file[f"arr_{i}"] for i in range(len(file.files) - 2)
            ), objective

    @contextmanager
    def _opened(self) -> Iterator[NpzFile]:
        """Open the file, if it belongs to this fit."""
        damaged = f"{self.path} is not a checkpoint of a fit, or damaged; name another"
        try:
            with open(self.path, "rb") as raw, np.load(raw) as file:
                form, identity = json.loads(str(file["head"]))
                if form != _FORMAT:
                    raise ArtefactError(damaged)
                known = {key: identity.get(key) for key in self.identity}
                check_identity(self.path, known, self.identity, "fit")
                yield file
        except (OSError, ArtefactError):
            raise
        except _DAMAGE as error:
            raise ArtefactError(damaged) from error


@contextmanager
def checkpoints_kept() -> Iterator[None]:
    """Delete the checkpoints of fits inside the block when it ends well, not before.

    For a block that also saves the result: a full disk must not cost a
    long fit. Fits in other threads or processes delete theirs when they end.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "fit.npz")
    ...     with checkpoints_kept():
    ...         itq = ITQ(n_bits=4, random_state=0, checkpoint=file).fit(X)
    ...         print(file.exists())
    ...     print(file.exists())
    True
    False
    """
    later: list[Path] = []
    with changed(done_checkpoints=later):
        yield
    for path in later:
        path.unlink(missing_ok=True)


def check_identity(
    path: Path, then: dict[str, Any], now: dict[str, Any], noun: str
) -> None:
    """Refuse a file that belongs to another fit or training."""
    other = sorted(key for key in {*then, *now} if then.get(key) != now.get(key))
    if other:
        key = _FIRST if _FIRST in other else other[0]
        differs = _IN_WORDS.get(key)
        if differs is None:
            differs = f"{key} was {_shown(then.get(key))}, now {_shown(now.get(key))}"
        raise ArtefactError(
            f"{path} belongs to another {noun}: {differs}; name another file, or "
            "delete this one to start anew"
        )


def _shown(value: Any) -> str:
    """Return what may be a whole network, cut to what a line has room for."""
    text = repr(value)
    return text if len(text) <= _ROOM else f"{text[:_ROOM]}..."


def data_checksum(X: Array, Y: Labels | None) -> str:
    """Return the SHA-256 of all rows, as float32, and of the labels, if any."""
    digest = sha256(checksum(X).encode())
    if Y is not None:
        parts = [Y.indptr, Y.indices, Y.data] if sp.issparse(Y) else [Y]
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def check_repeatable(checkpoint: Any, random_state: Any) -> None:
    """Raise ArgumentError for a fit that could not go on from its checkpoint."""
    if checkpoint is not None and not isinstance(random_state, int | np.integer):
        raise ArgumentError(
            "a fit with a checkpoint must be repeatable: random_state must be an "
            f"integer, got {random_state!r}"
        )
