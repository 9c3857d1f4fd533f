"""What is given in Python is understood, or refused, the same way at every door."""

from array import array
from collections import deque
from decimal import Decimal
from functools import cache

import duckdb
import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from PIL import Image
from scipy import sparse

import fewbits
from fewbits import Collection
from fewbits.classify import Codebook
from fewbits.collection.evaluation import evaluate
from fewbits.errors import FewbitsError
from fewbits.evaluation import exact_neighbours, neighbour_threshold
from fewbits.index import FlatIndex, Int8Vectors
from fewbits.inputs import as_items, read
from fewbits.learners import LSH

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*left out",
    "ignore:.*queries are equal",
    "ignore:.*bits",
    "ignore:X has feature names",
)

X = np.round(np.random.default_rng(0).normal(size=(30, 4)) * 8) / 4  # exact in float16
FAR = X[:1] + 100
NAMES = list("abcd")
FRAME = pd.DataFrame(X, columns=NAMES)
POLARS = pl.DataFrame(X, schema=NAMES)
ARROW = pa.table(dict(zip(NAMES, X.T, strict=True)))
LISTS = pa.array(X.tolist())
DECIMALS = [[Decimal(str(value)) for value in row] for row in X]
OTHER = np.rint(X)  # the same in every integer type

LEARNER = LSH(16, random_state=0).fit(X)
LEARNT = Collection.from_parts(
    LEARNER.encoder_, codebook=Codebook(LEARNER.encode(X[:1]), 16)
)
COL = Collection.create(None, X, encoder=LEARNT, keep_vectors="float32")


class OfNumPy:
    def __array__(self, dtype=None, copy=None):
        return np.array(X, dtype)


def gaps(*places):
    mask = np.zeros(X.shape, np.bool_)
    for place in places:
        mask[place] = True
    return np.ma.masked_array(X, mask)


def changed(value, dtype=np.float64):
    other = X.astype(dtype)
    other[3, 1] = value
    return other


def added(items):
    """Return the codes after items were added to a collection that has some."""
    col = Collection.create(None, X[:2], encoder=LEARNT)
    col.add(items)
    return col.codes[2:].tolist()


#: Every function that takes vectors, and what it makes of them.
DOORS = {
    "learner": lambda items: LSH(16, random_state=0).fit(items).encoder_.fingerprint,
    "learner.encode": lambda items: LEARNER.encode(items).tolist(),
    "learner.transform": lambda items: LEARNER.transform(items).tolist(),
    "encoder.encode": lambda items: LEARNER.encoder_.encode(items).tolist(),
    "encoder.project": lambda items: LEARNER.encoder_.project(items).tolist(),
    "create": lambda items: Collection.create(
        None, items, learner="lsh", bits=16
    ).codes.tolist(),
    "create by an encoder": lambda items: Collection.create(
        None, items, encoder=LEARNT
    ).codes.tolist(),
    "add": added,
    "encode": lambda items: COL.encode(items).tolist(),
    "search": lambda items: COL.search(items).ids.tolist(),
    "search by codes": lambda items: COL.search(items, rerank=False).ids.tolist(),
    "search within": lambda items: COL.search(items, radius=4).ids.tolist(),
    "good": lambda items: COL.like(items, FAR).distances.tolist(),
    "bad": lambda items: COL.like(FAR, items).distances.tolist(),
    "classify": lambda items: COL.classify(items).to_list(),
    "fit": lambda items: fewbits.fit(items, learner="lsh", bits=16).encoder.fingerprint,
    "evaluate": lambda items: [
        row[:3] for row in evaluate(LEARNT, read(items), read(items)).comparison
    ],
}

CODES = LEARNER.encode(X)
INDEX = FlatIndex(CODES)
#: Functions of two matrices, which take what is too large for encoders.
MATRICES = {
    "stored vectors": lambda items: INDEX.search_reranked(
        CODES, 3, vectors=items, query_vectors=X
    ).ids.tolist(),
    "query vectors": lambda items: INDEX.search_reranked(
        CODES, 3, vectors=X, query_vectors=items
    ).ids.tolist(),
    "int8": lambda items: Int8Vectors.from_vectors(items).values.tolist(),
    "true neighbours": lambda items: exact_neighbours(X, items, 3).ids.tolist(),
    "evaluation": lambda items: neighbour_threshold(items, k=3),
}
DOORS |= MATRICES

