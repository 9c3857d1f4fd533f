"""What does this bit mean."""

import json

import numpy as np

from fewbits import Collection
from fewbits.inputs.by_hand import read_names
from tests.explorer._reading import address_of
from tests.explorer._served import diagnoses


def code_on(page):
    pressed = page.locator(".codegrid .cell").evaluate_all(
        "cells => cells.map(cell => cell.getAttribute('aria-pressed') === 'true')"
    )
    return np.packbits(np.array(pressed, np.uint8))


def test_lists_every_bit_with_its_share(texts, new_page):
    page = new_page(texts.url, "#bits?bit=7")
    cells = page.locator(".bitgrid .cell")
    cells.nth(63).wait_for()
    shares = np.unpackbits(diagnoses().codes, axis=1).mean(axis=0)
    told = cells.evaluate_all("all => all.map(x => x.getAttribute('aria-label'))")
    for bit, text in enumerate(told):
        assert text.startswith(f"bit {bit}: ")
        assert f"{100 * shares[bit]:.0f} % are 1" in text
    assert page.locator('[aria-current="true"].cell').inner_text() == "7"


def test_dead_bits_are_told(vectors, new_page):
    page = new_page(vectors.url, "#bits?bit=0")
    page.get_by_text("is dead: it is 0 in every item").wait_for()
    assert page.locator(".bitgrid .dead").all_inner_texts() == ["0"]


def test_examples_have_the_bit(texts, new_page):
    page = new_page(texts.url, "#bits?bit=5")
    page.locator(".side-1 .examples li").first.wait_for()
    codes = diagnoses().codes
    for value in (0, 1):
        items = page.locator(f".side-{value} .examples .more span:first-child")
        ids = [int(text.removeprefix("id ")) for text in items.all_inner_texts()]
        assert len(ids) == 8
        assert (np.unpackbits(codes[ids], axis=1)[:, 5] == value).all()


def test_flipping_a_bit_moves_the_neighbours(texts, new_page):
    page = new_page(texts.url, "#bits?item=12")
    page.locator(".near li").first.wait_for()
    collection = diagnoses()
    code = collection.codes[12].copy()
    assert (code_on(page) == code).all()
    for bit in (3, 40):
        code[bit // 8] ^= 128 >> bit % 8
        page.locator(".codegrid .cell").nth(bit).click()
        truth = collection.search(codes=code[None], k=8)
        distances = [str(each) for each in truth.distances[0]]
        page.wait_for_function(
            "wanted => [...document.querySelectorAll('.near b')]"
            ".map(each => each.textContent).join() === wanted",
            arg=",".join(distances),
        )
        assert (code_on(page) == code).all()
    assert page.locator(".codegrid .flip").count() == 2
    assert "flips=3.40" in address_of(page)
    page.reload()
    page.locator(".near li").first.wait_for()
    assert (code_on(page) == code).all()


def test_names_are_saved_in_the_folder(texts, new_page):
    page = new_page(texts.url, "#bits?bit=9")
    page.get_by_label("Name of 1").fill("fracture")
    page.get_by_role("button", name="Save names").click()
    page.get_by_text("named by people").first.wait_for()
    (path,) = texts.folder.glob("bit-names-*.json")
    assert json.loads(path.read_text("utf-8"))["9"] == [None, "fracture"]
    assert read_names(path)[9] == (None, "fracture")
    other = new_page(texts.url, "#bits?bit=9")
    other.locator(".bitgrid .named").wait_for()
    assert other.locator(".bitgrid .named").all_inner_texts() == ["9"]
    assert "fracture" in other.locator(".side-1 .sidename").inner_text()
    Collection.open(texts.folder)  # it is as whole as before


def test_a_read_only_service_takes_no_names(vectors, new_page):
    page = new_page(vectors.url, "#bits?bit=1")
    page.get_by_text("--writable").wait_for()
    assert page.get_by_role("button", name="Save names").count() == 0
