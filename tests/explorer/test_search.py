"""What is near, and why."""

import re

import numpy as np
import pandas as pd
import pytest

from fewbits import Collection
from fewbits.codes import hamming_distances
from tests.explorer._reading import address_of, quiet
from tests.explorer._served import diagnoses, of_signs, serving

HITS = ".hits > li:not(.asked)"
PRICES = {
    "price": [*range(9)],
    "kind": ["red", "blue", "red"] * 3,
    "size": [*"456"] * 3,
}


def shown_ids(page):
    return [
        int(re.search(r"id (\d+)", text)[1])
        for text in page.locator(f"{HITS} .more").all_inner_texts()
    ]


def test_finds_what_the_collection_finds(texts, new_page):
    page = new_page(texts.url)
    page.get_by_label("Text to search for").fill("broken wrist")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator(HITS).first.wait_for()
    truth = Collection.open(texts.folder).search(["broken wrist"], 10)
    assert shown_ids(page) == truth.ids[0].tolist()
    shown = page.locator(f"{HITS} .distance b").all_inner_texts()
    assert [int(each) for each in shown] == truth.distances[0].tolist()


def test_a_late_answer_is_not_shown_over_a_newer_one(texts, new_page):
    page = new_page(texts.url, "#health")
    held = []
    page.route("**/v1/items", lambda route: held.append(route))
    with page.expect_request("**/v1/items"):
        page.goto(f"{texts.url}#search")  # asks for suggestions
    page.get_by_label("Text to search for").fill("broken wrist")
    page.keyboard.press("Enter")
    page.locator(HITS).first.wait_for()
    for route in held:
        route.continue_()
    quiet(page)
    assert page.locator(HITS).count() == 10


def test_the_address_is_the_question(texts, new_page):
    page = new_page(texts.url)
    page.get_by_label("Text to search for").fill("shark & wrist")
    page.get_by_label("Filter").fill("bit(3) = 1")
    page.get_by_role("combobox", name="Hits").select_option("5")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator(HITS).first.wait_for()
    other = new_page(texts.url, address_of(page).removeprefix(texts.url))
    other.locator(HITS).first.wait_for()
    assert shown_ids(other) == shown_ids(page)
    assert len(shown_ids(other)) == 5
    found = Collection.open(texts.folder).search(
        ["shark & wrist"], 5, filter="bit(3) = 1"
    )
    assert shown_ids(other) == found.ids[0].tolist()


def test_back_returns_to_the_question_before(texts, new_page):
    page = new_page(texts.url, "#search?text=wrist")
    page.locator(HITS).first.wait_for()
    before = shown_ids(page)
    page.get_by_label("Text to search for").fill("shark")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('shark')")
    page.go_back()
    page.wait_for_function("() => location.hash.includes('wrist')")
    page.wait_for_function(
        "() => document.querySelector('input[type=search]')?.value === 'wrist'"
    )
    page.locator(HITS).first.wait_for()
    assert shown_ids(page) == before


def test_the_strip_tells_which_bits_differ(texts, new_page):
    page = new_page(texts.url, "#search?id=0")
    second = page.locator(f"{HITS} .strip").nth(5)
    second.wait_for()
    codes = diagnoses().codes
    other = shown_ids(page)[5]
    bits = np.unpackbits(codes[0] ^ codes[other])
    told = second.get_attribute("aria-label")
    numbers = ", ".join(map(str, np.flatnonzero(bits)))
    assert told == f"{bits.sum()} of 64 bits differ: {numbers}"


def test_all_other_items_are_in_the_histogram(texts, new_page):
    page = new_page(texts.url, "#search?id=0")
    codes = diagnoses().codes
    drawn = page.locator("figure svg")
    drawn.wait_for()
    counts = np.bincount(hamming_distances(codes[:1], codes[1:])[0])
    titles = page.locator("figure svg title").all_text_contents()
    there = np.flatnonzero(counts)
    kinds = ["item" if counts[x] == 1 else "items" for x in there]
    bits = ["bit" if x == 1 else "bits" for x in there]
    told = zip(there, kinds, bits, strict=True)
    assert titles == [f"{counts[x]:,} {kind} at {x} {bit}" for x, kind, bit in told]


