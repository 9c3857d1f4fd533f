"""Conditions to draw at random."""

from hypothesis import strategies as st

from tests.filters._oracle import N_BITS, STRINGS

COMPARISONS = st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">="])
EQUALITIES = st.sampled_from(["=", "<>"])
PATTERNS = [
    "%",
    "",
    "a%",
    "%b",
    "%a%",
    "_",
    "a_b",
    "__",
    "A%",
    "%ä",
    "a%b",
    "_%",
    "%.%",
]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def comparing(operands, literals):
    """Conditions about operands of one type, and literals that fit it."""
    either = operands | literals
    several = st.lists(literals | st.just("NULL"), min_size=1, max_size=4)
    return st.one_of(
        st.builds("{} {} {}".format, either, COMPARISONS, either),
        st.builds("{} IS NULL".format, operands),
        st.builds("{} IS NOT NULL".format, operands),
        st.builds("{} IN ({})".format, operands, several.map(", ".join)),
        st.builds("{} NOT IN ({})".format, operands, several.map(", ".join)),
        st.builds("{} BETWEEN {} AND {}".format, operands, either, either),
        st.builds("{} NOT BETWEEN {} AND {}".format, operands, either, either),
    )


def combined(conditions):
    """Conditions made of others."""
    return st.recursive(
        conditions,
        lambda inner: st.one_of(
            st.builds("{} AND {}".format, inner, inner),
            st.builds("{} OR {}".format, inner, inner),
            st.builds("({})".format, inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=6,
    )


SMALL = st.integers(-9, 9).map(str)
WHOLE = SMALL | st.sampled_from(["9007199254740992", "9007199254740993"])
POINTED = st.sampled_from(
    ["0.1", "-1.5", "2.25", "2.255", ".3", "1.", "99.99", "-100.01"]
)
SUMS = st.recursive(
    st.just("j") | SMALL,
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*%"), inner),
    max_leaves=3,
)
TEXTS = st.sampled_from(["s", "k", "v"])
LIKE = st.builds(
    "{} {} {}".format,
    TEXTS,
    st.sampled_from(["LIKE", "NOT LIKE"]),
    st.sampled_from(PATTERNS).map(quoted) | st.just(r"'a!%%' ESCAPE '!'"),
)
BIT = st.integers(0, N_BITS - 1).map("bit({})".format)
BITS = BIT | st.builds("{} {} {}".format, BIT, EQUALITIES, st.sampled_from("01"))
# What DuckDB and SQLite agree about.
COMMON = st.one_of(
    comparing(st.just("i"), WHOLE),
    comparing(st.just("j") | SUMS, SMALL | POINTED),
    comparing(st.just("f"), SMALL | st.sampled_from(["0.1", ".3", "2.5", "1e15"])),
    comparing(TEXTS, st.sampled_from(STRINGS).map(quoted)),
    LIKE,
    BITS.map("({})".format),
    st.sampled_from(["p", "q", "NOT p", "p = q", "p = TRUE", "p IS TRUE", "NULL"]),
)
DAYS = ["1970-01-01", "2020-02-29", "1899-12-31", "2020-03-01"]
MOMENTS = [
    *DAYS,
    "1969-12-31 23:59:59.999999",
    "2020-02-29T12:00:00",
    "2020-02-29 12:00",
]
OWN = st.one_of(
    comparing(st.sampled_from(["u", "i"]), WHOLE | st.just("18446744073709551615")),
    comparing(
        st.sampled_from(["d", "(d + 1)", "(d * 2)", "(d - j)", "d"]), POINTED | SMALL
    ),
    comparing(st.sampled_from(["f", "(f + 1)", "(f / 2)", "(j / 4)"]), SMALL),
    comparing(st.just("day"), st.sampled_from(DAYS).map(quoted)),
    comparing(st.just("day"), st.sampled_from(DAYS).map("DATE '{}'".format)),
    comparing(st.just("t"), st.sampled_from(MOMENTS).map("TIMESTAMP '{}'".format)),
    comparing(st.just("t"), st.sampled_from(MOMENTS).map(quoted)),
    LIKE.map(lambda text: text.replace("LIKE", "ILIKE")),
)
