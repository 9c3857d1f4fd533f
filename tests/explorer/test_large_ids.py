"""Ids beyond 2^53 are the same on the page as in the collection."""

import csv
import re

import numpy as np
import pytest

from tests.explorer._reading import address_of
from tests.explorer._served import of_signs, serving

#: A Number has no place for every second of them.
FIRST, N = 2**53 + 1, 40
IDS = [FIRST + i for i in range(N - 2)] + [7, 2**63 - 1]
HITS, ASKED = ".hits > li:not(.asked)", ".hits > .asked"


def collection():
    X = np.random.default_rng(0).normal(size=(N, 16))
    X[1] = X[0]
    return of_signs(
        X,
        ids=IDS,
        columns={
            "text": ["an item"] * N,
            "twin": [id - 1 for id in IDS[:-1]] + [-(2**63)],
        },
    )


@pytest.fixture(scope="module")
def url():
    with serving(collection()) as url:
        yield url


def shown_ids(page, place=HITS):
    page.locator(place).first.wait_for()
    texts = page.locator(f"{place} .more").all_inner_texts()
    return [int(re.search(r"id (-?\d+)", text)[1]) for text in texts]


@pytest.mark.parametrize("id", [FIRST + 4, 7, 2**63 - 1])
def test_search_and_links(url, new_page, id):
    page = new_page(url, f"#search?id={id}")
    ids = shown_ids(page)
    assert shown_ids(page, ASKED) == [id]
    assert set(ids) <= set(IDS) - {id}
    page.locator(f"{HITS} .lead a").first.click()
    page.wait_for_function("id => location.hash.includes(`id=${id}`)", arg=str(ids[0]))
    page.wait_for_function(
        "id => document.querySelector('.hits > .asked .more')?.innerText.includes(id)",
        arg=str(ids[0]),
    )
    page.get_by_text("Copy as code").click()
    python, curl = page.locator(".snippets pre").all_inner_texts()
    names = {}
    exec(python, names)
    names["col"].close()
    assert names["hits"].ids[0].tolist() == shown_ids(page)
    assert f'"ids":[{ids[0]}]' in curl


def test_a_filter_by_a_large_number(url, new_page):
    page = new_page(url, f"#search?id={FIRST}&filter=twin={FIRST + 7}")
    assert shown_ids(page) == [FIRST + 8]
    assert page.locator(HITS).get_by_title("twin", exact=True).inner_text() == str(
        FIRST + 7
    )


def test_teaching_and_its_file(url, new_page, tmp_path):
    page = new_page(url, f"#teach?good=[{FIRST + 2},{FIRST + 3}]")
    page.get_by_text("Good (2)").wait_for()
    page.locator(".candidates li").first.wait_for()
    assert FIRST + 2 not in shown_ids(page, ".candidates li")
    page.locator(".candidates .bad").first.click()
    page.get_by_text("Bad (1)").wait_for()
    bad = int(re.search(r"bad=%5B(-?\d+)%5D", address_of(page))[1])
    with page.expect_download() as download:
        page.get_by_role("button", name="as CSV").click()
    rows = read(download.value, tmp_path)
    said = {int(row["_id"]): row["_judgement"] for row in rows}
    assert said[FIRST + 2] == said[FIRST + 3] == "good"
    assert said[bad] == "bad"
    assert {int(row["_id"]) for row in rows} == set(IDS)
    assert rows[0]["twin"] == str(FIRST + 1)


def read(download, folder):
    path = folder / "file.csv"
    download.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def test_duplicates_and_their_file(url, new_page, tmp_path):
    page = new_page(url, "#duplicates")
    group = page.locator(".groups > li").first
    group.get_by_label(f"Keep item {FIRST + 1}").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the list").click()
    rows = read(download.value, tmp_path)
    decided = {int(row["_id"]): row["_decision"] for row in rows}
    assert (decided[FIRST], decided[FIRST + 1]) == ("remove", "keep")


def test_bits_and_the_map(url, new_page):
    page = new_page(url, f"#bits?item={FIRST + 5}")
    page.locator(".near li").first.wait_for()
    assert page.get_by_label("Id of an item").input_value() == str(FIRST + 5)
    page = new_page(url, f"#map?item={FIRST + 5}")
    page.locator(".chosen .item").first.wait_for()
    assert f"id {FIRST + 5}" in page.locator(".chosen .item").first.inner_text()
    page.get_by_role("button", name="Colour by distance from it").click()
    page.get_by_role("heading", name="Distance from").wait_for()


def test_json_is_read_and_written_exactly(url, new_page):
    page = new_page(url, f"#search?id={FIRST}")
    text = (
        '{"a": [9007199254740993, -9007199254740993, 9007199254740991, 7],'
        ' "b": 0.12345678901234567, "c": "9007199254740993 \\" [9007199254740993]",'
        ' "d": 12345678901234567890.5, "9007199254740993": 1.2345678901234567e-20}'
    )
    told = page.evaluate(
        """async (text) => {
          const { parse, stringify } = await import("./lib/json.js");
          const found = parse(text);
          return [stringify(found), JSON.stringify(found, (_, x) =>
            typeof x === "bigint" ? `n${x}` : x)];
        }""",
        text,
    )
    assert '"a":[9007199254740993,-9007199254740993,9007199254740991,7]' in told[0]
    assert (
        '"a":["n9007199254740993","n-9007199254740993",9007199254740991,7]' in told[1]
    )
    assert '"b":0.12345678901234566' in told[1]
    assert '"c":"9007199254740993 \\" [9007199254740993]"' in told[1]
