"""The pages of the documentation, and a runner of the blocks in them.

Blocks of a page run in order, in one folder and one namespace. A ``python`` block is
executed. Of a ``console`` block each line after ``$ `` is a command: those of fewbits
run in this process; of others `ELSEWHERE` says which may be shown. What a block prints
is compared with what the page shows below it: the other lines of a ``console`` block,
or a ``text`` block right behind a ``python`` block; ``...`` stands for anything.
"""

import contextlib
import csv
import doctest
import functools
import io
import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from fewbits.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
#: Commands that pages show and the runner leaves alone.
ELSEWHERE = {"git", "cd", "python", "pip", "source", "make", "export"}
#: Where pages have their server.
SERVED = "localhost:8000"
#: One of so many diagnoses is enough for a test.
SHARE = 100
#: What a ```-block may be of; those that are not run are data or settings.
RUN, SHOWN = ("python", "console"), ("text", "json", "toml", "sql")
_BLOCK = re.compile(r"^( *)```(\{?\w+\}?)[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"\b[A-Z]\d[0-9A-Z](?:\.\w+)?\b")


class Block(NamedTuple):
    """A block of a page: what it is of, its text, and where it is."""

    language: str
    text: str
    line: int


def guides() -> list[Path]:
    """Return the pages whose blocks run: all that teach something."""
    pages = [README, DOCS / "index.md", DOCS / "tutorial.md"]
    return pages + sorted([*DOCS.glob("how-to/*.md"), *DOCS.glob("concepts/*.md")])


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    text = page.read_text("utf-8")
    return [
        Block(
            match[2],
            textwrap.dedent(match[3]),
            1 + text.count("\n", 0, match.start()),
        )
        for match in _BLOCK.finditer(text)
    ]


def commands(text: str) -> list[tuple[str, str]]:
    """Return each command of a console block with the output that is shown."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    pairs = []
    for part in parts:
        command, _, output = re.sub(r" \\\n +", " ", part).partition("\n")
        pairs.append((command, output))
    return pairs


def run_page(page: Path) -> None:
    """Run every block of a page in this folder."""
    with contextlib.ExitStack() as servers:
        _run_blocks(page, servers)


def _run_blocks(page: Path, servers: contextlib.ExitStack) -> None:
    names: dict[str, object] = {"__name__": "page"}
    every, address = blocks(page), SERVED
    for block, after in zip(every, [*every[1:], None], strict=True):
        where = f"{name_of(page)}:{block.line}"
        text = block.text.replace(SERVED, address)
        if block.language == "python":
            shown = after.text if after and after.language == "text" else ""
            compare(shown, run_python(text, names, where), where)
        elif block.language == "console":
            for command, shown in commands(text):
                if command.startswith("fewbits serve "):
                    address = servers.enter_context(serving(command))
                    continue
                compare(shown, run_command(command, page, where), where)


def run_python(code: str, names: dict[str, object], where: str) -> str:
    """Run a block and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, where, "exec"), names)
    return printed.getvalue()


@contextlib.contextmanager
def serving(command: str) -> Iterator[str]:
    """Serve a collection as a command says, at a free port; gives the address."""
    from fewbits.server import Settings
    from tests.server._running import served

    folder, *options = shlex.split(command)[2:]
    assert options in ([], ["--writable"]), command
    with served(folder, Settings(writable=bool(options))) as url:
        yield url.removeprefix("http://")


def curl(arguments: list[str]) -> str:
    """Return what curl would print, as far as pages use it."""
    import httpx

    headers = [arguments[i + 1] for i, x in enumerate(arguments) if x == "-H"]
    data = [arguments[i + 1] for i, x in enumerate(arguments) if x == "-d"]
    answer = httpx.request(
        "POST" if data else "GET",
        f"http://{arguments[1]}",
        content="".join(data),
        headers=dict(header.split(": ", 1) for header in headers),
    )
    assert answer.status_code == 200, answer.text
    return f"{answer.text}\n"


def run_command(command: str, page: Path, where: str) -> str:
    """Run a command and return what it prints; others than ours print nothing."""
    program, *arguments = shlex.split(command)
    if program == "curl":
        return curl(arguments)
    if program != "fewbits":
        assert program in ELSEWHERE, f"{where}: no test runs {command!r}"
        return ""
    if command == "fewbits data export icd10 diagnoses.csv":
        return write_few_diagnoses(page)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{where}: {command}\n{result.output}"
    return result.stdout


def write_few_diagnoses(page: Path) -> str:
    """Write a few of the exported diagnoses, and those whose ids the page shows.

    The nearest of all items are then the nearest of these, too.
    """
    printed, header, rows = exported_diagnoses()
    named = set(_ID.findall(page.read_text("utf-8")))
    few = [row for i, row in enumerate(rows) if i % SHARE == 0 or row[0] in named]
    with open("diagnoses.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *few])
    return printed


@functools.cache
def exported_diagnoses() -> tuple[str, list[str], list[list[str]]]:
    """Return what the command prints, and the names and the rows of its table."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        result = CliRunner().invoke(app, ["data", "export", "icd10", "diagnoses.csv"])
        assert result.exit_code == 0, result.output
        with open("diagnoses.csv", newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
    return result.stdout, header, rows


def compare(shown: str, printed: str, where: str) -> None:
    """Fail when a page shows something else than what was printed.

    Lines may come in another order: codes that are learnt from a few of the diagnoses
    find the same ones, not always in the same order.
    """
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    check = doctest.OutputChecker().check_output
    ordered = ("\n".join(sorted(text.splitlines())) for text in (shown, printed))
    same = check(shown, printed, options) or check(*ordered, options)
    assert not shown.strip() or same, f"{where} prints\n{printed}\nnot\n{shown}"
