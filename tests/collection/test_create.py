"""Collections are made of whatever a user has; what is ambiguous is refused."""

import re
import shutil
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from PIL import Image
from pyarrow import parquet

import fewbits
from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder, PackedEncoder
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.inputs import read
from fewbits.learners import ITQ, LSH
from fewbits.ood import novelty_radius

N, WIDTH = 12, 4
X = np.round(np.random.default_rng(0).normal(size=(N, WIDTH)) * 8) / 4
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))
CODES = ENCODER.encode(X)
KEYS = [f"k{row}" for row in range(N)]
TABLE = pa.table({"v": X.tolist(), "sku": KEYS, "year": range(2000, 2000 + N)})
TEXTS = ["a red shoe", "the blue hat", "green tea", "black coffee"]
HASHES = [bytes(code).hex() for code in CODES]


def made(data=None, **options):
    return Collection.create(None, data, **{"encoder": ENCODER, **options})


# Every kind of data.


def written(folder, kind):
    """Return the path of a file, or the pattern of several, that holds the table."""
    path = folder / f"t.{kind}"
    if kind == "parquet":
        parquet.write_table(TABLE, path)
    elif kind == "arrow":
        with pa.ipc.new_file(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif kind == "jsonl":
        lines = pd.DataFrame(
            {name: TABLE[name].to_pylist() for name in TABLE.schema.names}
        )
        lines.to_json(path, orient="records", lines=True)
    elif kind == "csv":
        rows = TABLE.to_pylist()
        plain = {"v": [str(row["v"]) for row in rows], "sku": KEYS}
        pd.DataFrame({**plain, "year": TABLE["year"]}).to_csv(path, index=False)
    else:
        for i in range(3):
            parquet.write_table(TABLE.slice(4 * i, 4), folder / f"part-{i}.parquet")
        path = folder / "part-*.parquet"
    return path


OBJECTS = {
    "table": lambda: TABLE,
    "reader": TABLE.to_reader,
    "dataset": lambda: ds.dataset(TABLE),
    "pandas": lambda: pd.DataFrame(
        {"v": list(X), "sku": KEYS, "year": TABLE["year"].to_numpy()}
    ),
    "polars": lambda: pl.DataFrame(
        {"v": X.tolist(), "sku": KEYS, "year": range(2000, 2000 + N)}
    ),
    "dict of columns": lambda: {"v": X, "sku": KEYS, "year": range(2000, 2000 + N)},
    "list of dicts": TABLE.to_pylist,
    "input": lambda: read(TABLE, column="v", id="sku"),
}
FILES = ["parquet", "arrow", "csv", "jsonl", "pattern"]


@pytest.mark.parametrize("form", [*OBJECTS, *FILES])
def test_tables_of_every_kind(tmp_path, form):
    data = OBJECTS[form]() if form in OBJECTS else written(tmp_path, form)
    names = {} if form == "input" else {"column": "v", "id": "sku"}
    col = Collection.create(tmp_path / "c", data, encoder=ENCODER, **names)
    assert col.ids.tolist() == KEYS
    assert col.columns == ["year"]
    assert col.to_arrow().to_pylist() == TABLE.select(["sku", "year"]).to_pylist()
    np.testing.assert_array_equal(col.codes, CODES)
    assert col.search(X, k=1).distances.ravel().tolist() == [0] * N
    assert Collection.open(tmp_path / "c").to_arrow().equals(col.to_arrow())


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.npz"])
def test_files_of_vectors_alone(tmp_path, name):
    path = tmp_path / name
    if name == "x.csv":
        pd.DataFrame(X, columns=list("abcd")).to_csv(path, index=False)
    elif name == "x.npz":
        np.savez(path, X=X)
    else:
        np.save(path, X)
    col = made(path, keep_vectors="float32")
    assert col.ids.tolist() == [*range(N)]
    assert col.columns == []
    np.testing.assert_array_equal(col.vectors, X)


def test_a_batch_of_texts_keeps_the_texts(tmp_path):
    pytest.importorskip("wordllama")
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    for data in (TEXTS, tmp_path / "t.txt", pd.Series(TEXTS), {"text": TEXTS}):
        col = Collection.create(None, data, bits=32)
        assert (col.kind, col.item_column, col.columns) == ("texts", "text", ["text"])
        assert col.column("text").tolist() == TEXTS
        assert col.search(TEXTS, k=1).ids.ravel().tolist() == [0, 1, 2, 3]
    table = pa.table({"title": TEXTS, "sku": list("abcd")})
    col = Collection.create(None, table, id="sku", bits=32)
    assert col.item_column == "title"
    assert col["b"] == {"title": TEXTS[1]}


def test_a_folder_of_images_has_paths_and_labels(tmp_path, colours):
    rng = np.random.default_rng(0)
    for i in range(6):
        path = tmp_path / "photos" / "ab"[i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (16, 16, 3), np.uint8)).save(path)
    col = Collection.create(
        tmp_path / "c", tmp_path / "photos", bits=8, backbone=colours, learner="lsh"
    )
    assert (col.kind, col.columns) == ("images", ["path", "label"])
    assert set(col.column("label")) == {"a", "b"}
    assert all(path.startswith(str(tmp_path)) for path in col.column("path"))
    path = col.column("path")[3]
    assert col.search([path], k=1)[0][0]["path"] == path
    assert col.ids.tolist() == col.column("path").tolist()
    others = [str(tmp_path / name) for name in ("c.png", "d.png")]
    for other in others:
        shutil.copy(path, other)
    row = pa.table({"path": others[1:], "label": ["b"]})
    assert (col.add(others[:1], columns={"label": ["c"]}), col.add(row)) == (1, 1)
    assert col.column("label").tolist()[-2:] == ["c", "b"]
    assert col.search(images=[path], k=3).ids.tolist() == [[path, *others]]
    with pytest.raises(ArgumentError, match="already"):
        col.add(tmp_path / "photos")


