"""Files of items and of duplicates: complete, exact, and no formulas."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from fewbits import Collection
from fewbits.server import create_app
from tests.server._running import ENCODER, N_BITS

CSV = {"Accept": "text/csv"}
LARGE = 2**53 + 1


def client_of(collection):
    return TestClient(create_app(collection), base_url="http://localhost")


def of_codes(numbers, **options):
    """Return a collection of codes of 32 bits."""
    codes = np.asarray(numbers, ">u4").view(np.uint8).reshape(-1, 4)
    return Collection.create(None, codes=codes, **options)


def read(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/csv")
    return [*csv.DictReader(io.StringIO(answer.text, newline=""))]


FORMULAS = ["=1+1", "+1", "-1", "@A1", "\tx", "\rx", "\nx", "＝1", "-", '=a,"b"\n']


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_texts_that_are_formulas_begin_with_an_apostrophe(kind):
    texts = [*FORMULAS, None, "1", *(f" {x}" for x in FORMULAS)]
    texts += [f"x{text}" for text in FORMULAS]
    table = pa.table(
        {"v": [[1.0] * N_BITS] * len(texts), "=name": pa.array(texts, kind)}
    )
    collection = Collection.create(None, table, column="v", encoder=ENCODER)
    with client_of(collection) as client:
        ids = collection.ids.tolist()
        rows = read(client.post("/v1/items", json={"ids": ids}, headers=CSV))
    written = [row["'=name"] for row in rows]
    n = len(FORMULAS)
    assert written[:n] == [f"'{text}" for text in FORMULAS]
    assert written[n:] == [text or "" for text in texts[n:]]


def test_numbers_of_a_file_are_untouched():
    columns = {"a": [-1, LARGE], "b": [-0.5, 1e300]}
    collection = of_codes([255, 0], columns=columns, ids=[LARGE, 5])
    with client_of(collection) as client:
        answer = client.post("/v1/items", json={"ids": [LARGE, 5]}, headers=CSV)
    assert answer.text == (
        '"id","_code","a","b"\n9007199254740993,"000000ff",-1,-0.5\n'
        '5,"00000000",9007199254740993,1e+300\n'
    )


def test_items_as_json_have_exact_ids():
    collection = of_codes([3, 0], ids=[LARGE, 5])
    with client_of(collection) as client:
        answer = client.post("/v1/search", json={"codes": ["00000003"], "k": 1})
    assert f'"id": {LARGE}' in answer.text


def groups_of(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["_group"], []).append(row)
    return groups


def test_all_groups_of_duplicates_are_listed():
    # 12,000 pairs and one group of five, in an order that mixes them.
    n_pairs = 12_000
    numbers = np.repeat(np.arange(n_pairs, dtype=">u4"), 2)
    numbers = np.append(numbers, [2**31] * 5).astype(">u4")
    order = np.random.default_rng(0).permutation(len(numbers))
    collection = of_codes(numbers[order], columns={"at": order.tolist()})
    with client_of(collection) as client:
        answer = client.post("/v1/duplicate-groups", json={"radius": 0}, headers=CSV)
        rows = read(answer)
    assert answer.text.count("_decision") == 1
    assert sorted(int(row["_id"]) for row in rows) == list(range(len(order)))
    groups = groups_of(rows)
    assert [*groups] == [str(i + 1) for i in range(n_pairs + 1)]
    assert len(groups["1"]) == 5
    for group in groups.values():
        assert len({numbers[int(row["at"])] for row in group}) == 1
        assert [row["_decision"] for row in group].count("keep") == 1
        assert group[0]["_decision"] == "keep"


def test_more_pairs_than_fit_make_groups():
    codes = np.arange(6000, dtype=">u4")
    codes[:5000] = 2**31  # 12,497,500 pairs
    with client_of(of_codes(codes)) as client:
        answer = client.post("/v1/duplicate-groups", json={"radius": 0}).json()
        rows = read(
            client.post("/v1/duplicate-groups", json={"radius": 0}, headers=CSV)
        )
    assert (answer["n_groups"], answer["n_pairs"]) == (1, 5000 * 4999 // 2)
    assert [item["id"] for item in answer["groups"][0]] == list(range(100))
    assert answer["sizes"] == [5000] == [len(rows)]


def test_chosen_items_are_kept():
    asked = {"radius": 0, "keep": [2, 1, 7]}
    with client_of(of_codes(np.repeat([1, 2, 4], 3))) as client:
        rows = read(client.post("/v1/duplicate-groups", json=asked, headers=CSV))
        unknown = client.post(
            "/v1/duplicate-groups", json={"radius": 0, "keep": [99]}, headers=CSV
        )
        as_json = client.post("/v1/duplicate-groups", json=asked)
        counted = client.post(
            "/v1/duplicate-groups", json={"radius": 0, "max_groups": 5}, headers=CSV
        )
    kept = [int(row["_id"]) for row in rows if row["_decision"] == "keep"]
    assert kept == [1, 3, 7]  # of two that were chosen, the first
    for answer in (unknown, as_json, counted):
        assert answer.status_code == 422, answer.text


def test_distances_are_from_the_item_to_keep():
    near = np.random.default_rng(0).integers(2**32, size=40)
    near[1::2] = near[::2] ^ 0b101
    with client_of(of_codes(near)) as client:
        asked = {"radius": 2, "keep": [3]}
        rows = read(client.post("/v1/duplicate-groups", json=asked, headers=CSV))
    assert [int(row["_distance"]) for row in rows][:6] == [0, 2, 2, 0, 0, 2]
