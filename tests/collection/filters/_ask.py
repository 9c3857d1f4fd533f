"""Ask for the rows of a table whose codes do not matter."""

import numpy as np
import pyarrow as pa
import pytest

from fewbits.collection.filters import matching_rows
from fewbits.errors import ArgumentError


def ask(condition, **columns):
    """Return the truth of a condition for each row of `columns`."""
    return ask_table(condition, pa.table(columns))


def ask_table(condition, table):
    """Return the truth of a condition for each row of `table`."""
    codes = np.zeros((len(table), 1), np.uint8)
    rows = matching_rows(condition, table, codes, 8)
    assert rows.dtype == np.bool_
    return rows.tolist()


def refusal(condition, **columns):
    """Return the one line by which a condition is refused."""
    with pytest.raises(ArgumentError) as error:
        ask(condition, **(columns or {"year": [2019, 2020], "category": ["x", "y"]}))
    line = str(error.value)
    assert len(line.splitlines()) == 1, line
    assert line.isprintable()
    return line
