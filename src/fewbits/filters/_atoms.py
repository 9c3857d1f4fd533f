"""Operands of a condition: names, literals, lists, groups."""

from dataclasses import dataclass
from typing import Any, NamedTuple
from typing import Literal as Choice

LiteralKind = Choice[
    "string", "number", "boolean", "null", "date", "timestamp", "zoned"
]


@dataclass(frozen=True, slots=True)
class Name:
    """A column, or a field within one; each part with its quote or ''.

    A name that a value is compared with may be a text that lacks its quotes.
    """

    parts: tuple[str, ...]
    quotes: tuple[str, ...]
    may_be_text: bool = False

    @property
    def text(self) -> str:
        """The name as one string."""
        return ".".join(self.parts)


class Literal(NamedTuple):
    """A value as written; a tuple, as a list may hold many.

    Numbers are an int or a `fractions.Fraction`, dates and timestamps nanoseconds since
    1970 (in UTC where they are zoned).
    """

    kind: LiteralKind
    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class Members:
    """The members in the parentheses of IN."""

    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of LIKE: texts, and '%' and '_' where they are wildcards."""

    pieces: tuple[tuple[Choice["text", "%", "_"], str], ...]


@dataclass(frozen=True, slots=True)
class Bit:
    """One bit of the codes."""

    number: int


@dataclass(frozen=True, slots=True)
class Contains:
    """A test of lists: one of their members equals a literal."""

    name: Name
    member: Literal


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a column, such as lower(name) or year(day)."""

    function: str
    name: Name


@dataclass(frozen=True, slots=True)
class Group:
    """A group in parentheses: its sqlglot tree and the values of its names."""

    tree: Any
    atoms: "list[Atom]"


Atom = Name | Literal | Members | Pattern | Bit | Contains | Call | Group
