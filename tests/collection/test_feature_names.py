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