SAME = {
    "float32": X.astype("f4"),
    "float16": X.astype("f2"),
    "long double": X.astype(np.longdouble),
    "big-endian": X.astype(">f8"),
    "Fortran": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=1)[:, ::2],
    "no gaps": gaps(),
    "objects": X.astype(object),
    "decimals": np.array(DECIMALS, object),
    "rows as objects": pd.Series(list(X)).to_numpy(),
    "list": X.tolist(),
    "tuple": tuple(map(tuple, X.tolist())),
    "list of arrays": list(X),
    "list of tensors": list(torch.tensor(X)),
    "list of decimals": DECIMALS,
    "deque": deque(X.tolist()),
    "buffer": memoryview(X),
    "__array__": OfNumPy(),
    "pandas": FRAME,
    "nullable": FRAME.convert_dtypes(),
    "pandas over Arrow": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "pandas of decimals": FRAME.map(lambda value: Decimal(str(value))),
    "categories": FRAME.astype("category"),
    "pandas of objects": FRAME.astype(object),
    "numbers as names": pd.DataFrame(X),
    "names of both kinds": pd.DataFrame(X, columns=["a", 1, "c", "d"]),
    "names of two levels": pd.DataFrame(
        X, columns=pd.MultiIndex.from_product([["x", "y"], ["p", "q"]])
    ),
    "lists beside ids": pd.DataFrame({"x": X[:, 0], "v": X.tolist()}),
    "dict": dict(zip(NAMES, X.T, strict=True)),
    "dicts": FRAME.to_dict("records"),
    "another index": FRAME.set_index(FRAME.index[::-1]),
    "column of lists": pd.DataFrame({"v": X.tolist()}),
    "Series of lists": pd.Series(X.tolist()),
    "Series of arrays": pd.Series(list(X)),
    "Series with another index": pd.Series(X.tolist(), index=range(7, 37)),
    "polars": POLARS,
    "lazy": POLARS.lazy(),
    "polars of decimals": POLARS.cast(pl.Decimal(10, 2)),
    "polars of two types": POLARS.cast({"a": pl.Float32}),
    "polars lists": pl.Series(X.tolist()),
    "polars arrays": pl.DataFrame(
        {"v": pl.Series(X.tolist(), dtype=pl.Array(pl.Float32, 4))}
    ),
    "Arrow": ARROW,
    "batch": ARROW.to_batches()[0],
    "Arrow dictionary": pa.table(
        {name: ARROW[name].dictionary_encode() for name in NAMES}
    ),
    "Arrow lists": LISTS,
    "chunks": pa.chunked_array([X[:10].tolist(), X[10:].tolist()]),
    "list views": pa.array(X.tolist(), pa.list_view(pa.float32())),
    "tensors": pa.FixedShapeTensorArray.from_numpy_ndarray(X),
    "half floats": pa.FixedSizeListArray.from_arrays(
        pa.array(X.astype("f2").ravel()), 4
    ),
    "lists of decimals": pa.array(DECIMALS),
    "DuckDB": duckdb.from_arrow(ARROW),
    "DuckDB lists": duckdb.from_arrow(ARROW).select("[a, b, c, d] as v"),
    "torch": torch.tensor(X),
    "torch with gradient": torch.tensor(X, requires_grad=True),
    "torch bfloat16": torch.tensor(X).bfloat16(),
    "bfloat16": X.astype(ml_dtypes.bfloat16),
}
WHOLE = {
    "int8": OTHER.astype("i1"),
    "int64": OTHER.astype("i8"),
    "list of ints": OTHER.astype("i8").tolist(),
    "integers of pandas": pd.DataFrame(OTHER.astype("i4")).convert_dtypes(),
    "large integers": pd.DataFrame(OTHER).astype(object).map(int),
}
TRUTH = {
    "bool": X > 0,
    "list of bools": (X > 0).tolist(),
    "pandas of bools": FRAME > 0,
    "pandas of bools and numbers": (FRAME > 0).astype({"a": float, "c": "i4"}),
    "polars of bools": pl.DataFrame(X > 0, schema=NAMES),
    "torch of bools": torch.tensor(X > 0),
}
REFUSED = {
    "gaps": gaps((3, 1)),
    "objects with a gap": changed(None, object),
    "NA": FRAME.convert_dtypes().mask(FRAME > 2),
    "nan": changed(np.nan),
    "infinity": changed(np.inf),
    "too large": changed(1e39),
    "nan in pandas": FRAME.mask(FRAME > 2),
    "null": POLARS.with_columns(pl.when(pl.col.a < 1).then(pl.col.a)),
    "null in Arrow": pa.table({"a": [1.0, None], "b": [1.0, 2.0]}),
    "complex": X * 1j,
    "complex pandas": FRAME * 1j,
    "strings": X.astype(str),
    "objects that are strings": X.astype(str).astype(object),
    "list of strings": X.astype(str).tolist(),
    "pandas of strings": FRAME.astype(str),
    "polars of strings": pl.DataFrame(X.astype(str), schema=NAMES),
    "bytes in an array": X.astype("S"),
    "dates": np.zeros((30, 4), "M8[s]"),
    "pandas of dates": FRAME.assign(d=pd.Timestamp("2020-01-01")),
    "records": np.zeros(30, [("a", "f4"), ("b", "f4")]),
    "one row": X[0],
    "three axes": X[None],
    "no columns": X[:, :0],
    "no rows in a list": [[]],
    "ragged": [[1.0, 2.0], [3.0]],
    "None inside": [[1.0, 2.0, 3.0, None]] * 3,
    "beyond float64": [[10**400, 1, 2, 3]] * 3,
    "one name twice": pd.DataFrame(X, columns=list("aabb")),
    "one name twice in Arrow": pa.table(list(X.T), names=list("aabb")),
    "one column": FRAME["a"],
    "ragged Series": pd.Series([[1.0, 2.0], [3.0]]),
    "missing list": pd.Series([[1.0, 2.0, 3.0, 4.0], None]),
    "missing in a list": pl.Series([[1.0, 2.0, 3.0, None]] * 3),
    "lists of lists": pa.array([[[1.0, 2.0], [3.0, 4.0]]] * 3),
    "lists of strings": pa.array([["a"]] * 3),
    "structs": pa.array(FRAME.to_dict("records")),
    "sparse tensor": torch.tensor(X).to_sparse(),
    "set": {1, 2},
    "range": range(4),
    "buffer of one axis": array("d", [1, 2, 3, 4]),
    "None": None,
    "a number": 3,
    "bytes": b"abc",
    "a date": pd.Timestamp("2020-01-01"),
    "something else": np,
}


