"""Output of commands: tables and sentences for people, lines for programs.

On a terminal, records are printed as tables of its width. In a file or pipe they are
tab-separated values below a header line, for `cut`, `sort` and `awk`; no cell holds a
tab or a line break, and a title is a line that begins with #. Sentences are wrapped.
"""

import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import typer

_READABLE = 14  # characters of a column that is broken into lines
_FEW = 3  # values of a list that are shown
_WIDTH = 80  # maximum width of sentences, and their width without a terminal
#: These variables ask rich for a terminal's output where there is none.
_ASKING = {"FORCE_COLOR", "TTY_COMPATIBLE"}
#: Characters that change the direction of the text after them, which can disguise it.
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def print_json(*values: Any) -> None:
    """Print JSON documents, each on its line, in the encoding of the output.

    Many at once take far less time than one by one.
    """
    from fewbits._json import to_json  # imports NumPy, which --help does without

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = "\n".join(map(to_json, values))
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        text = "\n".join(to_json(value, ascii_only=True) for value in values)
    typer.echo(text)


def print_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Print records: a table on a terminal, else tab-separated values.

    If COLUMNS is set, always print a table of that width.
    """
    names = [clean(name) for name in header]
    cells = [[clean(str(cell)) for cell in row] for row in rows]
    if not _is_table():
        for line in ([f"# {clean(title)}"] if title else [], names, *cells):
            if line:
                typer.echo("\t".join(line))
        return
    _print_aligned(clean(title), names, cells)


def _is_table() -> bool:
    if "COLUMNS" in os.environ:
        return True
    if not sys.stdout.isatty() and not _ASKING & os.environ.keys():
        return False  # rich would agree, but takes a while to import
    from rich.console import Console

    return Console().is_terminal


def _print_aligned(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Print a table for people; numbers are aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # handled by the application; rich would exit

    # Text, because square brackets in a user's data are not markup.
    heading = Text(title) if title else None
    table = Table(title=heading, title_justify="left", header_style="bold")
    for i, name in enumerate(header):
        numeric = bool(rows) and all(_is_number(row[i]) for row in rows)
        table.add_column(
            Text(name), justify="right" if numeric else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*map(Text, row))
    Piped().print(table)


def print_hits(title: str, hits: Sequence[Mapping[str, Any]]) -> None:
    """Print search results, one per row."""
    _print_rows(title, [_flat(hit) for hit in hits])


def _print_rows(title: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Print records, on a terminal only the columns that can be read at its width."""
    header = list(rows[0]) if rows else ["nothing found"]
    n_shown = _n_readable(header, rows) if _is_table() else len(header)
    shown, hidden = header[:n_shown], header[n_shown:]
    print_table(title, shown, [[row[name] for name in shown] for row in rows])
    if hidden:
        say(f"note: no room for {', '.join(hidden)}; --json prints all columns")


def _n_readable(header: Sequence[str], rows: Sequence[Mapping[str, str]]) -> int:
    room = shutil.get_terminal_size((_WIDTH, 24)).columns - 1
    for place, name in enumerate(header):
        longest = max(map(len, (name, *(row[name] for row in rows))), default=0)
        room -= min(longest, _READABLE) + 3  # with its border
        if room < 0:
            return max(place, 3)  # what was asked, the id and the distance
    return len(header)


def print_results(results: Sequence[Any]) -> None:
    """Print the hits of each query: of several in one table, that names the query."""
    if len(results) == 1:
        print_hits(results[0].query, results[0].hits)
        return
    named = [{"query": each.query, **hit} for each in results for hit in each.hits]
    _print_rows("", [_flat(hit) for hit in named])


def _flat(hit: Mapping[str, Any]) -> dict[str, str]:
    """Return a hit as a flat row; user columns with our names get a prefix."""
    own = {name: _own_cell(value) for name, value in hit.items() if name != "columns"}
    kept = {
        f"columns.{name}" if name in own else name: _user_cell(value)
        for name, value in hit["columns"].items()
    }
    return {**own, **kept}


def _user_cell(value: Any) -> str:
    if isinstance(value, list) and len(value) > _FEW:
        few = ", ".join(map(str, value[:_FEW]))
        return f"[{few}, ... {len(value)} values]"
    return str(value)


def _own_cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def say(text: str) -> None:
    """Print one or more sentences, wrapped between words."""
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
    lines = textwrap.wrap(
        clean(text), max(width, 1), break_long_words=False, break_on_hyphens=False
    )
    typer.echo("\n".join(lines))


def clean(text: str) -> str:
    r"""Return text on one line, without tabs or control characters.

    Examples
    --------
    >>> clean("two\nlines\tof " + chr(27) + "[31mred")
    'two lines of \\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(map(_shown, " ".join(text.splitlines())))


def _shown(character: str) -> str:
    if character in "\t\n\r\v\f":
        return " "
    if unicodedata.category(character) in ("Cc", "Cs") or character in _TURNING:
        return character.encode("unicode_escape", "backslashreplace").decode("ascii")
    return character


def _is_number(cell: Any) -> bool:
    text = str(cell).replace(",", "").rstrip("%x ").lstrip(".")
    return text.replace(".", "", 1).replace("-", "", 1).isdigit() or text in {"", "-"}
