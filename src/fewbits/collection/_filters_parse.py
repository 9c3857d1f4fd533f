"""Conditions in SQL, parsed into the steps of a stack.

sqlglot makes tokens of the text. Its parser is not used: it recurses, so it ends at a
thousand parentheses, it makes a tree of a long list, and it takes much that is refused
here. Ours waits with an operator until those that bind closer are done (Dijkstra's
shunting yard), so nesting is no recursion, and a column may have the name of a keyword.
"""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple
from typing import Literal as Choice

from sqlglot import Token, TokenType
from sqlglot import Tokenizer as BaseTokenizer
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from fewbits.errors import ArgumentError

MAX_RUN = 20  # operators in a row, as NOT NOT NOT x
MAX_DIGITS = 400  # of a number, on either side of its point
SECOND = 10**9
DAY = 86_400 * SECOND
ISO = "'2020-01-31' or '2020-01-31 12:00:00', with '+01:00' behind it for a time zone"
SUPPORTED = (
    "a filter knows = <> < <= > >=, AND OR NOT, IN, BETWEEN, IS NULL, LIKE, ILIKE,"
    " IS DISTINCT FROM, + - * / %, columns, lower() upper() year() month() day() of"
    " one, bit(12), list_contains(tags, 'x'), numbers, 'strings', DATE,"
    " TIMESTAMP, TRUE, FALSE and NULL"
)


class Literal(NamedTuple):
    """A value as written.

    Numbers are an int or a `fractions.Fraction`, dates and timestamps nanoseconds since
    1970 (in UTC where they are zoned).
    """

    kind: Choice["string", "number", "boolean", "null", "date", "timestamp", "zoned"]
    value: Any
    text: str


class Name(NamedTuple):
    """A column, or a field within one; each part with its quote or ''.

    A name that a value is compared with may be a text that lacks its quotes.
    """

    parts: tuple[str, ...]
    quotes: tuple[str, ...]
    may_be_text: bool = False

    @property
    def text(self) -> str:
        return ".".join(self.parts)


class Step(NamedTuple):
    """An operator on the values that earlier steps left on a stack, which leaves one.

    Its argument is the `Name` of ``column``, the `Literal` of ``value`` and ``is``,
    the number of ``bit``, the tuple of literals of ``in``, and the pieces of ``like``
    and ``ilike``, each a text, or '%' or '_' where that is a wildcard.
    """

    operator: str
    argument: Any = None


def parse(text: str) -> list[Step]:
    """Return the steps that evaluate a condition."""
    return _Parser(text).parse()


def like_patterns(text: str) -> list[str]:
    """Return the patterns of LIKE and ILIKE in a condition.

    Raises
    ------
    ArgumentError
        When it is no condition.

    Examples
    --------
    >>> like_patterns("a like '%x%' or b not ilike 'y_' and c = 'like'")
    ['%x%', 'y_']
    """
    return [
        pattern.text
        for word, pattern in pairwise(_tokens(text, _Conditions()))
        if word.token_type in (TokenType.LIKE, TokenType.ILIKE)
    ]


def shorten(text: str, length: int = 60) -> str:
    """Return `text` for a message: one line, not too long."""
    shown = repr(text)
    return shown if len(shown) <= length else shown[: length - 4] + "...'"


# --- Tokens -------------------------------------------------------------------------

_WORDS = (
    *("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "ILIKE", "ESCAPE"),
    *("NULL", "TRUE", "FALSE"),
)


class _Conditions(Dialect):
    """Reads strings, names and numbers as standard SQL does, and backticks.

    One for each condition: threads cannot share its tokenizer.
    """

    class Tokenizer(BaseTokenizer):
        IDENTIFIERS = ['"', "`"]  # noqa: RUF012
        # The signs of sqlglot and our words: any other word may name a column.
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind
            for word, kind in BaseTokenizer.KEYWORDS.items()
            if not word[0].isalpha() or word in _WORDS
        }
        # Words that would swallow what follows them, as SHOW does.
        COMMANDS: ClassVar[set[Any]] = set()


