"""Progress reports of fits."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from fewbits._runtime import Listener, Notes, Progress, changed, current_runtime


def on_progress(
    listener: Listener, notes: Notes | None = None
) -> AbstractContextManager[None]:
    """Call `listener` after each iteration of every learner fitted inside the block.

    It is not a parameter of the learners, so that these can be cloned, pickled and
    searched over. Fits in other threads or processes do not report, also those of
    clones that are made in the block.

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


@contextmanager
def also(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` after each iteration, beside the listener there is."""
    heard = current_runtime().progress

    def listen(done: int, total: int, objective: float) -> None:
        check()
        if heard is not None:
            heard.listener(done, total, objective)

    with on_progress(listen, heard and heard.notes):
        yield


def no_progress() -> AbstractContextManager[None]:
    """Silence the progress of a learner that another one starts from."""
    return changed(progress=None)


@contextmanager
def as_parts(done: Callable[[], int], n: int) -> Iterator[None]:
    """Report how many of n fits are done, in place of the iterations of each."""
    heard = current_runtime().progress
    if heard is None:
        yield
        return
    with on_progress(lambda *of: heard.listener(done(), n, of[-1]), heard.notes):
        yield


def report(
    name: str,
    done: int,
    total: int,
    objective: float,
    *,
    verbose: bool,
    note: str = "",
) -> None:
    """Report to the listener, if any, and to standard error if `verbose`."""
    message = f"objective {objective:.6g}{note}"
    heard = current_runtime().progress
    if heard is not None:
        if heard.notes is not None:
            heard.notes(message)
        heard.listener(done, total, objective)
    if verbose:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{name}: {done}/{total}, {message}{end}")
        sys.stderr.flush()