def test_pictures_that_have_moved(tmp_path, colours, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old = Path("my_photos")
    for i in range(4):
        (old / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (60 * i, 0, 0)).save(old / "ab"[i % 2] / f"{i}.png")
    col = Collection.create("c", old, bits=8, backbone=colours, learner="lsh")
    for path in ("my_photos/a/2.png", old / "a/2.png", str(tmp_path / old / "a/2.png")):
        assert col.get([path])[0]["label"] == "a"
        assert col.search(ids=[path], k=3).ids.shape == (1, 3)
        assert len(col.like(good_ids=[path], k=1)) == 1
    with pytest.raises(ArgumentError, match="'my_photos"):
        col.get(["my_photos/a/9.png"])
    assert col.delete([old / "a/2.png", "b"], missing_ok=True) == 1
    old.rename("new")
    with pytest.warns(UserWarning, match="3 of the pictures") as warnings:
        col.add("new")
    condition = re.search('filter="(.*)"', str(warnings[0].message))[1]
    assert (len(col), col.delete(filter=condition)) == (7, 3)
    assert col.upsert("new") == 4
    assert {*col.ids} == {str(x.absolute()) for x in Path("new").rglob("*.png")}


def test_images_of_a_table_in_memory_or_with_ids_have_no_paths_as_ids(
    tmp_path, colours
):
    pixels = np.zeros((5, 16, 16, 3), np.uint8)
    pixels[range(5), range(5)] = 255
    images = [Image.fromarray(image) for image in pixels]
    paths = [tmp_path / f"{i}.png" for i in range(5)]
    for image, path in zip(images, paths, strict=True):
        image.save(path)

    def collection(data, **options):
        options |= {"bits": 8, "backbone": colours, "learner": "lsh"}
        return Collection.create(None, data, **options)

    names = [*"vwxyz"]
    of_table = collection(pa.table({"path": [*map(str, paths)]}), images="path")
    of_names = collection(paths, ids=names)
    assert of_table.ids.tolist() == collection(images).ids.tolist() == [*range(5)]
    assert of_names.ids.tolist() == names
    assert (of_table.add(paths[:1]), of_table.ids[-1]) == (1, 5)
    with pytest.raises(ArgumentError, match="give the ids"):
        of_names.add(paths[:1])
    of_paths = collection(paths)
    assert of_paths.delete(of_paths.ids) == 5
    assert (of_paths.add(paths[2:]), of_paths.ids[0]) == (3, str(paths[2]))
    with pytest.raises(ArgumentError, match=r"in 2 rows.* ids of images are their pa"):
        collection([*paths, paths[0]])


@pytest.mark.parametrize(
    "codes",
    [
        CODES,
        np.asfortranarray(CODES),
        CODES.tolist,
        lambda: pa.array(CODES.tolist(), pa.list_(pa.uint8())),
    ],
    ids=["array", "Fortran", "list", "arrow"],
)
def test_codes_that_exist_already(codes):
    codes = codes() if callable(codes) else codes
    if isinstance(codes, list):
        with pytest.raises(FewbitsError, match="uint8"):
            Collection.create(None, codes=codes, bits=4)
        return
    col = Collection.create(None, codes=codes, bits=4, ids=KEYS)
    assert (col.kind, col.encoder.n_bits) == ("codes", 4)
    assert col.ids.tolist() == KEYS
    np.testing.assert_array_equal(col.codes, CODES)
    assert col.search(CODES, k=1).distances.ravel().tolist() == [0] * N
    assert Collection.create(None, codes=codes).encoder.n_bits == 8


@pytest.mark.parametrize("form", ["hex", "bytes", "lists"])
def test_a_column_of_codes(form, tmp_path):
    column = {
        "hex": pa.array(HASHES),
        "bytes": pa.array([bytes(code) for code in CODES], pa.binary(1)),
        "lists": pa.array(CODES.tolist(), pa.list_(pa.uint8())),
    }[form]
    table = pa.table({"phash": column, "path": KEYS, "n": range(N)})
    parquet.write_table(table, tmp_path / "h.parquet")
    for data in (table, tmp_path / "h.parquet"):
        col = Collection.create(None, data, codes="phash", id="path")
        assert (col.kind, col.columns) == ("codes", ["n"])
        np.testing.assert_array_equal(col.codes, CODES)
        assert col.add(
            table.slice(0, 1).set_column(1, "path", [["new"]]), codes="phash"
        )
        assert col.search(ids=["new"], k=1).ids.tolist() == [["k0"]]


def test_codes_take_nothing_that_learns():
    with pytest.raises(ArgumentError, match="leave out learner"):
        Collection.create(None, codes=CODES, learner="itq")
    with pytest.raises(ArgumentError, match="leave out backbone"):
        Collection.create(None, codes=CODES, backbone="wordllama-256")
    with pytest.raises(ArgumentError, match="no vectors to keep"):
        Collection.create(None, codes=CODES, keep_vectors="float32")
    with pytest.raises(ArgumentError, match="not both"):
        Collection.create(None, X, codes=CODES)


@pytest.mark.parametrize(
    ("codes", "bits", "message"),
    [
        (CODES.view(np.int8), None, "uint8"),
        (CODES.astype("f4"), None, "uint8"),
        (CODES[0], None, "2 dimensions"),
        (CODES | 1, 4, "zero beyond their 4 bits"),
        (CODES, 9, "9 bits need 2 bytes"),
    ],
)
def test_codes_that_are_none(codes, bits, message):
    with pytest.raises(FewbitsError, match=message) as caught:
        Collection.create(None, codes=codes, bits=bits)
    assert "\n" not in str(caught.value)


# A schema in place of data.


@pytest.mark.parametrize("id_type", [pa.int64(), pa.string(), None])
@pytest.mark.parametrize("form", [None, "float32", "int8"])
def test_a_schema_is_filled_later(home, id_type, form):
    fields = [("year", pa.int16()), ("tags", pa.list_(pa.string()))]
    schema = pa.schema(fields if id_type is None else [("sku", id_type), *fields])
    name = None if id_type is None else "sku"
    col = home(made(schema=schema, id=name, keep_vectors=form))
    assert (len(col), col.columns, col.vector_dtype) == (0, ["year", "tags"], form)
    assert col.search(X[:2], k=3).ids.shape == (2, 1)
    assert col.search(X[:2], k=3).to_list() == [[], []]
    assert col.to_arrow().num_rows == 0
    assert col.ids.tolist() == []
    ids = {"sku": pa.array(["a", "b"] if id_type == pa.string() else [7, 8])}
    rows = pa.table({"v": X[:2].tolist(), "year": [1, None], "tags": [["x"], None]})
    if name is not None:
        rows = rows.append_column("sku", ids["sku"])
    assert col.add(rows) == 2
    assert col.schema.field("year").type == pa.int16()
    assert col.column("tags").tolist() == [["x"], None]
    assert col.search(X[1:2], k=1)[0][0]["year"] is None
    col.delete(filter="year = 1")
    assert len(col) == 1


def test_a_schema_names_items_and_labels():
    pytest.importorskip("wordllama")
    learnt = fewbits.fit(TEXTS, bits=16)
    schema = pa.schema([("title", pa.string()), ("kind", pa.string())])
    col = Collection.create(
        None, schema=schema, encoder=learnt, column="title", label="kind"
    )
    assert (col.item_column, col.label_column) == ("title", "kind")
    assert col.add({"title": TEXTS, "kind": list("aabb")}) == 4
    assert col.search(TEXTS[:1], k=1)[0][0]["title"] == TEXTS[0]


def test_what_a_schema_needs():
    schema = pa.schema([("year", pa.int16())])
    with pytest.raises(ArgumentError, match="give encoder="):
        Collection.create(None, schema=schema)
    with pytest.raises(ArgumentError, match=r"pyarrow\.Schema, got dict"):
        made(schema={"year": "int16"})
    with pytest.raises(ArgumentError, match="no column 'sku'"):
        made(schema=schema, id="sku")
    with pytest.raises(ArgumentError, match="schema"):
        made(X, schema=schema)


# Learning, or an encoder in its place.


@pytest.mark.parametrize("bits", ["64", 8.0, None])
def test_bits_are_a_whole_number_by_this_name(bits):
    for call in (
        lambda: Collection.create(None, X, bits=bits or "8"),
        lambda: Collection.create(None, X, bits=bits or True, encoder=made(X)),
        lambda: made(X).prefix(bits),
    ):
        with pytest.raises(ArgumentError, match=r"^bits must be a whole number"):
            call()


@pytest.mark.parametrize("values", [5, "abc", np.array(5)])
def test_one_value_is_no_column(values):
    with pytest.raises(ArgumentError, match=r"'year' must be a list|entries in 'year'"):
        Collection.create(None, X, columns={"year": values}, bits=8)


def test_what_learns_is_chosen():
    assert made(X, encoder=None).facts.method == "itq"
    assert made(X, encoder=None, bits=3).encoder.n_bits == 3
    by_name = made(X, encoder=None, learner="lsh", bits=16)
    assert (by_name.facts.method, by_name.encoder.n_bits) == ("lsh", 16)
    by_object = made(X, encoder=None, learner=LSH(16, random_state=0))
    assert by_object.encoder.fingerprint == by_name.encoder.fingerprint
    other = made(X, encoder=None, learner="lsh", bits=16, random_state=1)
    assert other.encoder.fingerprint != by_name.encoder.fingerprint
    with pytest.raises(ArgumentError, match="leave out learner"):
        made(X, learner="itq")
    with pytest.raises(ArgumentError, match="encoder must be"):
        made(X, encoder=3)


def test_an_encoder_alone_or_of_a_collection(tmp_path):
    learnt = fewbits.fit(pd.DataFrame(X, columns=list("abcd")), learner="lsh", bits=16)
    assert len(learnt) == 0
    learnt.save(tmp_path / "e")
    for encoder in (learnt, tmp_path / "e", str(tmp_path / "e")):
        col = Collection.create(None, X, encoder=encoder)
        assert col.encoder.fingerprint == learnt.encoder.fingerprint
        assert col.facts.feature_names == tuple("abcd")
    short = Collection.create(None, X, encoder=learnt, bits=5)
    np.testing.assert_array_equal(short.codes, learnt.prefix(5).encode(X))
    assert learnt.add(X) == N  # the first rows of a collection that had none
    assert learnt.columns == []


def test_texts_that_are_their_own_ids(tmp_path):
    table = pa.table({"word": ["red hat", "blue shoe", "green hat"], "n": [1, 2, 3]})
    col = Collection.create(tmp_path / "c", table, column="word", id="word", bits=8)
    assert col.to_arrow().column_names == ["id", "word", "n"]
    assert col.to_pandas(["n"]).columns.tolist() == ["id", "n"]
    assert col.search(ids=["red hat"], k=2, filter="word != 'blue shoe'").ids.tolist()
    assert col.upsert(table.slice(1)) == 2
    assert Collection.open(tmp_path / "c")["green hat"]["n"] == 3


def test_an_encoder_with_a_backbone(tmp_path, colours):
    for i in range(3):
        Image.new("RGB", (8, 8), (99 * i, 0, 0)).save(tmp_path / f"{i}.png")
    encoder = LinearEncoder(np.eye(3), np.full(3, -0.5))
    paths = [tmp_path / f"{i}.png" for i in range(3)]
    col = Collection.create(None, paths, encoder=encoder, backbone=colours)
    assert (col.kind, col.backbone) == ("images", colours)
    assert col.search(paths[:1], k=1).ids.tolist() == [[str(paths[0])]]
    with pytest.raises(ArgumentError, match="takes what the backbone colours makes"):
        Collection.create(None, paths, encoder=col, backbone="wordllama-256")


def test_first_rows_say_what_columns_there_are(home):
    col = home(fewbits.fit(X, learner="lsh", bits=16))
    with pytest.raises(ArgumentError, match="holds no rows yet"):
        col.search(X)
    assert col.add(TABLE, column="v", id="sku") == N
    assert col.columns == ["year"]
    assert col.ids.tolist() == KEYS
    assert col.add(pa.table({"v": X[:1].tolist(), "sku": ["new"], "year": [1]})) == 1


def test_from_a_learner_that_was_fitted():
    col = Collection.from_learner(ITQ(4, random_state=0).fit(X), X)
    assert (len(col), col.kind) == (0, "vectors")
    np.testing.assert_array_equal(
        col.encode(X), ITQ(4, random_state=0).fit(X).encode(X)
    )


def test_progress_is_reported():
    seen = []
    made(X, progress=lambda *done: seen.append(done))
    assert seen == [(N, N)]
    col, counts = made(X), []
    for queries in ({"items": X}, {"vectors": X}):
        col.encode(**queries, progress=lambda *done: counts.append(done))
        assert counts.pop() == (len(X), len(X))


# Ids, columns, labels.


def test_ids_of_every_kind():
    assert made(X).ids.tolist() == [*range(N)]
    given = [9, 2, 7, 4, 0, 1, 3, 5, 6, 8, 2**63 - 1, 10]
    assert made(X, ids=given).ids.tolist() == given
    assert made(X, ids=KEYS).ids.tolist() == KEYS
    uuids = [uuid.UUID(int=i) for i in range(N)]
    assert made(X, ids=uuids).ids.tolist() == [*map(str, uuids)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": [1, 2, 3, 2, *range(10, 18)]}, "holds 2 in 2 rows"),
        ({"ids": [1, 2, 3]}, "12 items, but 3 ids"),
        ({"ids": [0.5] * N}, "whole numbers"),
        ({"ids": [-1, *range(N - 1)]}, "between 0 and"),
        ({"ids": np.array([2**63, *range(N - 1)], np.uint64)}, "between 0 and"),
        ({"ids": [*KEYS[:-1], None]}, "no value in row 11"),
        ({"ids": [*KEYS[:-1], " "]}, "blank id in row 11"),
        ({"ids": [1, *KEYS[1:]]}, "all whole numbers or all texts"),
        ({"ids": [True, *range(2, 13)]}, "truth value"),
        ({"ids": np.ma.masked_array(range(N), [True] + [False] * 11)}, "masked"),
        ({"columns": {"_code": KEYS}}, "cannot be called '_code'"),
        ({"columns": {"name": ["a"]}}, "12 items, but 1 entries in 'name'"),
        ({"columns": {"name": [1, "x"] * 6}}, "column 'name' must be a list"),
        ({"columns": {"name": [2**70] * N}}, "column 'name' must be a list"),
        ({"columns": {"name": [object()] * N}}, "column 'name' must be a list"),
        ({"columns": {"name": 5}}, "column 'name' must be a list"),
        ({"columns": ["year"]}, "mapping of names to values"),
        ({"column": "v"}, "column names a column of a table"),
        ({"id": "sku"}, "id names a column of a table"),
        ({"label": "kind"}, "no column 'kind' beside the items"),
        ({"keep_vectors": "int4"}, "keep_vectors must be one of"),
        ({"index": "hnsw"}, "index must be one of auto, flat, multi-index"),
        ({"skip_blank": True}, "skip_blank"),
    ],
)
def test_mistakes_beside_vectors(options, message):
    with pytest.raises(FewbitsError, match=message) as caught:
        made(X, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": "nope"}, "no column 'nope'"),
        ({"id": "gaps"}, "row 2"),
        ({"id": "half"}, "ids are whole numbers or texts"),
        ({"ids": KEYS}, "brings its own ids"),
        ({"columns": {"n": range(N)}}, "brings its own ids and columns"),
        ({"columns": ["nope"]}, "no column 'nope'"),
        ({"label": "nope"}, "no column 'nope'"),
        ({"column": "sku"}, "holds texts|takes vectors"),
        ({"column": "v", "codes": "sku"}, "column= and codes="),
        ({"id": "twice"}, "holds 'a' in 2 rows"),
    ],
)
def test_mistakes_in_tables(options, message):
    gaps = pa.array([0, 1, None, *range(3, N)])
    table = TABLE.append_column("gaps", gaps)
    table = table.append_column("half", pa.array(np.arange(N) / 2))
    table = table.append_column("twice", pa.array(["a", "a", *KEYS[2:]]))
    with pytest.raises(FewbitsError, match=message) as caught:
        made(table, **{"column": "v", **options})
    assert "\n" not in str(caught.value)


