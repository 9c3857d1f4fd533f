"""Cells of CSV that are names, though they could be numbers; columns without values."""

import gzip
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from fewbits.inputs import read

NAMES = {
    "telephone": ["+4915112345678", "+491"],
    "articles": ["1e5", "10e4", "17"],
    "upper case": ["12E4", "7"],
    "zeros": ["007", "10"],
    "beyond 2^53": ["9007199254740993.0", "1.5"],
    "digits": ["12345678901234567890", "1"],
}
NUMBERS = {
    "signs": (["+5", "-3"], [5, -3]),
    "signed floats": (["+1.25", "-0.5"], [1.25, -0.5]),
    "exponents": (["1e5", "0.5"], [1e5, 0.5]),
    "as C writes them": (["1e+05", "1e-05"], [1e5, 1e-5]),
    "even beyond 2^53": (["9007199254740992.0", "1e+20"], [2.0**53, 1e20]),
}


def column_of(cells, tmp_path, *, packed=False):
    """Return a column beside texts, read by Arrow, or by Python where it is packed."""
    rows = "".join(f"{cell},red shoe\n" for cell in cells)
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    data = f"c,text\n{rows}".encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return read(path, column="text").columns["c"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_names_stay_as_they_are_written(name, packed, tmp_path):
    cells = NAMES[name]
    assert column_of(cells, tmp_path, packed=packed).to_pylist() == cells
    far = ["1"] * 20_000 + cells  # behind what the kinds of columns are told by
    with np.errstate(all="ignore"):
        assert column_of(far, tmp_path, packed=packed).to_pylist() == far


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_stay_numbers(name, packed, tmp_path):
    cells, values = NUMBERS[name]
    assert column_of(cells, tmp_path, packed=packed).to_pylist() == values


@pytest.mark.parametrize("packed", [False, True])
def test_a_column_without_values_has_no_type(packed, tmp_path):
    assert column_of(["", ""], tmp_path, packed=packed).type == pa.null()
    path = tmp_path / "n.csv"
    path.write_text("a,b,note\n1,2,\n3,4,\n")
    items = read(path)  # it is no column of texts
    assert items.names == ("a", "b")
    assert items.columns["note"].null_count == 2


def test_decimals_are_the_nearest_floats():
    numbers = [Decimal(n).scaleb(-s) for n in range(1, 400, 7) for s in range(1, 6)]
    columns = {"a": pa.array(numbers, pa.decimal128(20, 6)), "b": [1.0] * len(numbers)}
    values = read(pa.table(columns)).values
    assert values[:, 0].tolist() == [float(number) for number in numbers]
