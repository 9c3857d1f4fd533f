"""Checks that the parsers of all commands share."""

from typing import Any

import typer

# Typer brings its own copy of Click, or uses Click itself, depending on its version.
UsageError: Any = typer.BadParameter.__mro__[1]


def refuse_twice(parser: Any) -> Any:
    """Make a parser refuse options of one value that are given twice."""
    parse = parser.parse_args

    def parse_args(args: list[str]) -> Any:
        found = parse(args)
        given = [each for each in found[2] if _is_single(each)]
        for i, option in enumerate(given):
            if option in given[:i]:
                name = max(option.opts, key=len)
                raise UsageError(f"{name} is given twice")
        return found

    parser.parse_args = parse_args
    return parser


def _is_single(parameter: Any) -> bool:
    """Return whether an option takes one value, or is a flag."""
    if parameter.param_type_name != "option":
        return False
    return not (parameter.multiple or getattr(parameter, "count", False))