SPARSE = {
    "sparse array": sparse.csr_array(X),
    "sparse matrix": sparse.csr_matrix(X),
}
#: Doors that read sparse rows without making them dense.
TAKE_SPARSE = ["learner", "learner.encode", "encoder.encode", "encoder.project"]
PLAIN = {"vectors": X, "whole": OTHER, "truth": (X > 0).astype(float)}


@cache
def expected(door, plain):
    """Return what a door makes of plain float64, once for all that is compared."""
    return outcome(door, PLAIN[plain])


def outcome(door, items):
    try:
        return DOORS[door](items)
    except FewbitsError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return "refused"


@pytest.mark.parametrize("name", SAME)
def test_the_same_vectors_are_the_same_everywhere(name):
    for door in DOORS:
        assert outcome(door, SAME[name]) == expected(door, "vectors"), door


@pytest.mark.parametrize("name", [*WHOLE, *TRUTH])
def test_whole_numbers_and_truth_values_are_numbers(name):
    given, plain = (WHOLE[name], "whole") if name in WHOLE else (TRUTH[name], "truth")
    for door in DOORS:
        assert outcome(door, given) == expected(door, plain), door


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_matrix_of_numbers_is_refused_everywhere(name):
    doors = set(DOORS)
    doors -= {*MATRICES} if name == "too large" else set()
    accepted = [door for door in doors if outcome(door, REFUSED[name]) != "refused"]
    assert not accepted


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_vectors_are_the_same_or_refused(name):
    for door in DOORS:
        made = outcome(door, SPARSE[name])
        if door in TAKE_SPARSE or made != "refused":
            assert np.array_equal(made, expected(door, "vectors")), door


@pytest.mark.parametrize("make", [lambda: iter(X), lambda: map(list, X)])
def test_what_can_be_read_only_once_is_refused_everywhere(make):
    assert {outcome(door, make()) for door in DOORS} == {"refused"}


