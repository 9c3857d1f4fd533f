"""What the command lines of the experiments share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, TypeAlias

import typer

from experiments._cells import Cell
from fewbits.errors import ArgumentError, MissingDataError, MissingExtraError

Data: TypeAlias = Annotated[list[str], typer.Option(help="Feature sets.")]
Seeds: TypeAlias = Annotated[int, typer.Option(help="How many, from 0 on.")]
Bits: TypeAlias = Annotated[list[int] | None, typer.Option(help="Lengths.")]
Only: TypeAlias = Annotated[list[str] | None, typer.Option(help="Methods.")]


@contextmanager
def one_line() -> Iterator[None]:
    """End with one line, not a traceback, where data cannot be had."""
    try:
        yield
    except (ArgumentError, MissingDataError, MissingExtraError) as error:
        raise SystemExit(f"error: {error}") from None


def wanted(cell: Cell, only: list[str] | None, bits: list[int] | None) -> bool:
    """Whether the command line asks for a cell; controls have no length."""
    return (not only or cell["method"] in only) and (
        not bits or cell["bits"] in (0, *bits)
    )