def test_of_texts_and_vectors_an_encoder_takes_its_kind():
    table = TABLE.append_column("text", pa.array(["a b"] * N))
    np.testing.assert_array_equal(made(table, id="sku").codes, CODES)
    with pytest.raises(ArgumentError, match="3 columns of texts or vectors"):
        made(table, encoder=None)


def test_two_columns_that_could_be_it_are_asked_for():
    table = TABLE.append_column("w", TABLE["v"])
    with pytest.raises(ArgumentError, match="2 columns of texts or vectors"):
        made(table)
    assert made(table, column="w", columns=["year"]).columns == ["year"]


@pytest.mark.parametrize("names", [["year"], ["sku", "year"], []])
def test_only_named_columns_stay(names):
    assert made(TABLE, column="v", columns=names).columns == names


@pytest.mark.filterwarnings("error")
def test_a_column_that_is_not_asked_for_does_no_harm():
    months = pd.period_range("2020-01", periods=N, freq="M")
    odd = pd.DataFrame({"v": list(X), "sku": KEYS, "month": months})
    odd["object"] = [object()] * N
    col = made(odd, column="v", id="sku", columns=[])
    np.testing.assert_array_equal(col.codes, CODES)
    for name in ("month", "object"):
        with pytest.raises(ArgumentError, match=f"column '{name}'"):
            made(odd, column="v", columns=[name])


