"""The page itself: addresses, a token, changes of the collection, errors."""

import httpx
import numpy as np

from fewbits import Collection
from fewbits.classify import Codebook
from fewbits.encoders import LinearEncoder
from fewbits.ood import learn_rejection
from tests.explorer._reading import address_of
from tests.explorer._served import of_signs, serving
from tests.server._running import learnt

TOKEN = "a-token-of-some-length"


def small(path=None, **options):
    """Return a collection of eight vectors in two classes."""
    X = np.array([[1, 1, 1], [1, 1, -1], [-1, -1, -1], [-1, -1, 1]] * 2, np.float32)
    columns = {"label": ["high", "high", "low", "low"] * 2}
    return of_signs(X, path, columns=columns, **options)


def test_an_address_that_is_no_view_shows_the_search(new_page):
    with serving(small()) as url:
        page = new_page(url, "#nothing?x=1")
        page.get_by_role("heading", name="What is near, and why?").wait_for()


def test_a_token_opens_the_page_once_and_for_all(new_page):
    with serving(small(), token=TOKEN) as url:
        assert httpx.get(f"{url}v1/facts").status_code == 401
        page = new_page(url, f"?token={TOKEN}")
        page.get_by_label("Id to search for").or_(
            page.get_by_label("Vector to search for")
        ).wait_for()
        assert "token" not in address_of(page)
        page.goto(f"{url}#search?id=0")
        page.locator(".hits > li").nth(3).wait_for()


def test_the_page_notices_that_the_collection_changes(tmp_path, new_page):
    small(tmp_path / "collection")
    with serving(tmp_path / "collection", writable=True) as url:
        page = new_page(url, "#search?id=0")
        page.locator(".hits > li").nth(3).wait_for()
        assert page.locator("#facts dd").first.inner_text() == "8"
        answer = httpx.post(f"{url}v1/delete", json={"ids": [7]})
        assert answer.status_code == 200, answer.text
        page.get_by_role("button", name="Search", exact=True).click()
        page.wait_for_function(
            "() => document.querySelector('#facts dd').textContent === '7'"
        )


def test_a_server_that_is_gone_is_told(new_page):
    with serving(small()) as url:
        page = new_page(url, "#search?id=0")
        page.locator(".hits > li").nth(3).wait_for()
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("alert").get_by_text("cannot be reached").wait_for()


def test_an_empty_collection_is_told_in_every_view(new_page):
    empty = small()
    empty.delete(np.arange(8))
    with serving(empty) as url:
        for view in ("search", "bits", "duplicates", "health"):
            page = new_page(url, f"#{view}")
            page.locator("#view .empty").wait_for()


def classifying():
    """Return a collection whose two classes have opposite codes of 16 bits."""
    codes = np.array([[0xFF, 0xFF], [0, 0]], np.uint8)
    book = Codebook(codes, 16, np.array(["high", "low"]))
    names = np.array(["high", "low"] * 30)
    noise = np.random.default_rng(0).normal(size=(60, 16)) / 4
    X = np.where(names == "high", 1, -1)[:, None] + noise
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    model = learnt(encoder, book, learn_rejection(X, names))
    return Collection.create(None, X, encoder=model, columns={"label": names})


def test_class_codes_give_the_class_and_the_reason(new_page):
    query = ",".join(["1"] * 16)
    with serving(classifying()) as url:
        page = new_page(url, f"#teach?part=new&vector={query}&rate=0.1")
        page.get_by_text("0 bits from the code of its class.").wait_for()
        page.get_by_text("of known items are rejected").wait_for()


def test_a_rate_that_codes_cannot_meet_still_gives_the_class(new_page):
    codes = np.array([[0b11100000], [0b00000000]], np.uint8)
    of_three = LinearEncoder(np.eye(3), np.zeros(3))
    book = Codebook(codes, 3, np.array(["high", "low"]))
    with serving(small(encoder=learnt(of_three, book))) as url:
        page = new_page(url, "#teach?part=new&vector=1,1,1&rate=0.05")
        page.expected.append("422")
        page.get_by_text("0 bits from the code of its class.").wait_for()
        assert page.get_by_text("Nothing is rejected:").count() == 1


def test_an_item_is_judged_by_its_code_alone(new_page):
    with serving(classifying()) as url:
        page = new_page(url, "#teach?part=new&id=3&rate=0.1")
        page.get_by_role("heading", name="low", exact=True).wait_for()
        reason = "Nothing is rejected: no vectors are kept."
        assert page.get_by_text(reason).count() == 1
        shown = page.locator(".near .item").all_inner_texts()
        names = [tuple(each.split()) for each in shown]
        assert len(set(names)) == 5  # though all are called by their class
        assert {name[:2] for name in names} == {("low", "id")}
        assert f"low (id {names[0][2]})." in page.locator(".verdict").inner_text()


def test_trust_without_an_interval_is_one_number(new_page):
    with serving(classifying()) as url:
        page = new_page(url, "#map")
        page.get_by_text("among the 10 nearest points (from 60 items;").wait_for()


def test_reranking_by_an_item_needs_its_vector(vectors, new_page):
    page = new_page(vectors.url, "#search?id=item 00000")
    page.locator(".hits > li").nth(3).wait_for()
    page.get_by_text("Euclidean distance of vectors ·").wait_for()
    page.get_by_label("Re-rank").uncheck()
    page.get_by_text("distance in bits ·").wait_for()
    assert "rerank=0" in address_of(page)
    page.get_by_text("Code", exact=True).click()
    assert page.get_by_label("Re-rank").is_disabled()
    with serving(small()) as url:
        page = new_page(url, "#search?id=0&rerank=1")
        page.locator(".hits > li").nth(3).wait_for()
        assert page.get_by_label("Re-rank").is_disabled()
        assert page.get_by_text("no vectors are kept").is_visible()


def test_a_question_by_code_is_copied_as_a_program(new_page):
    with serving(small()) as url:
        page = new_page(url, "#search?code=e0")
        page.get_by_text("Copy as code").click()
        python, _ = page.locator(".snippets pre").all_inner_texts()
        names = {}
        exec(python, names)  # what the page says, against the server that it is of
        names["col"].close()
        assert names["hits"].ids[0, :2].tolist() == [0, 4]
