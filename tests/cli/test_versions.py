"""Many changes as one commit, versions that stay, and columns that go."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from tests.cli._calling import fail, invoke, run

pytestmark = pytest.mark.filterwarnings("ignore:the collection has no column")

X = np.random.default_rng(0).normal(size=(6, 2)).round(3)


@pytest.fixture
def built(tmp_path):
    table = pa.table({"sku": [*"abcdef"], "v": X.tolist(), "year": [*range(6)]})
    encoder = LinearEncoder(np.eye(2), np.zeros(2))
    Collection.create(tmp_path / "b", table, id="sku", column="v", encoder=encoder)
    return tmp_path / "b"


CHANGES = [
    {"add": {"sku": "x", "v": [1.0, 2.0], "year": 10}},
    {"add": {"sku": "7", "v": [1.5, 2.0], "year": 11}},
    {"delete": "a"},
    {"add": {"sku": "a", "v": [-1.0, 2.0], "year": 12}},
    {"update": {"sku": "a", "year": 13}},
    {"update": {"sku": "a", "year": 14, "kind": "new"}},
    {"upsert": {"sku": "b", "v": [1.0, -2.0], "year": 15, "kind": None}},
    {"upsert": {"sku": "b", "v": [1.0, 2.0], "year": 16, "kind": None}},
    {"delete": {"filter": "year = 4"}},
    {"update": {"sku": "d", "once": 1}},
    {"update": {"filter": "year >= 10", "row": {"kind": "late"}}},
    {"update": {"filter": "year = 5", "row": {"year": 6}}},
    {"drop_columns": {"columns": ["once"]}},
    {"delete": "c"},
    {"delete": "7"},
]


def lines(changes):
    return "".join(json.dumps(change) + "\n" for change in changes)


def test_a_file_of_changes_is_one_commit(built, tmp_path):
    (tmp_path / "c.jsonl").write_text(lines(CHANGES))
    told = json.loads(run("apply", built, tmp_path / "c.jsonl", "--json"))
    assert told["added"] == told["deleted"] - 1 == 3
    assert (told["updated"], told["upserted"], told["version"]) == (8, 2, 2)
    assert told["columns_dropped"] == 1
    col = Collection.open(built)
    assert [*col] == ["d", "f", "x", "a", "b"]
    assert [row["year"] for row in col.get([*col])] == [3, 6, 10, 14, 16]
    assert col.column("kind").tolist() == [None, None, "late", "late", "late"]
    assert col["a"] == {"year": 14, "kind": "late"}
    assert "1 deleted; 4 items" in run("apply", built, "-", input='{"delete": "x"}')
    assert "0 changed; 4 items" in run("apply", built, "-", input="")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"delete": "zzz"}, "lines 14 to 16: there is no item with id 'zzz'"),
        ({"add": {"sku": "d", "v": [1, 1], "year": 0, "kind": "x"}}, "'d' already"),
        ({"add": {"sku": "q", "v": [1, 1, 1], "year": 0, "kind": "x"}}, "line 16"),
        ({"update": {"year": 3}}, "line 16: .*no column 'sku'"),
        ({"put": {"sku": "d"}}, "line 16 is no change"),
        ({"update": {"filter": "yaer = 1", "row": {"year": 3}}}, "mean 'year'"),
        ({"update": {"filter": "year = 1", "row": {"sku": "q"}}}, "line 16: .*an id"),
        ({"update": {"filter": "year = 1", "row": 3}}, "line 16: "),
        ({"update": {"filter": 7, "row": {"year": 3}}}, "line 16: "),
        ({"delete": {"ids": ["d"]}}, "line 16: delete takes an id"),
        ({"drop_columns": {"columns": ["yaer"]}}, "line 16: .*did you mean 'year'"),
        ({"drop_columns": {"columns": "year"}}, "line 16: .*a list of names"),
        ({"drop_columns": {"columns": 3}}, "line 16: .*a list of names"),
        ({"drop_columns": {"names": ["year"]}}, "line 16: drop_columns takes"),
        ({"drop_columns": ["year"]}, "line 16 is no change"),
        ({"delete": True}, "line 16 is no change"),
        ({"add": {}, "delete": "d"}, "line 16 is no change"),
        ([], "line 16 is no change"),
    ],
)
def test_one_wrong_line_changes_nothing(built, change, reason):
    before = Collection.open(built).to_arrow()
    told = fail("apply", built, "-", input=lines([*CHANGES, change]))
    assert re.search(reason, told), told
    after = Collection.open(built)
    assert (after.to_arrow(), after.version) == (before, 1)


def test_versions_have_names(built):
    line = run("tag", built, "spring").splitlines()[-1]
    assert re.fullmatch(r"2\tspring\t20\d\d-.*", line), line
    run("delete", built, "--ids", "a")
    run("compact", built)
    told = json.loads(run("tag", built, "--json"))
    assert told["versions"][0] == {"version": 2, "names": ["spring"]}
    assert line.endswith(told["since"]["spring"])
    for at in ("spring", 2):
        found = json.loads(run("search", built, "--ids", "b", "--at", at, "--json"))
        assert found["version"] == 2
        assert json.loads(run("get", built, "a", "--at", at, "--json"))["id"] == "a"
    assert "no item" in fail("get", built, "a")
    assert "no version is named 'x'" in fail("get", built, "a", "--at", "x")
    assert "gone" in fail("get", built, "a", "--at", 77)
    assert "untag" in fail("tag", built, "spring")
    assert "spring" not in run("tag", built, "spring", "--remove")
    assert "--version needs NAME" in fail("tag", built, "--version", 2)
    assert "no version is named" in fail("tag", built, "spring", "--remove")


def test_a_backup_is_a_folder_of_a_version(built, tmp_path):
    run("tag", built, "spring")
    run("delete", built, "--ids", "a")
    assert "5 items of version 3" in run("backup", built, tmp_path / "new")
    told = run("backup", built, tmp_path / "old", "--at", "spring", "--json")
    assert (json.loads(told)["version"], json.loads(told)["n_items"]) == (2, 6)
    run("delete", built, "--ids", "b")
    run("compact", built)
    assert [*Collection.open(tmp_path / "new")] == [*"bcdef"]
    assert [*Collection.open(tmp_path / "old")] == [*"abcdef"]
    assert run("verify", tmp_path / "old").startswith("6 rows")
    assert "holds a collection already" in fail("backup", built, tmp_path / "new")


def test_columns_are_dropped(built):
    assert run("drop-columns", built, "year").endswith("it has no other columns\n")
    assert run("update", built, "-", input="sku,year\na,1\n").startswith(f"{built}: 1")
    rows = Collection.open(built).to_arrow()["year"].to_pylist()
    assert rows == [1, *[None] * 5]
    for name, reason in (("yaer", "did you mean 'year'"), ("sku", "of the ids")):
        assert reason in fail("drop-columns", built, "year", name)
    answer = json.loads(run("drop-columns", built, "year", "--json"))
    assert (answer["columns_dropped"], answer["n_items"]) == (1, 6)
    assert run("compact", built)
    assert run("verify", built).startswith("6 rows")


def test_a_collection_goes_back(built):
    run("tag", built, "spring")
    run("delete", built, "--filter", "year > 2")
    run("drop-columns", built, "year")
    answer = json.loads(run("restore", built, "spring", "--json"))
    assert (answer["version"], answer["n_items"], answer["at"]) == (5, 6, "spring")
    assert "6 items as at 2, now version 5" in run("restore", built, 2)
    assert json.loads(run("get", built, "f", "--json"))["columns"] == {"year": 5}
    assert "gone" in fail("restore", built, 99)
    assert "no version is named 'autumn'" in fail("restore", built, "autumn")
    assert run("verify", built).startswith("6 rows")


def test_rows_without_their_manifest_are_named(built, tmp_path):
    (rows,) = built.glob("rows-*")
    (built / "collection.json").rename(tmp_path / "away")
    for words in (["inspect"], ["compact"], ["delete", "--ids", "a"]):
        line = fail(words[0], built, *words[1:])
        assert re.search(f"{rows.name}, but no collection.json: .*backup.*verify", line)
    answer = invoke("verify", built)
    assert (answer.exit_code, "collection.json: it is missing" in answer.stdout) == (
        1,
        True,
    )
    assert "compact" not in answer.stdout  # which would lose them
    answer = invoke("verify", built, "--repair")
    assert (answer.exit_code, "6 rows are there" in answer.stdout) == (1, True)
    (tmp_path / "away").rename(built / "collection.json")
    assert run("verify", built).startswith("6 rows")
