"""Addresses and ids as people write them, and which duplicates to keep."""

import json
from urllib.parse import urlencode

import numpy as np
import pytest

from fewbits import Collection
from tests.explorer._reading import address_of, quiet
from tests.explorer._served import of_signs, serving

HITS = ".hits > li:not(.asked)"
IDS = [" spaces ", "two\nlines", *map(str, range(10))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Vectors of 16 bits; codes of the last three are 0, 1 and 3 bits apart."""
    X = np.random.default_rng(0).normal(size=(12, 16))
    X[-2:] = X[-3]
    X[-2, 0] *= -1
    X[-1, :3] *= -1
    folder = tmp_path_factory.mktemp("addresses") / "collection"
    columns = {"colour": ["red", "blue"] * 6, "name": IDS}
    of_signs(X, folder, ids=IDS, columns=columns)
    return folder


@pytest.fixture(scope="module")
def url(folder):
    with serving(folder, writable=True) as url:
        yield url


def test_what_an_address_cannot_have_is_told(url, new_page):
    page = new_page(url)
    quiet(page)
    for address, told in (
        ("search?id=1&k=abc", "k=abc, but k is a whole number from 1 to 10,000"),
        ("search?id=1&group=nope", "group=nope, but group is one of colour, name"),
        ("search?text=shark", "text=shark, but this collection is searched by vector"),
        ("bits?bit=abc", "bit=abc, but bit is a whole number from 0 to 15"),
        ("bits?flips=3.99", "flips=3.99, but flips are bits from 0 to 15"),
        ("duplicates?radius=99", "radius=99, but radius is a whole number"),
        ("teach?good=[1", "good=[1, but good is a list of ids"),
        ("map?by=class:nope", "by=class:nope, but by is one of"),
    ):
        page.goto(f"{url}#{address}")
        page.locator("#view > .note.warn").get_by_text(f"has {told}").wait_for()


def test_a_late_answer_leaves_the_address_that_was_opened_since(url, new_page):
    page = new_page(url, "#search?id=1")
    page.locator(HITS).first.wait_for()
    late = page.evaluate(
        """async () => {
            const { Address } = await import("./lib/address.js");
            const address = new Address("search");
            location.hash = "#search?id=2&k=5";
            address.set({ id: "1", k: null });
            return location.hash;
        }"""
    )
    assert late == "#search?id=2&k=5"
    page.locator(HITS).nth(4).wait_for()
    assert page.locator(HITS).count() == 5


def test_the_skip_link_keeps_the_address(url, new_page):
    page = new_page(url, "#search?id=1&k=5")
    page.locator(HITS).first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'main'")
    page.wait_for_function("location.hash === '#search?id=1&k=5'")


def test_a_value_that_is_no_option_is_taken(url, new_page):
    page = new_page(url, "#search?id=1&k=7&group=name")
    page.locator(HITS).nth(6).wait_for()
    assert page.locator(HITS).count() == 7
    assert page.get_by_role("combobox", name="Hits").input_value() == "7"
    group = page.get_by_role("combobox", name="At most one hit per")
    assert group.input_value() == "name"  # no option of its own: names are unique
    assert "k=7" in address_of(page)
    page.goto(f"{url}#duplicates?radius=9")
    page.get_by_text("Radius: up to 9 bits differ").wait_for()
    assert page.locator("#view > .note").count() == 0


def test_spaces_and_line_breaks_are_of_the_id(url, new_page):
    page = new_page(url, "#search?id=0&k=20")
    page.locator(HITS).first.wait_for()
    titles = page.locator(f"{HITS} .lead a").all()
    hrefs = [each.get_attribute("href") for each in titles]
    for own in (urlencode({"id": id}) for id in IDS[:2]):
        (link,) = [each for each in hrefs if each.endswith(own)]
        for address in (link, f"#bits?{own.replace('id=', 'item=')}"):
            page.goto(f"{url}{address}")
            quiet(page)
            page.locator("main button[type=submit]").last.click()
            quiet(page)
            assert page.get_by_role("alert").count() == 0
            assert address_of(page).endswith(own.removeprefix("id="))
            assert page.locator(f"{HITS}, .near > li").count() > 0


def test_what_to_keep_is_in_the_address_and_the_rest_is_deleted(url, folder, new_page):
    page = new_page(url, "#duplicates?radius=2")
    middle = page.get_by_label("Keep item 8")
    middle.check()
    shown = page.locator(".groups .number")
    quiet(page)
    assert shown.all_inner_texts() == ["1", "0", "2"]  # bits from the item to keep
    assert json.loads(
        page.evaluate("() => new URLSearchParams(location.hash).get('keep')")
    ) == ["8"]
    page.reload()
    middle.wait_for()
    quiet(page)
    assert middle.is_checked()
    assert shown.all_inner_texts() == ["1", "0", "2"]
    page.get_by_role("button", name="Delete the 2 marked items").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete the 2 marked items").click()
    page.get_by_role("button", name="Delete 2 items").click()
    page.get_by_text("No two items have codes within 2 bits.").wait_for()
    left = Collection.open(folder)
    assert left.ids.tolist() == [id for id in IDS if id not in ("7", "9")]
    assert "keep" not in address_of(page)
