"""The words and signs of a condition, as a dialect of sqlglot."""

from typing import Any, ClassVar

from sqlglot import Tokenizer as BaseTokenizer
from sqlglot import TokenType
from sqlglot.dialects.dialect import Dialect

WORDS = (
    *("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "ILIKE", "ESCAPE"),
    *("NULL", "TRUE", "FALSE"),
)
# What sqlglot reads by itself. Everything else is recognised before.
OPERATORS = {
    *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE),
    *(TokenType.GT, TokenType.GTE, TokenType.PLUS, TokenType.DASH),
    *(TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.AND, TokenType.OR),
    *(TokenType.NOT, TokenType.IS, TokenType.BETWEEN, TokenType.NULL),
    *(TokenType.TRUE, TokenType.FALSE),
}
SUPPORTED = (
    "a filter knows = <> < <= > >=, AND OR NOT, IN, BETWEEN, IS NULL, LIKE, ILIKE,"
    " IS DISTINCT FROM, + - * / %, columns, lower() upper() year() month() day() of"
    " one, bit(12), list_contains(tags, 'x'), numbers, 'strings', DATE,"
    " TIMESTAMP, TRUE, FALSE and NULL"
)


def _keywords() -> dict[str, TokenType]:
    """Return sqlglot's signs and our words: any other word may name a column."""
    return {
        word: kind
        for word, kind in BaseTokenizer.KEYWORDS.items()
        if not word[0].isalpha() or word in WORDS
    }


class Conditions(Dialect):
    """Reads strings, names and numbers as standard SQL does, and backticks.

    Make one for each condition: threads cannot share its tokenizer.
    """

    class Tokenizer(BaseTokenizer):
        IDENTIFIERS = ['"', "`"]  # noqa: RUF012
        KEYWORDS = _keywords()
        # Words that would swallow what follows them, as SHOW does.
        COMMANDS: ClassVar[set[Any]] = set()