@pytest.mark.parametrize(
    "empty", [X[:0], FRAME[:0], POLARS[:0], ARROW[:0]], ids=["numpy", "pd", "pl", "pa"]
)
def test_no_rows_have_no_codes(empty):
    needs_some = {"learner", "create", "good", "fit", "evaluate", *MATRICES} - {"int8"}
    reads = {"create by an encoder", "add"} - (
        {"create by an encoder", "add"} if isinstance(empty, np.ndarray) else set()
    )
    for door in DOORS:
        refuses = door in needs_some | reads
        assert (outcome(door, empty) == "refused") == refuses, door
    assert LEARNER.encode(empty).shape == (0, 2)


@pytest.mark.parametrize(
    "frame",
    [FRAME, POLARS, POLARS.lazy(), ARROW, duckdb.from_arrow(ARROW)],
    ids=["pandas", "polars", "lazy", "arrow", "duckdb"],
)
def test_names_of_columns_are_heeded_in_every_kind_of_frame(frame):
    named = Collection.create(None, FRAME, learner="lsh", bits=16)
    learner = LSH(16, random_state=0).fit(frame)
    assert learner.feature_names_in_.tolist() == NAMES
    expected = named.encode(X)
    for encode in (named.encode, learner.encode):
        np.testing.assert_array_equal(encode(frame), expected)
    order = list("badc")
    select = getattr(frame, "select", frame.__getitem__)
    other = (
        select(*order) if isinstance(frame, duckdb.DuckDBPyRelation) else select(order)
    )
    np.testing.assert_array_equal(named.encode(other), expected)
    distances = named.search(X, rerank=False).distances
    np.testing.assert_array_equal(
        named.search(other, rerank=False).distances, distances
    )
    with pytest.raises(FewbitsError, match="order"):
        learner.encode(other)
    if not isinstance(other, duckdb.DuckDBPyRelation):
        named.add(other)  # a table gives what is asked for by name
        np.testing.assert_array_equal(named.codes[30:], expected)


TEXTS = ["a red shoe", "the blue hat", "green tea", "black coffee", "white wine"]
STRINGS = pa.array(TEXTS)

SAME_TEXTS = {
    "tuple": tuple(TEXTS),
    "strings of NumPy": np.array(TEXTS),
    "objects": np.array(TEXTS, object),
    "StringDType": np.array(TEXTS, np.dtypes.StringDType()),
    "deque": deque(TEXTS),
    "Series": pd.Series(TEXTS),
    "objects of pandas": pd.Series(TEXTS, dtype=object),
    "categories": pd.Series(TEXTS, dtype="category"),
    "index": pd.Index(TEXTS),
    "frame of one column": pd.DataFrame({"text": TEXTS}),
    "polars": pl.Series(TEXTS),
    "categories of polars": pl.Series(TEXTS, dtype=pl.Categorical),
    "Enum": pl.Series(TEXTS, dtype=pl.Enum(TEXTS)),
    "lazy": pl.DataFrame({"text": TEXTS}).lazy(),
    "Arrow": STRINGS,
    "chunks": pa.chunked_array([STRINGS[:2], STRINGS[2:]]),
    "views": STRINGS.cast(pa.string_view()),
    "dictionary": STRINGS.dictionary_encode(),
    "run-ends": pa.RunEndEncodedArray.from_arrays(pa.array(range(1, 6)), STRINGS),
    "table": pa.table({"text": STRINGS}),
}
REFUSED_TEXTS = {
    "bytes": b"abc",
    "None": None,
    "a number": 3,
    "None inside": [*TEXTS, None],
    "nan inside": [*TEXTS, float("nan")],
    "NA inside": [*TEXTS, pd.NA],
    "null": pa.array([*TEXTS, None]),
    "None in pandas": pd.Series([*TEXTS, None]),
    "null in polars": pl.Series([*TEXTS, None]),
    "masked": np.ma.masked_array(np.array(TEXTS), [True, *[False] * 4]),
    "blank": [*TEXTS, " "],
    "half a character": ["\ud800"],
    "numbers": [1, 2],
    "numbers of pandas": pd.Series([1, 2]),
    "a number inside": ["a", 1],
    "bytes inside": [b"a", b"b"],
    "array of bytes": np.array([b"a", b"b"]),
    "binary": STRINGS.cast(pa.binary()),
    "two axes": np.array([TEXTS]),
    "two columns": pd.DataFrame({"t": TEXTS, "u": TEXTS}),
    "lists": [["a"], ["b"]],
    "dict": dict.fromkeys(TEXTS, 1),
    "set": set(TEXTS),
    "values": dict.fromkeys(TEXTS, "a").values(),
    "vectors written as text": ["[1, 2]", "[3, 4]"],
    "vectors without brackets": ["1 2", "3 4"],
    "shares": pd.Series(["5%", "7%"]),
}


