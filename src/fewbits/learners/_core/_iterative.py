"""What long fits share: iterations, checkpoints, progress, cached steps."""

from __future__ import annotations

import json
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from fewbits._files import atomic_write, check_writable, remove_leftovers
from fewbits._runtime import Listener, Notes, Progress, Result, changed, current_runtime
from fewbits._typing import Array
from fewbits._version import __version__
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, ArtefactError, InterruptedWarning
from fewbits.learners._core._base import Learner
from fewbits.learners._core._device import current_backend
from fewbits.learners._core._parameters import USUAL
from fewbits.learners._core._rows import checksum

Arrays = tuple[NDArray[Any], ...]
Labels = sp.csr_array | NDArray[np.int64]  #: Numbers of classes, or a column for each.
#: From a state, better and better ones, each with its objective.
States = Callable[[Arrays], Iterator[tuple[Arrays, float]]]


@dataclass(kw_only=True, eq=False, repr=False)
class IterativeLearner(Learner):
    """A learner whose `_learn` walks along improving states, which are arrays.

    The next state must depend on the one before, the data and the parameters only.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    n_iter : int, default=50
        Number of iterations, at most.
    tol : float, default=0
        Stop when an iteration lowers the objective by this share or less; 0: never.
    checkpoint : path or None, default=None
        File of the progress: `fit` resumes from it, to the same result, and deletes it.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds all that is drawn: the start, and samples of rows.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations that were done.
    """

    n_bits: int = field(default=64, kw_only=False)
    n_iter: int = 50
    tol: float = 0.0
    checkpoint: Any = None
    verbose: bool = False
    random_state: Any = None

    constraints: ClassVar = USUAL

    def _check_parameters(self) -> None:
        self.__dict__.pop("_file", None)
        if self.checkpoint is not None:
            check_repeatable(self.checkpoint, self.random_state)
            # Now, and not when the hours before the first iteration are over.
            Checkpoint(self.checkpoint, self._identity()).check()

    def _run(
        self, states: States, start: Arrays, X: Array, Y: Labels | None = None
    ) -> Arrays:
        """Return the last of the `states` that follow on `start`, or on the file."""
        objective: list[float] = []
        file = None
        if self.checkpoint is not None:
            identity = {**self._identity(), "data": data_checksum(X, Y)}
            self._file = file = Checkpoint(self.checkpoint, identity)
            saved = file.read()
            if saved is None:
                file.write(start, [])
            else:
                start, objective = saved
        n_left = self.n_iter - len(objective)
        if self.tol and self._may_stop(objective):
            n_left = 0
        # In one assignment: an interrupt must not leave a state without its value.
        reached = start, len(objective)
        try:
            for state, value in islice(states(start), n_left):
                objective.append(value)
                reached = state, len(objective)
                if file is not None and time.monotonic() >= file.due:
                    file.write(state, objective)
                report(
                    type(self).__name__,
                    len(objective),
                    self.n_iter,
                    value,
                    verbose=self.verbose,
                )
                if self.tol and self._may_stop(objective):
                    break
            if file is not None:
                # The remaining steps may take long, too.
                file.write(reached[0], objective)
                file.is_done = True
        except KeyboardInterrupt:
            del objective[reached[1] :]
            if not objective:
                raise
            if file is not None:
                file.write(reached[0], objective)
            warn_of_interrupt(self, len(objective), self.n_iter, self.checkpoint)
        self.objective_, self.n_iter_ = np.array(objective), len(objective)
        return reached[0]

    def _may_stop(self, objective: list[float]) -> bool:
        """Return whether the last iteration lowered the objective too little."""
        if len(objective) < 2:
            return False
        before, after = objective[-2:]
        return before - after <= self.tol * abs(before)

    def _identity(self) -> dict[str, Any]:
        """Return what the fit depends on besides data, as JSON knows it."""
        identity = {"learner": type(self).__name__, "version": __version__}
        for name, value in self.get_params().items():
            if name not in ("verbose", "checkpoint") and name not in self.configs:
                identity[name.replace("__", ".")] = np.asarray(value).tolist()
        if self.uses_device:  # whose axes may be others, or turned
            identity["device"] = current_backend().name
        return identity


# Interrupts.


def warn_of_interrupt(
    learner: Learner, n_done: int, n_planned: int, path: Any, when: str = ""
) -> None:
    """Warn of an interrupt: the result is kept, and how to resume."""
    when = when or f"after {n_done} of {n_planned} iterations"
    later = "" if path is None else f"; the same fit resumes from {path}"
    name = type(learner).__name__
    message = f"interrupted {when}; the {name} learnt so far is kept{later}"
    warn_user(InterruptedWarning(message, n_done, n_planned))