def test_a_table_beside_items_gives_columns():
    frame = pd.DataFrame({"a": range(N), "b": KEYS})
    for columns in (frame, pl.DataFrame(frame), pa.table({"a": range(N), "b": KEYS})):
        col = made(X, columns=columns)
        assert col.to_arrow(["a", "b"]).select(["a", "b"]).to_pydict() == {
            "a": [*range(N)],
            "b": KEYS,
        }


def test_the_index_of_pandas_gives_ids_or_a_column_or_is_told():
    frame = pd.DataFrame({"sku": KEYS, "v": list(X)}).set_index("sku")
    assert made(frame, column="v", id="sku").ids[0] == "k0"
    assert made(frame, column="v").column("sku").tolist() == KEYS
    numbers = pd.DataFrame(X, columns=[*"abcd"])
    named = made(numbers.set_index(pd.Index(KEYS, name="sku")))
    assert named.column("sku").tolist() == KEYS
    with pytest.warns(UserWarning, match="index of the data frame is left out"):
        made(numbers[::-1])


def test_a_label_gives_a_novelty_radius(home):
    rng = np.random.default_rng(1)
    encoder = LSH(64, random_state=0).fit(X).encoder_
    labels = list("aabbccddeeff")
    table = {"v": np.repeat(X[::2], 2, axis=0) + 0.01, "kind": labels}
    col = home(made(table, label="kind", encoder=encoder))
    radius = novelty_radius(col.codes, labels)
    assert (col.label_column, col.facts.novelty_radius) == ("kind", radius)
    queries = np.concatenate([X[::2], rng.normal(size=(40, WIDTH))])
    hits = col.search(queries, k=2)
    far = hits.distances[:, 0] > radius
    assert hits.out_of_distribution.tolist() == far.tolist()
    assert 0 < far.sum() < len(far)
    for some in ({"filter": "kind <> 'a'"}, {"allowed": [0, 1, 5]}, {"rerank": True}):
        assert col.search(queries, **some).out_of_distribution is None
    assert made(table, encoder=encoder).facts.novelty_radius is None
    beside = made(table["v"], columns={"kind": labels}, label="kind", encoder=encoder)
    assert beside.facts == col.facts
    alike = {**table, "kind": ["a"] * N}
    assert made(alike, label="kind").facts.novelty_radius is None


