"""Teach, Duplicates and Health."""

import csv
import json
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np

from fewbits import Collection
from tests.explorer._reading import address_of
from tests.explorer._served import diagnoses, many_classes, of_signs, serving


def test_good_and_bad_items_teach(texts, new_page):
    page = new_page(texts.url, "#teach?seed=fracture of wrist")
    first = page.locator(".candidates li").first
    first.wait_for()
    page.locator(".candidates .good").nth(1).click()
    page.get_by_text("scores above 0 are members").wait_for()
    page.locator(".candidates .bad").nth(4).click()
    page.get_by_text("Bad (1)").wait_for()
    given = parse_qs(urlsplit(address_of(page)).fragment.partition("?")[2])
    good, bad = (json.loads(given[side][0])[0] for side in ("good", "bad"))
    truth = Collection.open(texts.folder).like(
        ["fracture of wrist"], good_ids=[good], bad_ids=[bad], k=12
    )
    wanted = ",".join(map(str, truth.ids[0]))
    page.wait_for_function(
        "wanted => [...document.querySelectorAll('.candidates .good')]"
        ".map(each => each.dataset.id).join() === wanted",
        arg=wanted,
    )


def test_the_threshold_decides_what_is_new(texts, new_page):
    page = new_page(texts.url, "#teach?part=new&text=quarterly earnings&threshold=2")
    page.get_by_text("This is new.").wait_for()
    slider = page.get_by_role("slider")
    slider.wait_for()
    slider.focus()
    page.keyboard.press("End")
    page.get_by_text("This is known.").wait_for()
    assert page.locator(".rates dd").count() == 2  # known, and false-accept rate


def test_the_proposed_threshold_tells_its_false_accept_rate(texts, new_page):
    page = new_page(texts.url, "#teach?part=new&text=broken wrist")
    page.locator(".verdict").wait_for()
    result = httpx.get(f"{texts.url}v1/novelty?label=chapter").json()
    shown = page.locator(".rates > div").nth(1).inner_text()
    low, high = result["unknown_interval"][result["threshold"]]
    share = result["unknown"][result["threshold"]]
    assert shown.split("\n") == [
        f"{share:.1%}".replace("%", " %"),
        f"false-accept rate, 95 % interval {100 * low:.0f} % to {100 * high:.0f} %",
    ]


def test_without_classes_there_is_no_false_accept_rate(new_page):
    X = np.random.default_rng(0).normal(size=(9, 8))
    with serving(of_signs(X)) as url:
        page = new_page(url, "#teach?part=new")
        page.get_by_text(
            "The false-accept rate cannot be estimated: no column"
        ).wait_for()


def test_duplicates_are_those_of_the_collection(texts, new_page):
    page = new_page(texts.url, "#duplicates")
    page.locator(".groups > li").first.wait_for()
    groups = Collection.open(texts.folder).duplicates(0).groups()
    shown = page.locator(".figures dd").all_inner_texts()
    assert shown[0] == f"{len(groups):,}"
    assert shown[1] == f"{sum(map(len, groups)):,}"
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    wider = Collection.open(texts.folder).duplicates(1).groups()
    page.wait_for_function(
        "wanted => document.querySelector('.figures dd').textContent === wanted",
        arg=f"{len(wider):,}",
    )
    assert "radius=1" in address_of(page)


def test_the_list_of_what_to_keep_is_exported(texts, new_page, tmp_path):
    page = new_page(texts.url, "#duplicates")
    group = page.locator(".groups > li").first
    group.locator("input").nth(1).check()
    kept = int(group.locator("input").nth(1).get_attribute("aria-label").split()[-1])
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the list").click()
    path = tmp_path / "list.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    groups = Collection.open(texts.folder).duplicates(0).groups()
    assert sorted(int(row["_id"]) for row in rows) == sorted(np.concatenate(groups))
    decided = {int(row["_id"]): row["_decision"] for row in rows}
    assert decided[kept] == "keep"
    kept_of = {}
    for row in rows:
        kept_of[row["_group"]] = kept_of.get(row["_group"], 0) + (
            row["_decision"] == "keep"
        )
    assert set(kept_of.values()) == {1}
    texts_of = {int(row["_id"]): row["text"] for row in rows}
    assert texts_of[kept] == diagnoses()[kept]["text"]


def test_health_tells_recall_and_bytes(texts, new_page):
    page = new_page(texts.url, "#health")
    page.locator(".recall tbody tr").first.wait_for()
    assert page.locator(".recall tbody tr").count() == 2
    assert page.get_by_text("embedded again").count() == 1
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("Every byte matches its checksum").wait_for()


def test_health_names_what_is_damaged(tmp_path, new_page):
    folder = tmp_path / "collection"
    many_classes(folder)
    (segment,) = folder.glob("*/seg-*.arrow")
    with serving(folder) as url:
        page = new_page(url, "#health")
        page.locator(".recall tbody tr").nth(2).wait_for()
        content = bytearray(segment.read_bytes())
        content[len(content) // 2] ^= 1
        with segment.open("r+b") as file:  # in place: the server has it mapped
            file.write(content)
        page.get_by_role("button", name="Verify now").click()
        page.get_by_text("1 part is damaged").wait_for()
        assert segment.name in page.locator(".concerns").last.inner_text()
