"""The runtime of work: the blocks of `with` around it, besides its parameters.

All of them are one value, `Runtime`, in one context variable, so that there is one
thing to take along to where work is done. Other threads begin with none of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

#: Called after each iteration with (iterations done, iterations at most, objective).
Listener = Callable[[int, int, float], None]

#: Called before that with what a line of text has room for.
Notes = Callable[[str], None]


class Progress(NamedTuple):
    """Callbacks that receive the progress of iterations."""

    listener: Listener
    notes: Notes | None


@dataclass(frozen=True)
class Runtime:
    """Settings of the blocks around a fit; None where no block says anything.

    A pickle holds the device and the number of threads only. The rest belongs to the
    block that made it and ends with it: a progress bar, arrays that fits share, and a
    list of files that the block deletes are of no use to another process.

    Attributes
    ----------
    device : str or None
        Name of a device of torch, or "auto"; None for NumPy.
    threads : int or None
        Most threads to use.
    progress : Progress or None
        Callbacks that receive the progress of iterations.
    shared_steps : SharedSteps or None
        Intermediate results of earlier fits.
    done_checkpoints : list of Path or None
        Files to delete when the block ends well; None deletes them with each fit.
    """

    device: str | None = None
    threads: int | None = None
    progress: Progress | None = None
    shared_steps: Any = None
    done_checkpoints: list[Path] | None = None

    @property
    def portable(self) -> "Runtime":
        """The part that counts in another thread or process, too."""
        return Runtime(self.device, self.threads)

    def over(self, other: "Runtime") -> "Runtime":
        """Return this runtime, with the portable part of `other` where it has none."""
        return replace(
            self,
            device=self.device if self.device is not None else other.device,
            threads=lowest(self.threads, other.threads),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Runtime, (self.device, self.threads)


def lowest(*limits: int | None) -> int | None:
    """Return the lowest of limits, None if there is none."""
    return min((each for each in limits if each is not None), default=None)


NO_BLOCK = Runtime()
_CURRENT: ContextVar[Runtime] = ContextVar("fewbits_runtime", default=NO_BLOCK)


#: Returns the runtime of the blocks around here.
current_runtime: Callable[[], Runtime] = _CURRENT.get


@contextmanager
def entered(runtime: Runtime) -> Iterator[None]:
    """Let this runtime be the current one in the block."""
    token = _CURRENT.set(runtime)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def changed(**fields: Any) -> Iterator[None]:
    """Change fields of the current runtime in the block."""
    with entered(replace(current_runtime(), **fields)):
        yield
