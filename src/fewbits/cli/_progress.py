"""Progress of a command on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

PAUSE = 60.0  #: Seconds between progress lines where there is no terminal.


@contextmanager
def progress_bar(label: str, *, foretell: bool = True) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error while ``update(done, total, note="")`` is called.

    Without a terminal, print a line once a minute. For steps of varying duration the
    remaining time cannot be estimated: without `foretell`, show the elapsed time and
    as much of the note as there is room for.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column as Cells

    columns = [
        TextColumn("{task.description}"),
        BarColumn(40 if foretell else 10),
        MofNCompleteColumn(),
        TimeRemainingColumn() if foretell else TimeElapsedColumn(),
    ]
    if not foretell:
        rest = Cells(ratio=1, no_wrap=True)
        note = TextColumn("{task.fields[note]}", markup=False, table_column=rest)
        columns.append(note)
    console = Console(stderr=True)
    if not console.is_terminal:  # a bar in a log file is noise
        yield _now_and_then(label)
        return
    shown = Progress(*columns, console=console, transient=True, expand=not foretell)
    with shown as bar:
        task = bar.add_task(label, total=None, note="")

        def update(done: int, total: int, note: str = "") -> None:
            text = f"{label}, {note}" if note and foretell else label
            bar.update(task, completed=done, total=total, description=text, note=note)

        yield update


def _now_and_then(label: str) -> Callable[..., None]:
    due = time.monotonic() + PAUSE

    def update(done: int, total: int, note: str = "") -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + PAUSE
            text = f"{label}, {note}" if note else label
            typer.echo(f"fewbits: {text}: {done:,} of {total:,}", err=True)

    return update


def annotated(
    progress: Callable[..., None],
) -> tuple[Callable[[int, int], None], Callable[[str], None]]:
    """Return functions that set the progress of a bar, and its note."""
    note = ""

    def keep(text: str) -> None:
        nonlocal note
        note = text

    return lambda done, total: progress(done, total, note), keep


@contextmanager
def learning_reports_to(progress: Callable[..., None]) -> Iterator[None]:
    """Drive a progress bar by the iterations of learners fitted in the block."""
    from fewbits.learners.fitting import on_progress

    tell, notes = annotated(progress)
    with on_progress(lambda done, total, _: tell(done, total), notes):
        yield
