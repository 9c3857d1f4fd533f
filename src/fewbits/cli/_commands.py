"""The commands by name, whose modules are imported when they are called."""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from fewbits.cli._parsing import refuse_twice

#: In the order of the help; the module of each is its name after a ``_``.
NAMES = (
    "demo",
    "methods",
    "compare",
    "fit",
    "encode",
    "build",
    "add",
    "upsert",
    "delete",
    "compact",
    "verify",
    "reencode",
    "search",
    "like",
    "duplicates",
    "classify",
    "evaluate",
    "recall",
    "inspect",
    "export",
    "serve",
    "data",
)


class Commands(Mapping[str, Any]):
    """A dictionary of commands for Typer."""

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


class _Command(TyperCommand):
    """Refuses an option that is given twice."""

    def make_parser(self, ctx: Any) -> Any:
        return refuse_twice(super().make_parser(ctx))


@cache
def _made(name: str) -> Any:
    module = import_module(f"fewbits.cli._{name}")
    if hasattr(module, "app"):  # a group of commands
        app = module.app
    else:
        app = typer.Typer(add_completion=False)
        module.register(app)
    for command in app.registered_commands:
        command.help = _flowing(command.callback.__doc__)
        command.cls = _Command
    return get_command(app)


def _flowing(text: str | None) -> str:
    """Return paragraphs without line breaks, which look wrong in narrow windows."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
