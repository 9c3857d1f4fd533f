"""Files of items and of duplicates: complete, exact, and no formulas."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from fewbits.server._csv import csv_of

from fewbits.bundle import Bundle
from fewbits.server import create_app
from tests.server._running import ENCODER, N_BITS, small_bundle

CSV = {"Accept": "text/csv"}
LARGE = 2**53 + 1


def client_of(bundle):
    return TestClient(create_app(bundle), base_url="http://localhost")


def read(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/csv")
    return [*csv.DictReader(io.StringIO(answer.text, newline=""))]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@A1", "\tx", "\rx", "\nx", "＝1", "-", '=a,"b"\n']
)
def test_texts_that_are_formulas_begin_with_an_apostrophe(text):
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        column = pa.array([text, None, "1", f" {text}", f"x{text}"], kind)
        (first, *others) = csv.reader(
            io.StringIO(csv_of(pa.table({text: column})).decode(), newline="")
        )
        assert first == [f"'{text}"]
        assert [row[0] if row else "" for row in others] == [
            f"'{text}", "", "1", f" {text}", f"x{text}"
        ]  # fmt: skip


def test_numbers_of_a_file_are_untouched():
    table = pa.table({"a": [-1, LARGE], "b": [-0.5, 1e300], "_code": [b"\xff", b"\0"]})
    assert csv_of(table) == (
        b'"a","b","_code"\n-1,-0.5,"ff"\n9007199254740993,1e+300,"00"\n'
    )


def test_items_as_csv_have_exact_ids_and_no_formulas():
    bundle = Bundle(ENCODER).with_items(
        np.eye(2, N_BITS), ids=[LARGE, 5], columns={"note": ["=HYPERLINK(1)", "fine"]}
    )
    with client_of(bundle) as client:
        asked = {"ids": [LARGE, 5]}
        rows = read(client.post("/v1/items", json=asked, headers=CSV))
        found = client.post("/v1/search", json={"ids": [LARGE], "k": 1})
    assert [row["_id"] for row in rows] == [str(LARGE), "5"]
    assert [row["note"] for row in rows] == ["'=HYPERLINK(1)", "fine"]
    assert f'"id": {LARGE}' in found.text
    assert found.json()["results"][0]["query"] == str(LARGE)


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
    codes = numbers[order].view(np.uint8).reshape(-1, 4)
    bundle = Bundle(ENCODER).with_codes(codes, columns={"at": order.tolist()})
    with client_of(bundle) as client:
        answer = client.post("/v1/duplicate-groups", json={"radius": 0}, headers=CSV)
        rows = read(answer)
    assert answer.text.count("_decision") == 1
    assert sorted(int(row["_id"]) for row in rows) == list(range(len(codes)))
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
    bundle = Bundle(ENCODER).with_codes(codes.view(np.uint8).reshape(-1, 4))
    with client_of(bundle) as client:
        found = client.post("/v1/duplicate-groups", json={"radius": 0}).json()
        rows = read(
            client.post("/v1/duplicate-groups", json={"radius": 0}, headers=CSV)
        )
    assert (found["n_groups"], found["n_pairs"]) == (1, 5000 * 4999 // 2)
    assert [item["id"] for item in found["groups"][0]] == list(range(100))
    assert found["sizes"] == [5000] == [len(rows)]


def test_chosen_items_are_kept():
    bundle = Bundle(ENCODER).with_items(np.repeat(np.eye(3, N_BITS), 3, axis=0))
    asked = {"radius": 0, "keep": [2, 1, 7]}
    with client_of(bundle) as client:
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
    bundle = small_bundle(40)
    near = bundle.collection.codes.copy()
    near[1::2] = near[::2]
    near[1::2, 0] ^= 0b101
    with client_of(Bundle(ENCODER).with_codes(near)) as client:
        asked = {"radius": 2, "keep": [3]}
        rows = read(client.post("/v1/duplicate-groups", json=asked, headers=CSV))
    assert [int(row["_distance"]) for row in rows][:6] == [0, 2, 2, 0, 0, 2]
