"""Codes that are written out: read where they are named, never taken for words."""

import base64
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fewbits import Collection
from fewbits.errors import ArgumentError, CodeError
from fewbits.inputs import as_texts, read

CODES = np.random.default_rng(3).integers(0, 256, (20, 8), dtype=np.uint8)
HEX = [code.tobytes().hex() for code in CODES]
READ = {
    "hex": HEX,
    "upper case": [text.upper() for text in HEX],
    "0x": [f"0x{text}" for text in HEX],
    "bytea": [f"\\x{text}" for text in HEX],
    "bits": ["".join(map(str, np.unpackbits(code))) for code in CODES],
}
NAMED = {
    "base64": [base64.b64encode(code).decode() for code in CODES],
    "base64 of addresses": [
        base64.urlsafe_b64encode(code).decode().rstrip("=") for code in CODES
    ],
    "uuid": [str(uuid.UUID(bytes=bytes(2 * [*code]))) for code in CODES],
}
WORDS = [f"a shoe of size {i}" for i in range(20)]


@pytest.mark.parametrize("name", [*READ, *NAMED])
def test_codes_are_no_words(name, tmp_path):
    column = {**READ, **NAMED}[name]
    frame = pd.DataFrame({"hash": column})
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "t.txt").write_text("\n".join(column))
    for source in (column, frame, tmp_path / "t.csv", tmp_path / "t.txt"):
        with pytest.raises(ArgumentError, match=r"codes=.*--codes.*base64 and UUIDs"):
            read(source)
    for source in (frame, tmp_path / "t.csv"):
        with pytest.raises(ArgumentError, match="codes="):
            read(source, column="hash")
    beside = read(frame.assign(text=WORDS))  # not mistaken for a column of texts
    assert (list(beside.values), beside.columns["hash"].to_pylist()) == (WORDS, column)


@pytest.mark.parametrize("name", READ)
def test_codes_are_read_where_they_are_named(name, tmp_path):
    frame = pd.DataFrame({"hash": READ[name]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        np.testing.assert_array_equal(read(source, codes="hash").values, CODES)
    col = Collection.create(None, codes=READ[name])
    assert col.add(codes=READ[name]) == 20
    np.testing.assert_array_equal(col.codes, np.vstack([CODES, CODES]))


@pytest.mark.parametrize("name", NAMED)
def test_other_forms_are_refused_by_name(name):
    frame = pd.DataFrame({"hash": NAMED[name]})
    with pytest.raises(ArgumentError, match="hexadecimal digits"):
        read(frame, codes="hash")


@pytest.mark.parametrize(
    "texts",
    [
        ["Strawberries", "Blackberries"],
        ["ABCDEFGHIJKL", "MNOPQRSTUVWX"],
        ["deadbeef", "feedface"],
        ["12345678", "20210305"],
        HEX[:1],
    ],
)
def test_words_and_numbers_are_no_codes(texts):
    frame = pd.DataFrame({"text": texts})
    assert list(read(frame, column="text").values) == texts


def test_a_query_may_be_a_code():
    assert list(as_texts(HEX[:2])) == HEX[:2]


@pytest.mark.parametrize("make", [list, tuple, pd.Series, np.array, pa.array])
def test_hexadecimal_digits_are_searched_for(make):
    col = Collection.create(None, codes=CODES)
    for texts in (HEX[5:7], READ["upper case"][5:7], READ["bytea"][5:7]):
        assert col.search(codes=make(texts), k=1).ids.tolist() == [[5], [6]]
        np.testing.assert_array_equal(col.encode(codes=make(texts)), CODES[5:7])


@pytest.mark.parametrize("text", ["ff00", "zz" * 8, "", HEX[0] + "00", "\u0661" * 16])
def test_other_digits_are_refused(text):
    col = Collection.create(None, codes=CODES)
    with pytest.raises(CodeError, match="16 hexadecimal digits"):
        col.search(codes=[HEX[0], text])
