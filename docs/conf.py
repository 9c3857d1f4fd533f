"""Settings of Sphinx: ``make docs`` builds the pages into build/docs."""

import re
from importlib import metadata
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from fewbits import codes
from fewbits.cli import app as cli

project = "fewbits"
author = "the fewbits developers"
release = metadata.version("fewbits")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

# Single backticks in docstrings name an object, where there is one of that name.
default_role = "py:obj"
# Some names are in two packages, `Neighbours` of codes and of an index.
suppress_warnings = ["ref.python"]
autosummary_imported_members = True
# What a package hands out that the page of another one documents.
autosummary_context = {
    "elsewhere": {
        "fewbits.index": codes.__all__,
    }
}
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "fewbits"
html_static_path: list[str] = []
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}


def setup(app: Any) -> None:
    """Write the page of commands; leave out what other packages document."""
    app.connect("builder-inited", _write_commands)
    app.connect("source-read", _link_to_records)
    app.connect("autodoc-skip-member", _is_inherited_from_elsewhere)
    app.connect("autodoc-process-docstring", _escape_shapes, priority=100)


def _link_to_records(app: Any, name: str, source: list[str]) -> None:
    """Make links to files beside `docs` downloads: they are pages on GitHub only."""
    source[0] = re.sub(r"\]\(((?:\.\./)+(?:research/|FORMAT\.md))", r"](path:\1", source[0])


def _write_commands(app: Any) -> None:
    """Write the help of every command to a page of the reference."""
    environment = {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb"}
    names = get_command(cli).commands
    lines = ["# Commands", ""]
    for name in names:
        result = CliRunner(env=environment).invoke(
            cli, [name, "--help"], prog_name="fewbits"
        )
        lines += [f"## fewbits {name}", "", "```text", result.stdout.strip(), "```", ""]
    page = Path(app.srcdir) / "reference" / "generated" / "commands.md"
    page.parent.mkdir(exist_ok=True)
    text = "\n".join(lines)
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")


def _is_inherited_from_elsewhere(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Skip the methods of scikit-learn, torch and tuples."""
    module = getattr(getattr(obj, "fget", None) or obj, "__module__", None)
    return True if module and not module.startswith("fewbits") else None


def _escape_shapes(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Keep ``(n_iter_,)`` from being a link, as reStructuredText would have it."""
    lines[:] = [re.sub(r"(?<=\()(\w+)_(?=[,) ])", r"\1\\_", line) for line in lines]
