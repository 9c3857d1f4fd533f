"""Output of commands: tables and sentences for people, lines for programs.

On a terminal, records are printed as tables of its width. In a file or pipe they are
tab-separated values below a header line, for `cut`, `sort` and `awk`; no cell holds a
tab or a line break, and a title is a line that begins with #. Sentences are wrapped.
Progress is told on standard error.
"""

import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import typer

_READABLE = 14  # characters of a column that is broken into lines
_FEW = 3  # values of a list that are shown
_WIDTH = 80  # maximum width of sentences, and their width without a terminal
_PAUSE = 60.0  # seconds between lines of progress where there is no terminal
#: What a cell has that is aligned to the right.
_NUMBER = re.compile(r"-?[\d,]*\.?\d*[%x ]*|-")
#: These variables ask rich for a terminal's output where there is none.
_ASKING = {"FORCE_COLOR", "TTY_COMPATIBLE"}
#: Control characters, halves of characters, and those that change the direction of the
#: text after them, which can disguise it.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def print_json(*values: Any) -> None:
    """Print JSON documents, each on its line, in the encoding of the output."""
    from fewbits._json import to_json  # imports NumPy, which --help does without

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = "\n".join(map(to_json, values))
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        text = "\n".join(to_json(value, ascii_only=True) for value in values)
    typer.echo(text)


def print_answer(as_json: bool, facts: dict[str, Any], text: str) -> None:
    """Print facts for programs, or a sentence for people."""
    if as_json:
        print_json(facts)
    else:
        typer.echo(text)


def print_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Print a table on a terminal, or where COLUMNS is set; else values with tabs."""
    if not _is_table():
        if title:
            typer.echo(f"# {clean(title)}")
        print_lines([header, *rows])
        return
    names = [clean(name) for name in header]
    cells = [[clean(str(cell)) for cell in row] for row in rows]
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # handled by the application; rich would exit

    # Text, because square brackets in a user's data are not markup.
    table = Table(
        title=Text(clean(title)) if title else None,
        title_justify="left",
        header_style="bold",
    )
    for i, name in enumerate(names):
        are_numbers = cells and all(_NUMBER.fullmatch(row[i]) for row in cells)
        justify: Literal["left", "right"] = "right" if are_numbers else "left"
        table.add_column(Text(name), justify=justify, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    Piped().print(table)


def print_lines(rows: Iterable[Iterable[Any]]) -> None:
    """Print rows as lines, with tabs between values."""
    lines = ("\t".join(clean(str(cell)) for cell in row) for row in rows)
    typer.echo("\n".join(lines))


def _is_table() -> bool:
    if "COLUMNS" in os.environ:
        return True
    if not sys.stdout.isatty() and not _ASKING & os.environ.keys():
        return False  # rich would agree, but takes a while to import
    from rich.console import Console

    return Console().is_terminal


def print_hits(
    title: str,
    hits: Sequence[Mapping[str, Any]],
    *,
    is_whole: bool = True,
    with_header: bool = True,
) -> None:
    """Print hits, one per row, on a terminal only columns that its width can show.

    Columns of the user with our names get a prefix; one of texts that repeats the ids,
    as paths of images do, is left out where these hits are all. A part without a header
    continues the one before, except on a terminal, where each is a table.
    """
    texts = hits[0]["columns"] if hits and isinstance(hits[0]["id"], str) else ()
    texts = texts if is_whole or _is_table() else ()
    repeated = {x for x in texts if all(h["columns"][x] == h["id"] for h in hits)}
    rows = []
    for hit in hits:  # in the order of their ranks, which are left out
        row = {
            name: f"{value:.3f}" if isinstance(value, float) else str(value)
            for name, value in hit.items()
            if name not in ("rank", "columns")
        }
        ours = {*row}
        for name, value in hit["columns"].items():
            if name in repeated:
                continue
            cell = "" if value is None else str(value)
            if isinstance(value, list) and len(value) > _FEW:
                few = ", ".join(map(str, value[:_FEW]))
                cell = f"[{few}, ... {len(value)} values]"
            row[f"columns.{name}" if name in ours else name] = cell
        rows.append(row)
    header = list(rows[0]) if rows else ["nothing found"]
    n_shown = len(header)
    if not (with_header or _is_table()):
        print_lines(row.values() for row in rows)
        return
    if _is_table():
        room = shutil.get_terminal_size((_WIDTH, 24)).columns - 1
        for n_before, name in enumerate(header):
            longest = max(map(len, (name, *(row[name] for row in rows))), default=0)
            room -= min(longest, _READABLE) + 3  # with its border
            if room < 0:
                n_shown = max(n_before, 3)  # the query, the id and the distance
                break
    shown, hidden = header[:n_shown], header[n_shown:]
    print_table(title, shown, [[row[name] for name in shown] for row in rows])
    if hidden:
        say(f"note: no room for {', '.join(hidden)}; --json prints all columns")


def print_comparison(title: str, rows: Sequence[Any], k: int) -> None:
    """Print a table of `fewbits.evaluation.Comparison`."""
    header = ["stored as", "bytes each", f"recall@{k}", "re-ranked", "queries/s"]
    cells = [
        [
            row.name,
            f"{row.bytes_per_item:,}",
            f"{row.recall:.3f}",
            "-" if row.recall_reranked is None else f"{row.recall_reranked:.3f}",
            f"{row.queries_per_second:,.0f}",
        ]
        for row in rows
    ]
    print_table(title, header, cells)


def counted(count: int, noun: str) -> str:
    """Return a number and a noun: "1 item", "2 items"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def say(text: str) -> None:
    """Print one or more sentences, wrapped between words."""
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
    lines = textwrap.wrap(
        clean(text), max(width, 1), break_long_words=False, break_on_hyphens=False
    )
    typer.echo("\n".join(lines))


