"""The application: its commands, and what becomes of errors."""

import contextlib
import inspect
import io
import os
import platform
import re
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from fewbits._version import __version__
from fewbits.cli._printing import clean
from fewbits.errors import FewbitsError

EXIT_MISTAKE = 2
EXIT_INTERRUPT = 130
#: What a user can cause: one line on standard error and exit status 2. Anything else is
#: ours, and a traceback. `fewbits.errors.OUTCOMES` says the same for a service.
MISTAKES = (FewbitsError, OSError, MemoryError, UnicodeError)
#: In the order of the help: the panel that shows a command, and the module that has it
#: as the function of its name.
COMMANDS = {
    "demo": ("Start", "_demo"),
    "build": ("Start", "_build"),
    "search": ("Start", "_search"),
    "get": ("Ask", "_search"),
    "like": ("Ask", "_search"),
    "classify": ("Ask", "_classify"),
    "duplicates": ("Ask", "_duplicates"),
    "inspect": ("Ask", "_inspect"),
    "serve": ("Ask", "_serve"),
    "add": ("Change", "_changes"),
    "upsert": ("Change", "_changes"),
    "update": ("Change", "_changes"),
    "delete": ("Change", "_changes"),
    "drop-columns": ("Change", "_changes"),
    "apply": ("Change", "_apply"),
    "tag": ("Change", "_folder"),
    "restore": ("Change", "_folder"),
    "backup": ("Change", "_folder"),
    "reencode": ("Change", "_folder"),
    "compact": ("Change", "_folder"),
    "verify": ("Change", "_folder"),
    "compare": ("Learn and measure", "_compare"),
    "methods": ("Learn and measure", "_compare"),
    "fit": ("Learn and measure", "_fit"),
    "recall": ("Learn and measure", "_measure"),
    "evaluate": ("Learn and measure", "_measure"),
    "encode": ("Learn and measure", "_encoder"),
    "export": ("Learn and measure", "_encoder"),
    "data": ("Learn and measure", "_data"),
}
#: Options that may be repeated, and whose values never contain a comma. Columns and ids
#: may: the collection or table decides.
COMMA_LISTS = {"allow_host", "allow_origin", "bits", "codes", "learners", "show"}
#: Commands of other programs and of earlier versions, and those to use here.
OTHER_COMMANDS = {
    **dict.fromkeys(("info", "stats", "show", "describe"), "fewbits inspect"),
    **dict.fromkeys(("create", "index", "init", "import"), "fewbits build"),
    **dict.fromkeys(("query", "find", "knn"), "fewbits search"),
    **dict.fromkeys(("remove", "rm"), "fewbits delete"),
    **dict.fromkeys(("insert", "append"), "fewbits add"),
    **dict.fromkeys(("server", "explore", "web"), "fewbits serve"),
    **dict.fromkeys(("train", "learn"), "fewbits fit"),
    **dict.fromkeys(("dedup", "dedupe"), "fewbits duplicates"),
    "version": "fewbits --version",
    "help": "fewbits --help",
}
# Typer exports this error's subclass alone.
UsageError: Any = typer.BadParameter.__base__


class _Commands(Mapping[str, Any]):
    """The commands by name; the module of one is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Command(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, whose square brackets are no markup of Rich."""
        from rich.markup import escape

        shown = copy(self)
        shown.params = [*map(copy, self.params)]
        for part in (shown, *shown.params):
            if text := getattr(part, "help", None):
                vars(part)["help"] = escape(text)
        super(_Command, shown).format_help(ctx, formatter)

    def make_parser(self, ctx: Any) -> Any:
        """Return a parser that refuses an option of one value that is given twice.

        Values of `COMMA_LISTS` may have commas between them.
        """
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            values, rest, order = parse(args)
            for option, n in Counter(order).items():
                if n > 1 and option.param_type_name == "option" and not option.multiple:
                    raise UsageError(f"{max(option.opts, key=len)} is given twice")
                if option.multiple and option.name in COMMA_LISTS:
                    values[option.name] = ",".join(values[option.name]).split(",")
            return values, rest, order

        parser.parse_args = parse_args
        return parser


