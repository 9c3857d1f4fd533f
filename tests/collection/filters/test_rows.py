"""Bits of the codes, expressions of pyarrow, tables without rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.codes import pack
from fewbits.collection.filters import matching_rows
from fewbits.errors import ArgumentError
from tests.collection.filters._ask import ask_table, refusal


@given(seed=st.integers(0, 2**32), n=st.integers(0, 40), n_bits=st.integers(1, 30))
def test_bits_are_those_of_the_codes(seed, n, n_bits):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, n_bits), np.uint8)
    table, codes = pa.table({"row": range(n)}), pack(bits)
    first, second = rng.integers(n_bits, size=2)
    on, other = bits[:, first] == 1, bits[:, second] == 1
    for condition, right in {
        f"bit({first})": on,
        f"bit({first}) = 1": on,
        f"BIT ( {first} ) <> 1": ~on,
        f"0 = bit({first})": ~on,
        f"bit({first}) IN (0, 1)": on | True,
        f"bit({first}) IN (1)": on,
        f"bit({first}) = 1 AND bit({second}) = 0": on & ~other,
        f"bit({first}) = bit({second})": on == other,
        f"NOT bit({first}) OR row < 3": ~on | (np.arange(n) < 3),
    }.items():
        found = matching_rows(condition, table, codes, n_bits)
        np.testing.assert_array_equal(found, right)


def test_codes_may_be_a_part_of_an_array():
    codes = np.arange(512, dtype=np.uint8).reshape(256, 2)[::2, 1:]
    table = pa.table({"row": range(128)})
    found = matching_rows("bit(7)", table, np.ascontiguousarray(codes), 8)
    np.testing.assert_array_equal(found, codes[:, 0] % 2 == 1)


def test_a_column_may_be_called_bit():
    table = pa.table({"bit": [1, 0]})
    assert ask_table("bit = 1 AND bit(0) = 0", table) == [True, False]


EXPRESSIONS = [
    pc.field("year") >= 2020,
    (pc.field("year") > 2018) & (pc.field("category") != "y"),
    pc.field("category").isin(["x"]) | pc.field("year").is_null(),
    pc.field("place", "city") == "A",
    pc.scalar(True),
    pc.field("year") == pa.scalar(None, pa.int64()),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_an_expression_keeps_the_rows_that_pyarrow_keeps(expression):
    part = pa.table(
        {
            "year": [2019, 2020, None, 2022],
            "category": ["x", "y", "x", None],
            "place": [{"city": "A"}, None, {"city": "B"}, {"city": "A"}],
            "row": range(4),
        }
    )
    table = pa.concat_tables([part] * 3)
    table = table.set_column(3, "row", pa.array(range(12)))
    kept = table.filter(expression)["row"].to_pylist()
    assert np.flatnonzero(ask_table(expression, table)).tolist() == kept


@pytest.mark.parametrize(
    "expression",
    [
        pc.field("none") == 1,
        pc.field("year") == "x",
        pc.field("year"),
        pc.field("year") / 0 == 1,
        pc.scalar(1),
        pc.field(99) == 1,
    ],
    ids=str,
)
def test_an_expression_that_pyarrow_refuses_is_one_line(expression):
    assert refusal(expression)


def test_an_expression_keeps_the_order_of_many_rows():
    chunks = [np.arange(start, start + 50_000) for start in range(0, 400_000, 50_000)]
    table = pa.table({"row": pa.chunked_array(chunks)})
    found = ask_table(pc.field("row") < 123_456, table)
    assert found.index(False) == 123_456
    assert sum(found) == 123_456


def test_a_table_without_rows_or_columns():
    empty = pa.table({"year": pa.array([], pa.int64())})
    assert ask_table("year > 2020 AND year IN (1) OR bit(0)", empty) == []
    assert ask_table(pc.field("year") > 2020, empty) == []
    with pytest.raises(ArgumentError, match="the columns are none"):
        ask_table("year = 1", pa.table({}))
