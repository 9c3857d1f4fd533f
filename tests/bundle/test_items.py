"""Ids, codes, columns and vectors stay aligned, and mistakes are named."""

import numpy as np
import pytest

from fewbits.bundle import Items
from fewbits.errors import ArgumentError
from fewbits.store import Store

CODES = np.arange(10, dtype=np.uint8).reshape(5, 2)
IDS = [9, 2, 7, 4, 0]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_round_trip(tmp_path, dtype):
    vectors = np.arange(15).reshape(5, 3).astype(dtype)
    made = Items.make(CODES, ids=IDS, columns={"name": list("abcde")}, vectors=vectors)
    store = Store.create(tmp_path / "s", made.schema, n_bits=16, fingerprint="of what")
    with store.writer() as writer:
        writer.append(made.table)
        writer.commit()
    read = Items.of_store(store)
    np.testing.assert_array_equal(read.ids, IDS)
    np.testing.assert_array_equal(read.codes, CODES)
    np.testing.assert_array_equal(read.some_vectors(), vectors)
    assert read.some_vectors().dtype == dtype
    assert read.columns == ["name"]
    assert read.column("name").tolist() == list("abcde")
    assert [read.row(i)["name"] for i in IDS] == list("abcde")


def test_rows_are_numbered_without_ids():
    made = Items.make(CODES)
    np.testing.assert_array_equal(made.ids, range(5))
    assert made.vectors is None
    assert made.row(3) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": [1, 2, 3, 2, 5]}, "id 2 is given more than once"),
        ({"ids": [1, 2, 3]}, "5 codes, but 3 ids"),
        ({"ids": [0.5] * 5}, "whole numbers"),
        ({"ids": [-1, 0, 1, 2, 3]}, "between 0 and"),
        ({"ids": np.array([2**63, 0, 1, 2, 3], np.uint64)}, "between 0 and"),
        ({"columns": {"_code": list("abcde")}}, "cannot be called '_code'"),
        ({"columns": {"name": ["a"]}}, "1 entries in 'name'"),
        ({"columns": {"name": [1, "x", 2, 3, 4]}}, "column 'name' must be a list"),
        ({"columns": {"name": [2**70] * 5}}, "column 'name' must be a list"),
        ({"columns": {"name": [object()] * 5}}, "column 'name' must be a list"),
        ({"columns": {"name": 5}}, "column 'name' must be a list"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ArgumentError, match=message):
        Items.make(CODES, **options)


def test_unknown_names():
    made = Items.make(CODES, ids=IDS)
    with pytest.raises(ArgumentError, match="no column 'x'"):
        made.column("x")
    for unknown in (1, 10):
        with pytest.raises(ArgumentError, match="no item with id"):
            made.row(unknown)