def _tokens(text: str, dialect: _Conditions) -> list[Token]:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"the filter {shorten(text)} is not Unicode") from None
    if not text.strip():
        raise ArgumentError("the filter is empty")
    try:
        tokens: list[Token] = dialect.tokenize(text)
    except TokenError:
        raise ArgumentError(
            f"the filter {shorten(text)} has a quote or comment that is not closed"
        ) from None
    if not tokens or any(token.comments for token in tokens):
        raise ArgumentError(f"comments are not supported: {SUPPORTED}")
    return tokens


# --- Operators ----------------------------------------------------------------------

_COMPARISONS = {
    TokenType.EQ: "=",
    TokenType.NEQ: "<>",
    TokenType.LT: "<",
    TokenType.LTE: "<=",
    TokenType.GT: ">",
    TokenType.GTE: ">=",
}
_INFIX = {
    TokenType.OR: "or",
    TokenType.AND: "and",
    **_COMPARISONS,
    TokenType.PLUS: "+",
    TokenType.DASH: "-",
    TokenType.STAR: "*",
    TokenType.SLASH: "/",
    TokenType.MOD: "%",
}
_BINDING = {"(": 0, "or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "negate": 7}
_BINDING |= dict.fromkeys("*/%", 6)
_BINDING |= dict.fromkeys((*_COMPARISONS.values(), "is", "in", "like", "ilike"), 4)
_BINDING |= dict.fromkeys(("same", "distinct", "between", "between and"), 4)
_CONSTANTS = (TokenType.NULL, TokenType.TRUE, TokenType.FALSE)
_SIGNS = (TokenType.DASH, TokenType.PLUS)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_CONTAINS = ("LIST_CONTAINS", "ARRAY_CONTAINS", "ARRAY_HAS")  # in DuckDB and Spark
_CALLS = ("LOWER", "UPPER", "YEAR", "MONTH", "DAY")
# Words that other parts of SQL begin with; behind them the rest cannot be read.
_OTHER_SQL = {
    *("ALL", "ANY", "ARRAY", "AS", "ASC", "CASE", "CAST", "COLLATE", "DESC"),
    *("DISTINCT", "EXISTS", "FROM", "GLOB", "GROUP", "HAVING", "INTERVAL", "ISNULL"),
    *("LIMIT", "MATCH", "NOTNULL", "ORDER", "OVERLAPS", "REGEXP", "RLIKE", "SELECT"),
    *("SIMILAR", "SOME", "SYMMETRIC", "TIME", "UNION", "VALUES", "WHERE", "WITH"),
    "XOR",
}


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text, _Conditions())
        self._place = 0
        self._steps: list[Step] = []
        self._shapes: list[str] = []  # of each value: its last operator; '' in '()'
        self._waiting: list[str] = []  # operators, and each '(' that is open
        self._run = 0
        self._other_sql = ""

    def parse(self) -> list[Step]:
        needs_operand = True
        while self._place < len(self._tokens):
            read = self._read_operand if needs_operand else self._read_operator
            needs_operand = read(self._take())
        if "(" in self._waiting:
            raise ArgumentError("the filter has a '(' that is not closed")
        if needs_operand:
            raise self._unreadable(self._tokens[-1])
        self._finish(1)
        return self._steps

    def _take(self) -> Token:
        if self._place == len(self._tokens):
            raise ArgumentError("the filter ends too early")
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _next_is(self, *kinds: TokenType) -> bool:
        following = self._tokens[self._place : self._place + 1]
        return bool(following) and following[0].token_type in kinds

    def _unreadable(self, token: Token) -> ArgumentError:
        self._note_other_sql(token)
        if self._other_sql:
            return ArgumentError(f"{self._other_sql} is not supported: {SUPPORTED}")
        sign = self._text[token.start : token.end + 1] or token.text
        is_word = token.token_type == TokenType.VAR
        hint = " (a string stands in single quotes)" if is_word else ""
        hint = {"&": " (write AND)", "|": " (write OR)"}.get(sign[:1], hint)
        return ArgumentError(
            f"the filter cannot be read at {shorten(sign)}{hint}: {SUPPORTED}"
        )

    def _note_other_sql(self, token: Token) -> None:
        word = token.text.upper()
        if token.token_type == TokenType.VAR and word in _OTHER_SQL:
            self._other_sql = self._other_sql or word

    def _read_operand(self, token: Token) -> bool:
        """Read what a value begins with; return whether its rest is still to come."""
        kind = token.token_type
        if kind in (TokenType.NOT, *_SIGNS):
            self._run += 1
            if self._run > MAX_RUN:
                raise ArgumentError(
                    f"the filter has more than {MAX_RUN} operators in a row, such as"
                    f" {shorten(token.text)}"
                )
            if kind != TokenType.PLUS:
                self._waiting.append("not" if kind == TokenType.NOT else "negate")
            return True
        self._run = 0
        if kind == TokenType.L_PAREN:
            self._waiting.append("(")
            return True
        if kind == TokenType.R_PAREN and self._waiting[-1:] == ["("]:
            raise ArgumentError("the filter has parentheses with nothing in them")
        if (literal := self._literal(token)) is not None:
            self._steps.append(Step("value", literal))
        elif kind in _NAMES:
            self._note_other_sql(token)
            self._steps += self._column(token)
        else:
            raise self._unreadable(token)
        self._shapes.append("")
        return False

    def _read_operator(self, token: Token) -> bool:
        """Read what stands behind a value; return whether another is to follow."""
        kind = token.token_type
        if kind == TokenType.R_PAREN:
            self._finish(1)
            if not self._waiting:
                raise ArgumentError("the filter has a ')' without its '('")
            self._waiting.pop()
            self._shapes[-1] = ""
            return False
        if kind in _INFIX:
            operator = _INFIX[kind]
            if operator == "and":
                self._finish(5)
                if self._waiting[-1:] == ["between"]:
                    self._waiting[-1] = "between and"
                    return True
            self._wait(operator)
            return True
        if kind == TokenType.IS:
            return self._read_is()
        is_negated = kind == TokenType.NOT
        if is_negated:
            if self._next_is(TokenType.IS):
                raise ArgumentError("the filter needs IS NOT in place of NOT IS")
            token = self._take()
            kind = token.token_type
        if kind == TokenType.BETWEEN:
            self._finish(4)
            self._waiting += ["not", "between"] if is_negated else ["between"]
            return True
        if kind == TokenType.IN:
            self._test(Step("in", self._members()), is_negated)
        elif kind in (TokenType.LIKE, TokenType.ILIKE):
            self._test(Step(kind.name.lower(), self._pattern(token)), is_negated)
        elif kind == TokenType.NULL and is_negated:
            self._test(Step("is", _constant("NULL")), is_negated)
        else:
            raise self._unreadable(token)
        return False

    def _read_is(self) -> bool:
        is_negated = self._next_is(TokenType.NOT)
        if is_negated:
            self._take()
        words = [token.text.upper() for token in self._tokens[self._place :][:2]]
        if self._next_is(TokenType.VAR) and words == ["DISTINCT", "FROM"]:
            self._place += 2
            self._wait("same" if is_negated else "distinct")
            return True
        if not self._next_is(*_CONSTANTS):
            if self._next_is(TokenType.VAR) and words[0] in _OTHER_SQL:
                raise self._unreadable(self._take())
            raise ArgumentError("IS takes NULL, TRUE or FALSE, or NOT and one of them")
        self._test(Step("is", _constant(self._take().token_type.name)), is_negated)
        return False

    def _wait(self, operator: str) -> None:
        """Keep an operator until its right operand is there."""
        self._finish(_BINDING[operator])
        self._waiting.append(operator)
        self._run = 1

    def _test(self, step: Step, is_negated: bool) -> None:
        """Add a test, which has no right operand."""
        self._finish(_BINDING[step.operator])
        self._add(step, 1)
        if is_negated:
            self._add(Step("not"), 1)

    def _finish(self, binding: int) -> None:
        """Add the waiting operators that bind at least so closely."""
        while self._waiting and _BINDING[self._waiting[-1]] >= binding:
            operator = self._waiting.pop()
            if operator == "between":
                raise ArgumentError(
                    f"the filter cannot be read: BETWEEN lacks its AND: {SUPPORTED}"
                )
            if operator == "between and":
                self._add(Step("between"), 3)
            else:
                self._add(Step(operator), 1 if operator in ("not", "negate") else 2)

    def _add(self, step: Step, n_operands: int) -> None:
        """Add a step, unless databases differ in what its operands are."""
        binding = _BINDING[step.operator]
        shapes = self._shapes[-n_operands:]
        bindings = [_BINDING.get(shape, 8) for shape in shapes]
        if binding >= 4 and min(bindings) <= 4:
            raise ArgumentError(
                "the filter needs parentheses where one comparison follows another:"
                " write 'a < b AND b < c' for a < b < c, or '(a = b) IS NULL'"
            )
        is_mixed = step.operator == "%" and min(bindings) <= 6
        if binding in (5, 6) and (is_mixed or "%" in shapes):
            raise ArgumentError(
                "the filter needs parentheses around % beside other arithmetic: write"
                " '(a % b) * c'"
            )
        self._shapes[-n_operands:] = [step.operator]
        self._steps.append(step)

    # --- Operands ---

    def _literal(self, token: Token) -> Literal | None:
        """Read a literal without a sign; None, and nothing read, for anything else."""
        kind = token.token_type
        if kind == TokenType.STRING:
            return Literal("string", token.text, token.text)
        if kind == TokenType.NUMBER:
            return _number(token.text)
        if kind == TokenType.DOT and self._next_is(TokenType.NUMBER):
            return _number("." + self._take().text)
        if kind in _CONSTANTS:
            return _constant(kind.name)
        word = token.text.upper() if kind == TokenType.VAR else ""
        if word not in ("DATE", "TIMESTAMP") or not self._next_is(TokenType.STRING):
            return None
        literal = moment(text := self._take().text)
        if literal is None or (word == "DATE" and literal.kind != "date"):
            needed = "'2020-01-31'" if word == "DATE" else ISO
            raise ArgumentError(f"{word} {shorten(text)} must be written as {needed}")
        if word == "TIMESTAMP" and literal.kind == "date":
            return literal._replace(kind="timestamp")
        return literal

    def _column(self, token: Token) -> list[Step]:
        """Read a column, or a function of one, or a bit."""
        if not self._next_is(TokenType.L_PAREN):
            return [Step("column", self._name(token))]
        word = token.text.upper() if token.token_type == TokenType.VAR else ""
        if word == "BIT":
            return [Step("bit", self._bit())]
        if word not in (*_CONTAINS, *_CALLS):
            sign = shorten(token.text + "(")
            raise ArgumentError(f"{sign} is not supported: {SUPPORTED}")
        self._take()
        steps = []
        if self._next_is(*_NAMES):
            steps.append(Step("column", self._name(self._take())))
        if word in _CONTAINS and steps and self._next_is(TokenType.COMMA):
            self._take()
            if (value := self._signed()) is not None:
                steps.append(Step("value", value))
        if len(steps) < 1 + (word in _CONTAINS) or not self._next_is(TokenType.R_PAREN):
            needs = f"a column, such as {token.text}(name)"
            if word in _CONTAINS:
                needs = f"a column and a value, such as {token.text}(tags, 'x')"
            raise ArgumentError(f"{token.text} takes {needs}")
        self._take()
        return [*steps, Step("contains" if word in _CONTAINS else word.lower())]

    def _bit(self) -> int:
        inner = self._tokens[self._place + 1 : self._place + 3]
        if [x.token_type for x in inner] == [TokenType.NUMBER, TokenType.R_PAREN]:
            text = inner[0].text
            if text.isdecimal() and text.isascii() and len(text) < 10:
                self._place += 3
                return int(text)
        raise ArgumentError("bit(...) takes the number of one bit, such as bit(12)")

    def _name(self, token: Token) -> Name:
        tokens, before = [token], self._tokens[: self._place - 1][-1:]
        while self._next_is(TokenType.DOT):
            self._take()
            if not self._next_is(*_NAMES):
                written = shorten(tokens[-1].text + ".")
                raise ArgumentError(f"the filter needs a field's name behind {written}")
            tokens.append(self._take())
        quotes = (
            self._text[part.start] if part.token_type == TokenType.IDENTIFIER else ""
            for part in tokens
        )
        compared = (*_COMPARISONS, TokenType.BETWEEN)
        return Name(
            tuple(part.text for part in tokens),
            tuple(quotes),
            may_be_text=bool(before) and before[0].token_type in compared,
        )

    def _members(self) -> tuple[Literal, ...]:
        """Read the list behind IN."""
        if self._take().token_type != TokenType.L_PAREN:
            raise ArgumentError("IN takes a list in parentheses, such as IN ('x', 'y')")
        members: list[Literal] = []
        while True:
            member = self._signed()
            token = self._tokens[self._place - 1] if member is None else self._take()
            if member is not None:
                members.append(member)
                if token.token_type == TokenType.R_PAREN:
                    return tuple(members)
            if member is None or token.token_type != TokenType.COMMA:
                raise ArgumentError(
                    "IN takes a list such as (1, 2) or ('x', 'y'), found"
                    f" {shorten(token.text)} in it"
                )

    def _signed(self) -> Literal | None:
        """Read a literal, with its sign if it is a number; None for anything else."""
        token = self._take()
        sign = token.text if token.token_type in _SIGNS else ""
        if sign:
            token = self._take()
        literal = self._literal(token)
        if literal is None or (sign and literal.kind != "number"):
            return None
        if sign != "-":
            return literal
        return Literal("number", -literal.value, "-" + literal.text)

    def _pattern(self, token: Token) -> tuple[tuple[str, str], ...]:
        """Read a pattern into pieces; no character escapes unless ESCAPE names it."""
        if not self._next_is(TokenType.STRING):
            raise ArgumentError(
                f"{token.text.upper()} takes a pattern in quotes, such as '%part%'"
            )
        text, escape = self._take().text, None
        if self._next_is(TokenType.ESCAPE):
            self._take()
            if not self._next_is(TokenType.STRING):
                raise ArgumentError("ESCAPE takes one character in quotes")
            escape = self._take().text
            if len(escape) != 1:
                raise ArgumentError(
                    f"ESCAPE takes one character, got {shorten(escape)}"
                )
        pieces: list[tuple[str, str]] = []
        characters = iter(text)
        for character in characters:
            if character == escape:
                character = next(characters, "")
                if character not in ("%", "_", escape):
                    raise ArgumentError(
                        f"the escape {escape!r} in the pattern {shorten(text)} must"
                        f" stand before %, _ or {escape!r}"
                    )
            elif character in ("%", "_"):
                if not (character == "%" and pieces and pieces[-1][0] == "%"):
                    pieces.append((character, character))
                continue
            if pieces and pieces[-1][0] == "text":
                character = pieces.pop()[1] + character
            pieces.append(("text", character))
        return tuple(pieces)


