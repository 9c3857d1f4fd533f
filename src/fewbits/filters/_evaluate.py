"""The tree of a condition, evaluated on columns.

Only the operators listed here are known. The walk has its own stack, so ten thousand
ORs are no deeper than one.
"""

from typing import Any

from sqlglot import exp

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Atom, Group
from fewbits.filters._grammar import SUPPORTED
from fewbits.filters._operators import NEGATED, OPERATORS, apply, leaf
from fewbits.filters._rows import Rows
from fewbits.filters._values import as_truth

TESTS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Is, exp.In, exp.Between, exp.Like, exp.ILike),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
# What sqlglot adds to a node: how its dialect divides, and NOT before LIKE.
NOTES = {
    exp.Div: {"typed", "safe"},
    exp.Like: {NEGATED},
    exp.ILike: {NEGATED},
    exp.Is: {NEGATED},
}


def evaluate(condition: Group, rows: Rows) -> Any:
    """Return the truth of a condition: an Arrow array, or one scalar for all rows."""
    # The stack of nodes, each with whether its operands have been evaluated.
    todo: list[tuple[Any, list[Atom], bool]] = [
        (condition.tree, condition.atoms, False)
    ]
    done: list[Any] = []
    while todo:
        node, atoms, has_operands = todo.pop()
        if has_operands:
            first = len(done) - len(OPERATORS[type(node)])
            done[first:] = [apply(node, done[first:])]
            continue
        atom = _atom(node, atoms)
        operands = _operands(node) if atom is None else []
        if isinstance(atom, Group):
            todo.append((atom.tree, atom.atoms, False))
        elif operands:
            todo.append((node, atoms, True))
            todo += [(each, atoms, False) for each in reversed(operands)]
        else:
            done.append(leaf(node if atom is None else atom, rows))
    return as_truth(done.pop(), "a filter")


def _atom(node: Any, atoms: list[Atom]) -> Atom | None:
    """Return what a name stands for: the names that sqlglot saw are quoted numbers."""
    if type(node) is not exp.Column:
        return None
    if not node.this.args.get("quoted"):  # a word such as IS, where a value belongs
        raise ArgumentError(f"the filter cannot be read at {node.name!r}: {SUPPORTED}")
    return atoms[int(node.name)]


def _operands(node: Any) -> list[Any]:
    """Return the operands of a node in their order, none for a constant."""
    kind = type(node)
    if kind in (exp.Null, exp.Boolean):
        return []
    given = {name for name, value in node.args.items() if value}
    given -= NOTES.get(kind, set())
    if kind not in OPERATORS or given != set(OPERATORS[kind]):
        raise ArgumentError(f"{kind.__name__.upper()} cannot be read: {SUPPORTED}")
    operands = [node.args[name] for name in OPERATORS[kind]]
    operands = [each[0] if isinstance(each, list) else each for each in operands]
    _check_precedence(kind, [type(each) for each in operands])
    return operands


def _check_precedence(kind: Any, operands: list[Any]) -> None:
    """Refuse what one database reads in another way than the next."""
    if kind in TESTS and any(
        each in (*TESTS, exp.Not, exp.Paren, exp.And, exp.Or) for each in operands
    ):
        raise ArgumentError(
            "the filter needs parentheses where one comparison follows another: write"
            " 'a < b AND b < c' for a < b < c, or '(a = b) IS NULL'"
        )
    remainders = exp.Mod in operands or (
        kind is exp.Mod and any(each in ARITHMETIC for each in operands)
    )
    if kind in ARITHMETIC and remainders:
        raise ArgumentError(
            "the filter needs parentheses around % beside other arithmetic: write"
            " '(a % b) * c'"
        )