@pytest.fixture(scope="module")
def text_doors():
    pytest.importorskip("wordllama")
    col = Collection.create(None, TEXTS, learner="lsh", bits=16)
    others = ["something else"]

    def more(items):
        grown = Collection.create(None, others, encoder=col)
        grown.add(items)
        return grown.codes[1:].tolist()

    return {
        "encode": lambda items: col.encode(items).tolist(),
        "create": lambda items: Collection.create(
            None, items, encoder=col
        ).codes.tolist(),
        "add": more,
        "search": lambda items: col.search(items).ids.tolist(),
        "search again": lambda items: col.search(items, rerank=True).ids.tolist(),
        "good": lambda items: col.like(items, others).distances.tolist(),
        "bad": lambda items: col.like(others, items).distances.tolist(),
        "fit": lambda items: (
            fewbits.fit(items, learner="lsh", bits=16).encoder.fingerprint
        ),
        "read": lambda items: (read(items).kind, list(read(items).values)),
    }


@pytest.fixture(scope="module")
def expected_texts(text_doors):
    return {place: door(TEXTS) for place, door in text_doors.items()}


@pytest.mark.parametrize("name", SAME_TEXTS)
def test_the_same_texts_are_the_same_everywhere(text_doors, expected_texts, name):
    for place, door in text_doors.items():
        assert door(SAME_TEXTS[name]) == expected_texts[place], place


@pytest.mark.parametrize("name", REFUSED_TEXTS)
def test_what_is_no_list_of_texts_is_refused_everywhere(text_doors, name):
    for place, door in text_doors.items():
        with pytest.raises(FewbitsError) as caught:
            pytest.fail(f"{place} gave {door(REFUSED_TEXTS[name])}")
        assert "\n" not in str(caught.value)


def test_texts_that_can_be_read_only_once_are_refused(text_doors):
    for door in text_doors.values():
        with pytest.raises(FewbitsError):
            door(iter(TEXTS))


def test_one_image_is_no_list(tmp_path):
    image = Image.fromarray(np.zeros((4, 4), np.uint8))
    for door in (read, lambda items: as_items(items, "images"), COL.encode):
        with pytest.raises(FewbitsError, match="not one image"):
            door(image)
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    shelves = (paths, tuple(paths), np.array(paths, object), [image, image])
    for several in (*shelves, pd.Series(paths), pd.Series(paths, index=[7, 3])):
        assert (read(several).kind, len(read(several))) == ("images", 2)
        assert list(as_items(several, "images")) == list(several)


def test_the_column_called_id_gives_ids_where_the_collection_has_none_so(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(30, 4))
    col = Collection.create(None, vectors, ids=range(100, 130), bits=4)
    path = tmp_path / "more.jsonl"
    path.write_text('{"id": 501, "v": [1, 2, 3, 4]}\n')
    rows = [{"id": 500, "v": [1.0, 2, 3, 4]}]
    col.add(rows, column="v")
    col.add(path, column="v", columns=())
    col.add(vectors[:1], columns={"id": [502]})
    col.add(read([{**rows[0], "id": 503}], column="v"))
    col.upsert(rows, column="v")
    assert col.ids[-4:].tolist() == [501, 502, 503, 500]
    texts = Collection.create(None, vectors, ids=[f"{i:03}" for i in range(30)], bits=4)
    path = tmp_path / "more.csv"
    path.write_text("id,a,b,c,d\n0500,1,2,3,4\n")
    texts.add(path)
    assert texts.ids[-1] == "0500"
    beside = Collection.create(None, vectors, columns={"id": range(30)}, bits=4)
    beside.add(rows, column="v")
    assert (beside.ids[-1], beside[30]) == (30, {"id": 500})
