"""Columns of a CSV beside the items are asked about as those of Parquet are."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder
from fewbits.inputs import read

DAYS = ["2019-12-31", "2020-01-01", None, "2021-06-30"]
FRAME = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, 4.0],
        "b": [4.0, 3.0, 2.0, 1.0],
        "category": ["x", None, "y", None],
        "published": DAYS,
        "at": [each and f"{each}T12:30:00" for each in DAYS],
        "seen": [each and f"{each}T12:30:00+01:00" for each in DAYS],
    }
)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    FRAME.to_csv(folder / "x.csv", index=False)
    times = {
        "published": pa.array(pd.to_datetime(FRAME["published"]).dt.date, pa.date32()),
        "at": pa.array(pd.to_datetime(FRAME["at"]), pa.timestamp("us")),
        "seen": pa.array(pd.to_datetime(FRAME["seen"]), pa.timestamp("us", "UTC")),
    }
    table = pa.Table.from_pandas(FRAME.drop(columns=[*times]), preserve_index=False)
    for name, column in times.items():
        table = table.append_column(name, column)
    parquet.write_table(table, folder / "x.parquet")
    bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    return [
        bundle.with_items(read(folder / name, column=["a", "b"]))
        for name in ("x.csv", "x.parquet")
    ]


@pytest.mark.parametrize(
    ("filter", "ids"),
    [
        ("category IS NULL", [1, 3]),
        ("category IS NOT NULL", [0, 2]),
        ("published >= DATE '2020-01-01'", [1, 3]),
        ("published >= '2020-01-01'", [1, 3]),
        ("published BETWEEN '2019-01-01' AND '2020-01-01'", [0, 1]),
        ("published IS NULL", [2]),
        ("at < '2020-01-01'", [0]),
        ("at = '2020-01-01 12:30:00'", [1]),
        ("at > DATE '2020-01-01'", [1, 3]),
        ("seen = '2020-01-01 11:30:00+00:00'", [1]),
        ("seen >= '2020-01-01T12:30:00+01:00'", [1, 3]),
    ],
)
def test_filters(bundles, filter, ids):
    for bundle in bundles:
        found = bundle.search([[1.0, 1.0]], k=4, filter=filter).ids[0]
        assert sorted(found[found >= 0]) == ids


def test_columns(bundles):
    ours, theirs = (bundle.collection.user_table() for bundle in bundles)
    assert ours.to_pylist() == theirs.select(ours.column_names).to_pylist()


def test_rows_without_a_text_go_through_a_bundle():
    pytest.importorskip("wordllama")
    from fewbits.training import fit_bundle

    texts = ["a cat", "", "a dog", None]
    table = pa.table({"text": texts, "sku": list("abcd"), "n": [1, 2, 3, 4]})
    bundle = fit_bundle(["a cat", "a dog"], method="lsh", n_bits=16)
    with pytest.warns(UserWarning, match="2 of 4 rows left out.*: 1, 3$"):
        built = bundle.with_items(table, texts="text", id="sku", skip_blank=True)
    assert built.collection.user_table().to_pylist() == [
        {"text": "a cat", "n": 1},
        {"text": "a dog", "n": 3},
    ]
    assert built.search(["a dog"], k=1).ids.tolist() == [["c"]]
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        assert len(bundle.with_items(texts[:3], skip_blank=True).collection) == 2