def test_blank_texts_are_left_out_if_so():
    pytest.importorskip("wordllama")
    texts = ["a cat", "", "a dog", None]
    table = pa.table({"text": texts, "sku": list("abcd"), "n": [1, 2, 3, 4]})
    with pytest.raises(ArgumentError, match="blank"):
        Collection.create(None, table, column="text", bits=16)
    with pytest.warns(UserWarning, match="2 of 4 rows left out.*: 1, 3$"):
        col = Collection.create(
            None, table, column="text", id="sku", skip_blank=True, bits=16
        )
    assert col.to_arrow().to_pylist() == [
        {"sku": "a", "text": "a cat", "n": 1},
        {"sku": "c", "text": "a dog", "n": 3},
    ]
    with pytest.warns(UserWarning, match="2 of 3 rows"):
        assert (
            col.add(
                {"text": ["", "more", " "], "sku": list("xyz"), "n": [0, 0, 0]},
                skip_blank=True,
            )
            == 1
        )


# Vectors that are kept.


@pytest.mark.parametrize("form", [None, "float16", "float32", "int8"])
def test_vectors_are_kept_in_a_form(home, form):
    col = home(made(X, keep_vectors=form))
    assert (col.vector_dtype, col.summary()["vectors"]) == (form, form)
    if form is None:
        assert col.vectors is None
        return
    if form == "int8":
        np.testing.assert_allclose(col.vectors, X, atol=0.05)
    else:
        np.testing.assert_array_equal(col.vectors, X)
        assert col.vectors.dtype == form
    np.testing.assert_array_equal(
        tools.vectors_at(col, np.array([3, 1])), col.vectors[[3, 1]]
    )
    bytes_of = {"float16": 2 * WIDTH, "float32": 4 * WIDTH, "int8": WIDTH + 8}
    assert col.summary()["bytes_per_item"] == 1 + bytes_of[form]