# --- Literals -----------------------------------------------------------------------

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"\s?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1)


def _constant(word: str) -> Literal:
    """Return NULL, TRUE or FALSE."""
    if word == "NULL":
        return Literal("null", None, word)
    return Literal("boolean", word == "TRUE", word)


def _number(text: str) -> Literal:
    """Return the exact number that is written."""
    if text.isdecimal() and text.isascii() and len(text) < MAX_DIGITS:
        return Literal("number", int(text), text)
    if not _NUMBER.fullmatch(text):
        raise ArgumentError(f"the filter holds {shorten(text)}, which is not a number")
    try:
        value = Decimal(text)
    except InvalidOperation:  # an exponent of many digits
        value = Decimal("Infinity")
    if not value.is_finite() or max(len(text), abs(value.adjusted())) > MAX_DIGITS:
        raise ArgumentError(f"the filter holds {shorten(text)}, a number out of range")
    return Literal("number", Fraction(value), text)


def moment(text: str) -> Literal | None:
    """Return a date or a time in ISO 8601, or None where `text` is none."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    day, clock, second, fraction, offset = match.groups()
    try:
        if clock is None:
            days = date.fromisoformat(day) - _EPOCH.date()
            return Literal("date", days.days * DAY, text)
        instant = datetime.fromisoformat(f"{day}T{clock}:{second or '00'}")
    except ValueError:
        return None
    value = (instant - _EPOCH) // timedelta(seconds=1) * SECOND
    value += int((fraction or "").ljust(9, "0"))
    if offset is None:
        return Literal("timestamp", value, text)
    digits = offset[1:].replace(":", "")
    hours, minutes = int(digits[:2] or 0), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        return None
    shift = (hours * 60 + minutes) * 60 * SECOND
    return Literal("zoned", value + shift if offset[0] == "-" else value - shift, text)
