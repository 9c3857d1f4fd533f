"""Parsing of one pair of parentheses into a sqlglot tree."""

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Atom, Group
from fewbits.filters._grammar import SUPPORTED, Conditions
from fewbits.filters._literals import shorten

MAX_RUN = 20  # operators in a row, as NOT NOT NOT x: sqlglot recurses into them
VALUES = (TokenType.NULL, TokenType.TRUE, TokenType.FALSE)
ENDS = (*VALUES, TokenType.IDENTIFIER, TokenType.R_PAREN)  # what an operand ends with
# Words that other parts of SQL begin with; behind them the rest cannot be read.
OTHER_SQL = {
    *(
        "ALL",
        "ANY",
        "ARRAY",
        "AS",
        "ASC",
        "CASE",
        "CAST",
        "COLLATE",
        "DESC",
        "DISTINCT",
    ),
    *("EXISTS", "FROM", "GLOB", "GROUP", "HAVING", "INTERVAL", "ISNULL", "LIMIT"),
    *("MATCH", "NOTNULL", "ORDER", "OVERLAPS", "REGEXP", "RLIKE", "SELECT", "SIMILAR"),
    *("SOME", "SYMMETRIC", "TIME", "UNION", "VALUES", "WHERE", "WITH", "XOR"),
}


class Level:
    """The tokens between a '(' and its ')', each atom as a name that is its number."""

    def __init__(self, text: str, dialect: Conditions) -> None:
        self._text = text
        self._dialect = dialect
        self._tokens: list[Token] = []
        self._atoms: list[Atom] = []
        self._words: list[str] = []
        self._run = 0

    def operator(self, token: Token) -> None:
        """Add a token that sqlglot reads by itself."""
        if token.token_type in VALUES:
            self._check_place(token)
        if token.token_type == TokenType.IS and self._last() == TokenType.NOT:
            raise ArgumentError("the filter needs IS NOT in place of NOT IS")
        self._run = 0 if token.token_type in VALUES else self._run + 1
        if self._run > MAX_RUN:
            raise ArgumentError(
                f"the filter has more than {MAX_RUN} operators in a row, such as"
                f" {shorten(token.text)}"
            )
        self._tokens.append(token)

    def atom(self, atom: Atom, token: Token) -> None:
        """Add an atom that was read at `token`."""
        if token.token_type == TokenType.VAR and token.text.upper() in OTHER_SQL:
            self._words.append(token.text)
        self._check_place(token)
        self._run = 0
        self._tokens.append(
            Token(
                token_type=TokenType.IDENTIFIER,
                text=str(len(self._atoms)),
                line=token.line,
                col=token.col,
                start=token.start,
                end=token.end,
            )
        )
        self._atoms.append(atom)

    def _last(self) -> TokenType | None:
        return self._tokens[-1].token_type if self._tokens else None

    def _check_place(self, token: Token) -> None:
        """Refuse two operands in a row: sqlglot takes BETWEEN 1 2 without its AND."""
        if self._last() in ENDS:
            hint = " (a string stands in single quotes)"
            raise ArgumentError(
                self._unreadable(
                    self._text[token.start : token.end + 1],
                    hint if token.token_type == TokenType.VAR else "",
                )
            )

    def close(self) -> Group:
        """Return the tree."""
        try:
            trees = self._dialect.parser().parse_into(
                exp.Condition, self._tokens, self._text
            )
        except ParseError as error:
            place = error.errors[0] if error.errors else {}
            sign = str(place.get("highlight") or "") or self._text
            raise ArgumentError(self._unreadable(sign)) from None
        except RecursionError:
            raise ArgumentError(
                "the filter is nested too deeply; write it with fewer NOT and -"
            ) from None
        if len(trees) != 1 or trees[0] is None:
            raise ArgumentError("the filter has parentheses with nothing in them")
        return Group(trees[0], self._atoms)

    def _unreadable(self, sign: str, hint: str = "") -> str:
        if self._words:
            return f"{self._words[0].upper()} is not supported: {SUPPORTED}"
        return f"the filter cannot be read at {shorten(sign)}{hint}: {SUPPORTED}"