@contextmanager
def interrupts_passed_on() -> Iterator[None]:
    """Let an interrupt end a fit, where what it has reached so far is of no use.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> with interrupts_passed_on():  # Ctrl-C: KeyboardInterrupt, not a warning
    ...     itq = ITQ(n_bits=4, random_state=0).fit(X)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterruptedWarning)
        try:
            yield
        except InterruptedWarning as interrupted:
            raise KeyboardInterrupt from interrupted


# Checkpoints.

_FORMAT = "fewbits-fit-1"
#: Entries that are checksums, or derived, and say nothing by themselves.
_IN_WORDS = {
    "data": "its rows or labels were others",
    "seed": "random_state was another",
}
#: Characters of a value that differs.
_SHOWN = 80
_DAMAGE = (
    AttributeError,
    EOFError,
    KeyError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
)
#: Seconds until a file is renewed, or twenty times those that writing took.
_PAUSE, _WRITING_SHARE = 10.0, 1 / 20


class Checkpoint:
    """The state of a fit in a file, replaced whole; NumPy's ``.npz`` without pickles.

    The `identity` is what the fit depends on, for JSON: another fit refuses the file.
    """

    def __init__(self, path: str | Path, identity: dict[str, Any]) -> None:
        self.path = Path(path)
        self.identity = json.loads(json.dumps(identity))
        self.is_done = False  # whether no iteration is left
        self.due = 0.0  # for the next writing

    def check(self) -> None:
        """Refuse a path that will be of no use, as far as is known without the data."""
        if not self.path.exists():
            return check_writable(self.path)
        with self._opened():
            pass

    def read(self) -> tuple[Arrays, list[float]] | None:
        """Return state and objective of the file, or None if there is none."""
        remove_leftovers(self.path)
        if not self.path.exists():
            return None
        with self._opened() as file:
            state = tuple(file[f"arr_{i}"] for i in range(len(file.files) - 2))
            return state, file["objective"].tolist()

    def write(self, state: Arrays, objective: list[float]) -> None:
        """Replace the file by this state, all of it or nothing."""
        began = time.monotonic()
        head = json.dumps([_FORMAT, self.identity])
        with atomic_write(self.path) as file:
            np.savez(file, *state, head=np.array(head), objective=objective)
        ended = time.monotonic()
        self.due = ended + max(_PAUSE, (ended - began) / _WRITING_SHARE)

    def remove(self) -> None:
        later = current_runtime().done_checkpoints
        if later is None:
            self.path.unlink(missing_ok=True)
        else:
            later.append(self.path)

    @contextmanager
    def _opened(self) -> Iterator[NpzFile]:
        damaged = f"{self.path} is not a checkpoint of a fit, or damaged; name another"
        try:
            with open(self.path, "rb") as raw, np.load(raw) as file:
                form, identity = json.loads(str(file["head"]))
                if form != _FORMAT:
                    raise ArtefactError(damaged)
                now = self.identity
                other = sorted(key for key in now if identity.get(key) != now[key])
                if other:
                    # Another learner has other parameters, which say less.
                    key = "learner" if "learner" in other else other[0]
                    was, is_now = (repr(x.get(key))[:_SHOWN] for x in (identity, now))
                    differs = _IN_WORDS.get(key, f"{key} was {was}, now {is_now}")
                    raise ArtefactError(
                        f"{self.path} belongs to another fit: {differs}; name another "
                        "file, or delete this one to start anew"
                    )
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


def data_checksum(X: Array, Y: Labels | None) -> str:
    digest = sha256(checksum(X).encode())
    if Y is not None:
        parts = [Y.indptr, Y.indices, Y.data] if sp.issparse(Y) else [Y]
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def check_repeatable(checkpoint: Any, random_state: Any) -> None:
    if checkpoint is not None and not isinstance(random_state, int | np.integer):
        raise ArgumentError(
            "a fit with a checkpoint must be repeatable: random_state must be an "
            f"integer, got {random_state!r}"
        )


# Progress.


def report(
    name: str, done: int, total: int, objective: float, *, verbose: bool, note: str = ""
) -> None:
    """Report to the listener, if any, and to standard error if `verbose`."""
    progress = current_runtime().progress
    if progress is None and not verbose:
        return
    message = f"objective {objective:.6g}{note}"
    if progress is not None:
        if progress.notes is not None:
            progress.notes(message)
        progress.listener(done, total, objective)
    if verbose:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{name}: {done}/{total}, {message}{end}")
        sys.stderr.flush()


def on_progress(
    listener: Listener, notes: Notes | None = None
) -> AbstractContextManager[None]:
    """Call `listener` after each iteration of every learner fitted inside the block.

    Fits in other threads or processes do not report.

    Parameters
    ----------
    listener : callable
        Called with the number of iterations done, their largest possible number, and
        the value of the objective.
    notes : callable, default=None
        Called before that with a text for people: the objective, and what else the
        learner watches, as "objective 0.31, mAP 0.812, bound 1.400".

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> with on_progress(lambda done, total, objective: print(done, "of", total)):
    ...     itq = ITQ(n_bits=4, n_iter=2, random_state=0).fit(X)
    1 of 2
    2 of 2
    """
    return changed(progress=Progress(listener, notes))


# Steps in common.


@dataclass
class SharedSteps:
    """Steps by name, each with its key and its seconds, and the seconds saved."""

    seconds_saved: float = 0.0
    steps: dict[Hashable, tuple[Hashable, Any, float]] = field(default_factory=dict)


@contextmanager
def shared_steps() -> Iterator[SharedSteps]:
    """Let fits in the block share intermediate results on the same rows.

    These are the principal axes, the random rotation to start from, and the neighbours
    that codes are trained to keep. The last of each is kept, as long as the block
    lasts. Results are the same. Fits in other threads or processes do not share.

    Yields
    ------
    SharedSteps
        Its ``seconds_saved`` is the time that sharing has saved.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> with shared_steps():
    ...     codes = [ITQ(n_bits, random_state=0).fit(X) for n_bits in (4, 8)]
    """
    shared = SharedSteps()
    with changed(shared_steps=shared):
        yield shared


def cached_step(
    name: Hashable, key: Callable[[], Hashable], compute: Callable[[], Result]
) -> Result:
    """Return the result of `compute`, or of an earlier call with this key."""
    shared = current_runtime().shared_steps
    if shared is None:
        return compute()
    known, result, seconds = shared.steps.get(name, (None, None, 0.0))
    if known == (now := key()):
        shared.seconds_saved += seconds
        return cast("Result", result)
    shared.steps.pop(name, None)  # two of them may not fit into memory
    start = time.perf_counter()
    result = compute()
    shared.steps[name] = now, result, time.perf_counter() - start
    return result
