"""Columns of features go by their names, in whatever order and form they come."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fewbits
from fewbits import Collection
from fewbits.errors import FeatureError
from fewbits.learners import LSH
from fewbits.server import Settings
from tests.server._running import served

X = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
TURNED = FRAME[["d", "b", "a", "c"]]
FORMS = {
    "pandas": TURNED,
    "polars": pl.DataFrame(TURNED),
    "lazy": pl.DataFrame(TURNED).lazy(),
    "arrow": pa.Table.from_pandas(TURNED),
    "columns": {name: TURNED[name].to_numpy() for name in TURNED},
    "rows": TURNED.to_dict("records"),
    "named tuples": [*TURNED.itertuples(index=False)],
    "series": [row for _, row in TURNED.iterrows()],
    "more columns": TURNED.assign(note="x", price=1.0),
}
ENCODER = LSH(32, random_state=0).fit(FRAME).encoder_


@pytest.fixture
def local():
    return Collection.create(None, FRAME, encoder=ENCODER)


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("form", FORMS)
def test_a_permuted_frame_has_the_codes_of_the_frame(local, form):
    frame, codes = FORMS[form], ENCODER.encode(X)
    np.testing.assert_array_equal(local.encode(frame), codes)
    wanted = local.search(X, k=3).ids.tolist()
    assert local.search(frame, k=3).ids.tolist() == wanted
    local.add(frame)
    np.testing.assert_array_equal(local.codes, np.concatenate([codes, codes]))


@pytest.mark.filterwarnings("ignore:left out")
def test_a_collection_behind_an_address_goes_by_names_too(local):
    wanted = local.search(X, k=3).ids.tolist()
    with served(local, Settings(writable=True)) as url, fewbits.open(url) as remote:
        for frame in FORMS.values():
            assert remote.search(frame, k=3).ids.tolist() == wanted
        remote.add(FORMS["rows"])
        assert remote.get([12], columns=[]) == [{}]
        np.testing.assert_array_equal(remote.encode(ids=[12]), local.codes[:1])


def test_columns_beside_features_are_told(local):
    table = pa.table({"key": [*range(12)], "year": [1] * 12, **FORMS["columns"]})
    col = Collection.create(
        None, table, column=["a", "b", "c", "d"], id="key", encoder=ENCODER
    )
    more = table.append_column("price", pa.array([1.0] * 12))
    with served(col) as url, fewbits.open(url) as remote:
        for collection in (col, remote):
            with pytest.warns(UserWarning, match="left out 'price': "):
                collection.search(more, k=1)
            collection.search(table, k=1)  # warnings are errors here


def test_an_encoder_brings_its_names_to_a_collection():
    made = Collection.create(None, TURNED, encoder=ENCODER)
    np.testing.assert_array_equal(made.codes, ENCODER.encode(X))
    assert made.facts.feature_names == ("a", "b", "c", "d")


def test_a_frame_without_one_of_the_columns_is_refused(local):
    with pytest.raises(FeatureError, match="lacks b"):
        local.search(TURNED.rename(columns={"b": "z"}))


LABELS = {
    "years": range(2001, 2005),
    "levels": pd.MultiIndex.from_product([["a", "b"], [1, 2]]),
    "days": pd.date_range("2020-01-01", periods=4),
    "floats": [1.5, 2.5, 3.0, 4.0],
    "mixed": ["a", 1, "b", 2],
    "numbers": range(4),
}


@pytest.mark.parametrize("labels", LABELS)
def test_names_that_are_no_texts_are_names(labels):
    frame = pd.DataFrame(X, columns=LABELS[labels])
    turned = frame.iloc[:, ::-1]
    encoder = LSH(32, random_state=0).fit(frame).encoder_
    local = Collection.create(None, frame, encoder=encoder)
    codes = encoder.encode(X)
    for door in (encoder, local):
        np.testing.assert_array_equal(door.encode(turned), codes)
    np.testing.assert_array_equal(
        local.encode([x for _, x in turned.iterrows()]), codes
    )
    assert (local.search(turned, k=3).ids == local.search(X, k=3).ids).all()
    local.add(turned)
    np.testing.assert_array_equal(local.codes, np.concatenate([codes, codes]))
    if labels != "numbers":
        with pytest.raises(FeatureError, match="other columns"):
            local.encode(
                frame.rename(columns=str).iloc[:, ::-1].set_axis([*"abcd"], axis=1)
            )


def test_a_file_and_a_frame_agree_on_names_that_are_numbers(tmp_path):
    frame = pd.DataFrame(X, columns=range(2001, 2005))
    frame.rename(columns=str).to_parquet(tmp_path / "x.parquet")
    col = Collection.create(None, tmp_path / "x.parquet", bits=4)
    np.testing.assert_array_equal(col.encode(frame.iloc[:, ::-1]), col.codes)


def test_windows_of_a_series_are_vectors():
    series = pd.Series(X.ravel())
    windows = [series[i : i + 4] for i in (0, 4, 8)]
    np.testing.assert_array_equal(ENCODER.encode(windows), ENCODER.encode(X[:3]))
