"""Parsing of a condition into a tree of operators between atoms.

Names, literals, lists and parentheses are recognised here, and each becomes an atom of
its own. sqlglot parses only the operators between atoms, one pair of parentheses at a
time. So nesting costs no recursion, a long list costs no tree, no function or
subquery can come up, and a column may have the name of a keyword.
"""

from itertools import pairwise

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import (
    Atom,
    Bit,
    Call,
    Contains,
    Group,
    Literal,
    Members,
    Name,
)
from fewbits.filters._grammar import OPERATORS, SUPPORTED, Conditions
from fewbits.filters._literals import constant, number, shorten, typed_moment
from fewbits.filters._patterns import pattern
from fewbits.filters._tree import Level

LITERALS = (TokenType.STRING, TokenType.NUMBER, TokenType.DOT, TokenType.VAR)
SIGNS = (TokenType.DASH, TokenType.PLUS)
WORDS = (TokenType.VAR, TokenType.IDENTIFIER)
#: What DuckDB, Spark and DataFusion call it.
CONTAINS = ("LIST_CONTAINS", "ARRAY_CONTAINS", "ARRAY_HAS")
#: Functions of one column, by what DuckDB calls them.
CALLS = ("LOWER", "UPPER", "YEAR", "MONTH", "DAY")
COMPARISONS = (
    *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE),
    *(TokenType.GT, TokenType.GTE, TokenType.BETWEEN),
)


def parse(text: str) -> Group:
    """Return the tree of a condition."""
    dialect = Conditions()
    tokens = _tokens(text, dialect)
    levels = [Level(text, dialect)]
    reader = _Reader(text, tokens)
    while reader.more():
        token = reader.take()
        if token.token_type == TokenType.L_PAREN:
            levels.append(Level(text, dialect))
        elif token.token_type == TokenType.R_PAREN:
            if len(levels) == 1:
                raise ArgumentError("the filter has a ')' without its '('")
            group = levels.pop().close()
            levels[-1].atom(group, token)
        else:
            reader.read(token, levels[-1])
    if len(levels) > 1:
        raise ArgumentError("the filter has a '(' that is not closed")
    return levels[0].close()


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
    tokens = _tokens(text, Conditions())
    return [
        pattern.text
        for word, pattern in pairwise(tokens)
        if word.token_type in (TokenType.LIKE, TokenType.ILIKE)
    ]


def _tokens(text: str, dialect: Conditions) -> list[Token]:
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