class _Application(TyperGroup):
    """Turns the errors that a user can cause into one line and an exit code."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands: Any = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)  # the inherited one imports every command

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except UsageError as error:
            _end_of_usage(error)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            _end_of_usage(error)
        except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
            # The last flush of standard output goes nowhere instead of failing.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except MISTAKES as error:
            typer.echo(f"fewbits: error: {_one_line(_message(error))}", err=True)
            raise typer.Exit(EXIT_MISTAKE) from None
        except KeyboardInterrupt as error:
            typer.echo(f"fewbits: {str(error) or 'interrupted'}", err=True)
            raise typer.Exit(EXIT_INTERRUPT) from None


app = typer.Typer(
    cls=_Application,
    help="Start with 'fewbits build my-collection vectors.npy', or a table or a folder "
    "of images, then 'fewbits search my-collection'; 'fewbits demo' shows both.\n\n"
    "fewbits learns compact binary codes from vectors, texts and images, and searches "
    "and classifies by them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[
        bool,
        Option(
            "--version", help="Print the version, which kernels run, and the platform."
        ),
    ] = False,
) -> None:
    if not version:
        return
    from fewbits import _kernels  # imports NumPy, which --help does without

    kernels = "native" if _kernels.COMPILED else "slower NumPy"
    instructions = f", {_kernels.active_isa()}" if _kernels.COMPILED else ""
    python = f"Python {platform.python_version()}"
    system = f"{platform.system()} {platform.machine()}"
    typer.echo(
        f"fewbits {__version__} ({kernels} kernels{instructions}; {python}; {system})"
    )
    raise typer.Exit


def main() -> None:
    """Run the command line."""
    # Arrow imports pandas, where it is installed, to see whether a list is a Series:
    # 0.2 of the 0.65 seconds of a search. Commands read files, never data frames.
    sys.meta_path.insert(0, _NoPandas)
    warnings.showwarning = lambda message, *_, **__: typer.echo(
        f"fewbits: warning: {_one_line(str(message))}", err=True
    )
    # Where one is closed, there is nothing to read, and what is printed goes nowhere.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Characters that the encoding lacks are printed as escapes.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A container or job that is stopped saves the same as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app()


class _NoPandas:
    """Makes an import of pandas fail as if it were not installed."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)


@cache
def _command(name: str) -> Any:
    """Return a command, or a group of commands, for Click."""
    panel, module = COMMANDS[name]
    command = vars(import_module(f"fewbits.cli.{module}"))[name.replace("-", "_")]
    if isinstance(command, typer.Typer):
        group = command
    else:
        group = typer.Typer(add_completion=False)
        group.command(name)(command)
    for info in group.registered_commands:
        # Paragraphs without line breaks, which look wrong in narrow windows.
        paragraphs = inspect.cleandoc(info.callback.__doc__ or "").split("\n\n")
        info.help = "\n\n".join(text.replace("\n", " ") for text in paragraphs)
        info.cls = _Command
    answer: Any = get_command(group)
    answer.rich_help_panel = panel
    return answer


# What is said of errors.


def _end_of_usage(error: Any) -> NoReturn:
    if type(error).__name__ == "NoArgsIsHelpError":
        raise error
    name = error.ctx.command_path if error.ctx is not None else "fewbits"
    text = _one_line(error.format_message()).rstrip(".")
    parameters = error.ctx.command.params if error.ctx is not None else ()
    options = {option for parameter in parameters for option in parameter.opts}
    if text.startswith("Got unexpected extra argument") and "--ids" in options:
        text = f"{text}; ids are given by --ids"
    if (unknown := re.match("No such command '(.*?)'", text)) is not None:
        name_now = OTHER_COMMANDS.get(unknown[1])
        text = f"{unknown[0]}; it is '{name_now}' here" if name_now else text
    typer.echo(f"fewbits: error: {text} (see '{name} --help')", err=True)
    raise typer.Exit(EXIT_MISTAKE) from None


def _message(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, FewbitsError):
        return text
    if isinstance(error, UnicodeEncodeError):  # a name: Python's message hides it
        text = clean(error.object)
    if isinstance(error, UnicodeError):
        return f"bytes that are not UTF-8: {text}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {text}"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return text


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()))