def clean(text: str) -> str:
    """Return text on one line, without tabs; control characters are escaped."""
    if text.isprintable():
        return text
    line = " ".join(text.splitlines()).replace("\t", " ")
    return _UNSAFE.sub(lambda x: x[0].encode("unicode_escape").decode("ascii"), line)


# Progress.


@contextmanager
def progress_bar(label: str, *, foretell: bool = True) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error while ``update(done, total, note="")`` is called.

    Without a terminal, print a line once a minute. Steps of varying duration do not
    foretell the remaining time: show the elapsed time, and what of the note has room.
    """
    from rich import progress as bars
    from rich.console import Console
    from rich.table import Column

    console = Console(stderr=True)
    if not console.is_terminal:  # a bar in a log file is noise
        due = time.monotonic() + _PAUSE

        def tell(done: int, total: int, note: str = "") -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + _PAUSE
                text = f"{label}, {note}" if note else label
                typer.echo(f"fewbits: {text}: {done:,} of {total:,}", err=True)

        yield tell
        return
    columns = [
        bars.TextColumn("{task.description}"),
        bars.BarColumn(40 if foretell else 10),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn() if foretell else bars.TimeElapsedColumn(),
    ]
    if not foretell:
        rest = Column(ratio=1, no_wrap=True)
        note = bars.TextColumn("{task.fields[note]}", markup=False, table_column=rest)
        columns.append(note)
    with bars.Progress(
        *columns, console=console, transient=True, expand=not foretell
    ) as bar:
        task = bar.add_task(label, total=None, note="")

        def update(done: int, total: int, note: str = "") -> None:
            text = f"{label}, {note}" if note and foretell else label
            bar.update(task, completed=done, total=total, description=text, note=note)

        yield update


def annotated(
    progress: Callable[..., None],
) -> tuple[Callable[..., None], Callable[[str], None]]:
    """Return functions that set the progress of a bar, and its note."""
    note = ""

    def keep(text: str) -> None:
        nonlocal note
        note = text

    return lambda done, total, *_: progress(done, total, note), keep


@contextmanager
def learning_bar(label: str) -> Iterator[Callable[..., None]]:
    """Show a bar that the iterations of learners in the block drive, too."""
    from fewbits.learners.fitting import on_progress

    with progress_bar(label) as progress, on_progress(*annotated(progress)):
        yield progress