def test_vectors_that_do_not_fit():
    with pytest.raises(ArgumentError, match="row 0 are too large for float16"):
        made(X * 1e6, keep_vectors="float16")


# Where it is written.


def test_a_folder_that_is_there(tmp_path):
    made(X).save(tmp_path / "c")
    with pytest.raises(ArtefactError, match="holds a collection already"):
        Collection.create(tmp_path / "c", X, encoder=ENCODER)
    col = Collection.create(tmp_path / "c", X[:3], encoder=ENCODER, overwrite=True)
    assert len(col) == len(Collection.open(tmp_path / "c")) == 3
    (tmp_path / "thesis.tex").write_text("precious")
    for overwrite in (False, True):
        with pytest.raises(ArtefactError, match="holds other files"):
            Collection.create(tmp_path, X, encoder=ENCODER, overwrite=overwrite)
    with pytest.raises(ArtefactError, match="is a file"):
        Collection.create(tmp_path / "thesis.tex", X, encoder=ENCODER)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_mistakes_leave_no_folder(tmp_path):
    for options in ({"ids": [1]}, {"keep_vectors": "int4"}, {"columns": {"a": [1]}}):
        with pytest.raises(ArgumentError):
            Collection.create(tmp_path / "c", X, encoder=ENCODER, **options)
        assert not (tmp_path / "c").exists()


def test_a_collection_of_nothing():
    for data in (None, pa.table({"v": pa.array([], pa.list_(pa.float32()))})):
        with pytest.raises(FewbitsError) as caught:
            made(data)
        assert "\n" not in str(caught.value)
    with pytest.raises(FewbitsError):
        made(X[:0], encoder=None)
    assert len(made(X[:0])) == 0


def test_packed_encoders_take_codes():
    col = made(CODES, encoder=PackedEncoder(4))
    assert col.kind == "codes"
    assert len(made(codes=CODES, encoder=PackedEncoder(4))) == N