class _Reader:
    """Splits the tokens into atoms and operators."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._place = 0

    def more(self) -> bool:
        return self._place < len(self._tokens)

    def take(self) -> Token:
        if not self.more():
            raise ArgumentError("the filter ends too early")
        token = self._tokens[self._place]
        self._place += 1
        return token

    def read(self, token: Token, level: Level) -> None:
        """Add the operator or the atom that begins at `token`."""
        kind = token.token_type
        if kind in OPERATORS:
            level.operator(token)
        elif kind == TokenType.IN:
            level.operator(token)
            self._list(level)
        elif self._is_distinct(token):
            level.operator(token)
            level.operator(self.take())
        elif kind in (TokenType.LIKE, TokenType.ILIKE):
            level.operator(token)
            level.atom(self._pattern(token), token)
        else:
            level.atom(self._atom(token), token)

    def _is_distinct(self, token: Token) -> bool:
        """Return whether DISTINCT FROM follows IS, or IS NOT."""
        if token.token_type != TokenType.VAR:
            return False
        here = self._place - 1
        words = [each.text.upper() for each in self._tokens[here : here + 2]]
        before = [each.token_type for each in self._tokens[max(0, here - 2) : here]]
        is_behind = before[-1:] == [TokenType.IS] or before == [
            TokenType.IS,
            TokenType.NOT,
        ]
        return words == ["DISTINCT", "FROM"] and is_behind

    def _next_is(self, *kinds: TokenType) -> bool:
        return self.more() and self._tokens[self._place].token_type in kinds

    def _atom(self, token: Token) -> Atom:
        kind = token.token_type
        if kind == TokenType.STRING:
            return Literal("string", token.text, token.text)
        if kind == TokenType.NUMBER:
            return number(token.text)
        if kind == TokenType.DOT and self._next_is(TokenType.NUMBER):
            return number("." + self.take().text)
        if kind in WORDS:
            return self._word(token)
        sign = self._text[token.start : token.end + 1] or token.text
        raise ArgumentError(f"{shorten(sign)} is not supported: {SUPPORTED}")

    def _word(self, token: Token) -> Atom:
        word = token.text.upper() if token.token_type == TokenType.VAR else ""
        if word in ("DATE", "TIMESTAMP") and self._next_is(TokenType.STRING):
            return typed_moment(word, self.take().text)
        if not self._next_is(TokenType.L_PAREN):
            return self._name(token)
        if word == "BIT":
            return self._bit()
        if word in CONTAINS:
            return self._contains(token)
        if word in CALLS:
            return self._call(token)
        raise ArgumentError(
            f"{shorten(token.text + '(')} is not supported: {SUPPORTED}"
        )

    def _bit(self) -> Bit:
        inner = self._tokens[self._place + 1 : self._place + 3]
        if [each.token_type for each in inner] == [TokenType.NUMBER, TokenType.R_PAREN]:
            text = inner[0].text
            if text.isdecimal() and text.isascii() and len(text) < 10:
                self._place += 3
                return Bit(int(text))
        raise ArgumentError("bit(...) takes the number of one bit, such as bit(12)")

    def _contains(self, word: Token) -> Contains:
        self.take()
        if self._next_is(*WORDS):
            name = self._name(self.take())
            if self._next_is(TokenType.COMMA):
                self.take()
                member = self._value()
                if member is not None and self._next_is(TokenType.R_PAREN):
                    self.take()
                    return Contains(name, member)
        raise ArgumentError(
            f"{word.text} takes a column and a value, such as {word.text}(tags, 'x')"
        )

    def _call(self, word: Token) -> Call:
        self.take()
        if self._next_is(*WORDS):
            name = self._name(self.take())
            if self._next_is(TokenType.R_PAREN):
                self.take()
                return Call(word.text.lower(), name)
        raise ArgumentError(f"{word.text} takes a column, such as {word.text}(name)")

    def _name(self, token: Token) -> Name:
        tokens, before = [token], self._tokens[: self._place - 1]
        while self._next_is(TokenType.DOT):
            self.take()
            if not self._next_is(*WORDS):
                written = shorten(tokens[-1].text + ".")
                raise ArgumentError(f"the filter needs a field's name behind {written}")
            tokens.append(self.take())
        quotes = tuple(
            self._text[each.start] if each.token_type == TokenType.IDENTIFIER else ""
            for each in tokens
        )
        behind = bool(before) and before[-1].token_type in COMPARISONS
        return Name(tuple(each.text for each in tokens), quotes, may_be_text=behind)

    def _list(self, level: Level) -> None:
        """Read what follows IN; sqlglot sees one name in parentheses."""
        opening = self.take()
        if opening.token_type != TokenType.L_PAREN:
            raise ArgumentError("IN takes a list in parentheses, such as IN ('x', 'y')")
        literals = [self._member()]
        while (token := self.take()).token_type == TokenType.COMMA:
            literals.append(self._member())
        if token.token_type != TokenType.R_PAREN:
            raise ArgumentError(
                f"IN takes a list such as (1, 2) or ('x', 'y'), found"
                f" {shorten(token.text)} in it"
            )
        level.operator(opening)
        level.atom(Members(tuple(literals)), opening)
        level.operator(token)

    def _member(self) -> Literal:
        place = self._place
        found = self._value()
        if found is None:
            read = self._tokens[place : self._place]
            token = next((t for t in read if t.token_type not in SIGNS), read[-1])
            raise ArgumentError(
                f"IN takes a list such as (1, 2) or ('x', 'y'), found"
                f" {shorten(token.text)} in it"
            )
        return found

    def _value(self) -> Literal | None:
        """Read a literal, with its sign if it is a number; None for anything else."""
        token = self.take()
        sign = token.text if token.token_type in SIGNS else ""
        if sign:
            token = self.take()
        found = self._literal(token) or constant(token.token_type.name)
        if found is None or (sign and found.kind != "number"):
            return None
        if sign != "-":
            return found
        return Literal("number", -found.value, "-" + found.text)

    def _literal(self, token: Token) -> Literal | None:
        kind = token.token_type
        if kind == TokenType.VAR and not self._next_is(TokenType.STRING):
            return None
        if kind not in LITERALS:
            return None
        found = self._atom(token)
        return found if isinstance(found, Literal) else None

    def _pattern(self, token: Token) -> Atom:
        if not self._next_is(TokenType.STRING):
            raise ArgumentError(
                f"{token.text.upper()} takes a pattern in quotes, such as '%part%'"
            )
        text, escape = self.take().text, None
        if self._next_is(TokenType.ESCAPE):
            self.take()
            if not self._next_is(TokenType.STRING):
                raise ArgumentError("ESCAPE takes one character in quotes")
            escape = self.take().text
        return pattern(text, escape)
