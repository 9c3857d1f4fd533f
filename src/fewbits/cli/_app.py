"""The application: commands are registered here, and errors become one line."""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import fewbits
from fewbits.cli import (
    _build,
    _data,
    _demo,
    _encode,
    _evaluate,
    _fit,
    _inspect,
    _search,
)
from fewbits.errors import FewbitsError

EXIT_MISTAKE = 2
EXIT_INTERRUPT = 130


class _Commands(TyperGroup):
    """Turns the errors that a user can cause into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader, `head` for instance, has all it wants.
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (FewbitsError, OSError, MemoryError) as error:
            _say(error)
            raise typer.Exit(EXIT_MISTAKE) from None
        except KeyboardInterrupt:
            typer.echo("fewbits: interrupted", err=True)
            raise typer.Exit(EXIT_INTERRUPT) from None


app = typer.Typer(
    cls=_Commands,
    help="Learn compact binary codes and answer questions with them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (_demo, _fit, _encode, _build, _search, _evaluate, _inspect):
    module.register(app)
app.add_typer(_data.app, name="data")


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True)
    ] = False,
) -> None:
    if version:
        typer.echo(fewbits.__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    app()


def _say(error: BaseException) -> None:
    text = str(error) or type(error).__name__
    if (
        isinstance(error, OSError)
        and error.strerror
        and not isinstance(error, FewbitsError)
    ):
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        text = f"not enough memory: {text}"
    typer.echo(f"fewbits: error: {' '.join(text.split())}", err=True)