def test_says_what_is_unlike_everything(texts, new_page):
    page = new_page(texts.url, "#search?code=" + "f0" * 8)
    page.locator(HITS).first.wait_for()
    nearest = int(page.locator(f"{HITS} .distance b").first.inner_text())
    far = nearest > diagnoses().facts.novelty_radius
    assert page.get_by_text("Nothing here is like this.").count() == far


def test_copies_the_question_as_a_program(texts, new_page):
    page = new_page(texts.url, '#search?text=it\'s "here"&k=5')
    page.get_by_text("Copy as code").click()
    python, curl = page.locator(".snippets pre").all_inner_texts()
    origin = texts.url.rstrip("/")
    assert f'fewbits.open("{origin}")' in python
    assert 'search(texts=["it\'s \\"here\\""], k=5)' in python
    compile(python, "snippet", "exec")
    assert "it'\\''s" in curl


def test_a_wrong_filter_is_told_in_one_line(texts, new_page):
    page = new_page(texts.url, "#search?text=wrist&filter=nothing = 1")
    page.expected.append("422")  # the browser itself reports the status
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "nothing" in alert.inner_text()


@pytest.mark.parametrize(
    ("wrong", "hint", "right"),
    [
        ("price > '3'", "write a number, without quotes", "price > 3"),
        ("kind = red", "a string stands in single quotes: 'red'", "kind = 'red'"),
        ("size = 5", "write text in single quotes", "size = '5'"),
    ],
)
def test_a_filter_with_wrong_quotes_is_explained(
    filtered, new_page, wrong, hint, right
):
    page = new_page(filtered, "#search?code=f0")
    page.expected.append("422")
    hits = page.locator(f"{HITS} .more")
    hits.nth(8).wait_for()
    for typed, place in [(wrong, page.get_by_role("alert")), (right, hits.first)]:
        page.get_by_label("Filter").fill(typed)
        page.keyboard.press("Enter")
        place.wait_for()
        if typed == wrong:
            assert hint in place.inner_text()
    assert page.get_by_role("alert").count() == 0
    truth = pd.DataFrame(PRICES).query(right.replace(" = ", " == ")).index
    assert sorted(shown_ids(page)) == truth.tolist()


@pytest.fixture(scope="module")
def filtered():
    X = np.random.default_rng(0).normal(size=(9, 8))
    with serving(of_signs(X, columns=PRICES)) as url:
        yield url


def test_an_image_is_a_question(images, new_page):
    page = new_page(images.url)
    page.set_input_files("input[type=file]", images.folder / "0003.png")
    page.locator(HITS).first.wait_for()
    assert page.locator(f"{HITS} .distance b").first.inner_text() == "0"
    # An address cannot hold a picture, but its code.
    assert re.search(r"#search\?code=[0-9a-f]{8}", address_of(page))
    thumbnail = page.locator(f"{HITS} img").first
    thumbnail.wait_for()
    page.wait_for_function("() => document.querySelector('.hits img').naturalWidth > 0")


def test_a_thousand_classes_have_few_colours(vectors, new_page):
    k = 100
    page = new_page(vectors.url, f"#search?id=item 00000&k={k}")
    page.locator(HITS).first.wait_for()
    kinds = page.locator(f"{HITS} .lead .dot").evaluate_all(
        "dots => dots.map(dot => [dot.className, dot.parentElement.textContent])"
    )
    assert len(kinds) == k
    hue_of = {name: hue for hue, name in kinds}
    assert len(set(hue_of.values())) <= 11  # ten hues, and grey for the rest
    counts = {name: sum(each == name for _, each in kinds) for name in hue_of}
    most = max(counts, key=lambda name: (counts[name], name))
    assert hue_of[most] == "dot class-0"
    hues = [hue for hue in hue_of.values() if hue != "dot class-rest"]
    assert len(hues) == len(set(hues))  # a hue is one class


def test_the_page_never_makes_markup_of_what_it_shows(texts, new_page):
    page = new_page(texts.url, "#search?text=<img src=x onerror=alert(1)>")
    page.locator(HITS).first.wait_for()
    assert page.locator("main img").count() == 0
