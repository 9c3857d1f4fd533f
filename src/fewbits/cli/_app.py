"""The application: commands, and errors in one line each."""

import contextlib
import io
import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fewbits._version import __version__
from fewbits.cli._commands import Commands
from fewbits.cli._no_pandas import import_no_pandas
from fewbits.cli._parsing import UsageError, refuse_twice
from fewbits.cli._printing import clean
from fewbits.errors import ArgumentError, FewbitsError

EXIT_MISTAKE = 2
EXIT_INTERRUPT = 130


class _Commands(TyperGroup):
    """Turns the errors that a user can cause into one line and an exit code."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)  # the inherited one imports every command

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except UsageError as error:
            _refuse_usage(error)

    def make_parser(self, ctx: Any) -> Any:
        return refuse_twice(super().make_parser(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            _refuse_usage(error)
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe.
            _abandon_output()
            raise typer.Exit(0) from None
        except (FewbitsError, OSError, MemoryError) as error:
            _say(error)
            raise typer.Exit(EXIT_MISTAKE) from None
        except UnicodeError as error:
            _say(ArgumentError(f"bytes that are not UTF-8: {_cause(error)}"))
            raise typer.Exit(EXIT_MISTAKE) from None
        except KeyboardInterrupt as error:
            typer.echo(f"fewbits: {str(error) or 'interrupted'}", err=True)
            raise typer.Exit(EXIT_INTERRUPT) from None


app = typer.Typer(
    cls=_Commands,
    help="Learn compact binary codes from vectors, texts or images, and search and "
    "classify with them. Start with 'fewbits demo', or with fit, build and search on "
    "your own data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    import_no_pandas()
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        # Characters that the encoding lacks are printed as escapes.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A container or job that is stopped saves the same as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app()


def _refuse_usage(error: Any) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        raise error
    name = error.ctx.command_path if error.ctx is not None else "fewbits"
    text = _one_line(error.format_message()).rstrip(".")
    if text.startswith("Got unexpected extra argument") and _takes_ids(error.ctx):
        text = f"{text}; ids are given by --id"
    typer.echo(f"fewbits: error: {text} (see '{name} --help')", err=True)
    raise typer.Exit(EXIT_MISTAKE) from None


def _takes_ids(context: Any) -> bool:
    parameters = context.command.params if context is not None else ()
    return any("--id" in each.opts and each.multiple for each in parameters)


def _say(error: BaseException) -> None:
    text = str(error) or type(error).__name__
    if (
        isinstance(error, OSError)
        and error.strerror
        and not isinstance(error, FewbitsError)
    ):
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror}"
    if isinstance(error, MemoryError) and not isinstance(error, FewbitsError):
        text = f"not enough memory: {text}"
    typer.echo(f"fewbits: error: {_one_line(text)}", err=True)


def _cause(error: UnicodeError) -> str:
    """Return the name that cannot be encoded, or Python's message."""
    if isinstance(error, UnicodeEncodeError):
        return clean(error.object)
    return str(error)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    typer.echo(f"fewbits: warning: {_one_line(str(message))}", err=True)


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()))


def _abandon_output() -> None:
    """Let the last flush of standard output go nowhere instead of failing."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
