"""A mask is never taken for ids, nor ids for a mask."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits._allowed import as_allowed
from fewbits.errors import ArgumentError

MASK = [True, False, True, True]

COLUMNS = [
    list,
    tuple,
    np.array,
    lambda values: np.array(values, object),
    lambda values: np.ma.array(values, mask=[False] * len(values)),
    pd.Series,
    lambda values: pd.Series(values, dtype=object),
    lambda values: pd.Series(values).convert_dtypes(),
    lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    pl.Series,
    pa.array,
    lambda values: pa.chunked_array([values[:1], values[1:]]),
]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    "values", [MASK, [False] * 4, [3, 0, 2], [2, 2, 3], [7], [0, 1]], ids=repr
)
def test_columns_are_what_they_hold(column, values):
    found = as_allowed(column(values), 4)
    assert found.tolist() == values
    assert found.dtype.kind == ("b" if isinstance(values[0], bool) else "i")


MISSING = [
    [True, None, True, False],
    np.array([True, np.nan, False, True], object),
    pd.Series([True, None, True, False]),
    pd.Series([True, None, True, False], dtype="boolean"),
    pd.Series([True, None, True, False], dtype="bool[pyarrow]"),
    pl.Series([True, None, True, False]),
    pa.array([True, None, True, False]),
    pa.chunked_array([[True, None], [True, False]]),
    pd.Series([1, None, 2], dtype="Int64"),
    pl.Series([1, None, 2]),
    pa.array([1, None, 2]),
    [1, None, 2],
    [1.0, np.nan],
]


@pytest.mark.parametrize("values", MISSING, ids=lambda v: type(v).__name__)
def test_what_is_missing_is_refused(values):
    with pytest.raises(ArgumentError, match="allowed has 1 missing values: say what"):
        as_allowed(values, 4)


@pytest.mark.parametrize("values", [MASK, [3, 0, 2]])
def test_masked_arrays_are_refused(values):
    masked = np.ma.array(values, mask=[True] + [False] * (len(values) - 1))
    with pytest.raises(ArgumentError, match="allowed has 1 masked entries"):
        as_allowed(masked, 4)


NUMBERS = [np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64]


@given(
    mask=st.lists(st.booleans(), min_size=1, max_size=9),
    dtype=st.sampled_from([np.uint8, np.int8]),
)
def test_a_mask_in_bytes_is_refused(mask, dtype):
    with pytest.raises(ArgumentError, match=r"a mask or ids, got bytes \(u?int8\)"):
        as_allowed(np.array(mask, dtype), len(mask))


@given(
    mask=st.lists(st.booleans(), min_size=3, max_size=9),
    dtype=st.sampled_from(NUMBERS),
    n=st.integers(0, 40),
)
def test_a_mask_in_numbers_is_refused(mask, dtype, n):
    """Of the right length or not: ids do not repeat like that."""
    with pytest.raises(ArgumentError, match=r"a mask or ids, got .* pass \.astype"):
        as_allowed(np.array(mask, dtype), n)


@given(mask=st.lists(st.booleans(), min_size=3, max_size=9), low=st.integers(0, 3))
def test_a_mask_of_other_values_is_refused(mask, low):
    with pytest.raises(ArgumentError, match="numbers that are all"):
        as_allowed(np.where(mask, 255, low), len(mask))


@given(ids=st.lists(st.integers(0, 2**63 - 1), unique=True, max_size=20), n=st.data())
def test_ids_that_do_not_repeat_are_ids(ids, n):
    size = n.draw(st.integers(0, 30))
    assert as_allowed(ids, size).tolist() == ids
    assert as_allowed(np.array(ids, np.int64), size).tolist() == ids


@given(ids=st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_ids_of_three_values_may_repeat(ids):
    ids = [*ids, 3, 4, 5]
    assert as_allowed(ids, len(ids)).tolist() == ids


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([True, 2, 3], "must not mix booleans and numbers"),
        (np.array([True, 2], object), "got dtype object"),
        ([0.0, 1.0, 1.0, 0.0], "got dtype float64"),
        ("1010", "got dtype <U4 and shape"),
        (b"1010", "got dtype |S4 and shape"),
        ({1, 2}, "got dtype object"),
        ([[True], [False]], "mask must have shape"),
        ([True, False], r"shape \(4,\), got \(2,\)"),
        ([2**70], "got dtype object"),
        ([[1], [2, 3]], "rows that differ"),
        (pd.DataFrame({"a": MASK}), r"shape \(4,\), got \(4, 1\)"),
        (pl.col("a") > 1, "got dtype object"),
        (np.array(["2020"], "M8[D]"), "got dtype datetime64"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_anything_else_is_refused(values, message):
    with pytest.raises(ArgumentError, match=message):
        as_allowed(values, 4)
