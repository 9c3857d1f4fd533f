"""Interrupted fits: their warnings, and the files they leave."""

import glob
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from fewbits.errors import InterruptedWarning


@contextmanager
def interruptions() -> Iterator[list[InterruptedWarning]]:
    """Collect the warnings of interrupted learners instead of showing them."""
    caught: list[InterruptedWarning] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", InterruptedWarning)
        show_others = warnings.showwarning

        def show(message: Any, *where: Any, **more: Any) -> None:
            if isinstance(message, InterruptedWarning):
                caught.append(message)
            else:
                show_others(message, *where, **more)

        warnings.showwarning = show
        yield caught


@contextmanager
def telling_what_is_left(output: Path, checkpoint: Path | None) -> Iterator[None]:
    """Add the state of the files to the message of an interrupt in the block."""
    there = (output / "bundle.json").exists()
    try:
        yield
    except KeyboardInterrupt as error:
        parts = [str(error) or "interrupted"]
        if there:
            parts.append(f"{output} is unchanged")
        again = error.__cause__ is None  # else the same numbers would end it again
        if again and checkpoint is not None and _begun(checkpoint):
            parts.append(f"the same command resumes from {checkpoint}")
        if parts == ["interrupted"]:
            parts = ["interrupted before anything was saved"]
        raise KeyboardInterrupt("; ".join(parts)) from None


def _begun(checkpoint: Path) -> bool:
    """Return whether a checkpoint exists, or one of a phase, named after it."""
    phases = checkpoint.parent.glob(f"{glob.escape(checkpoint.name)}.*")
    return checkpoint.exists() or any(phases)


def stop_early(
    bundle: Any, output: Path, caught: InterruptedWarning, checkpoint: Path | None
) -> NoReturn:
    """Save a partly learnt bundle unless it replaces a finished one, and exit.

    With a checkpoint, which holds the same, the bundle is not saved: it would block the
    same command. If training diverged, resuming would fail again, so it is saved.
    """
    text = f"interrupted after {caught.n_done} of {caught.n_planned} iterations"
    diverged = caught.__cause__
    if diverged is not None:
        text += f": {caught}"
    if not (output / "bundle.json").exists() and (checkpoint is None or diverged):
        when = f"after {caught.n_done} iterations"
        known = replace(bundle.metadata, interrupted=when)
        replace(bundle, metadata=known).save(output)
        text += f"; {output} holds the encoder learnt so far"
    raise KeyboardInterrupt(text) from diverged
