"""Every view of a collection of images, Fashion-MNIST, by ``make nightly``.

`new_page` watches that no request leaves the origin and nothing is logged as an error.
"""

import re

import pytest

from fewbits.errors import FewbitsError
from tests.explorer._reading import quiet
from tests.explorer._served import clothes, serving
from tests.explorer.test_accessibility import VIEWS, axe_faults
from tests.server._sizes import NIGHTLY

N = 1000
pytestmark = pytest.mark.skipif(not NIGHTLY, reason="runs by make nightly")
ADDRESSES = {
    "search": "?id=12",
    "bits": "?bit=3&item=12&flips=20.41",
    "map": "?item=12",
    "teach": "?good=[3]&bad=[5]",
    "duplicates": "?radius=4",
    "health": "",
}
READY = {name: ready for name, (_, ready, _) in VIEWS.items()}
#: A map is loaded, and recall cannot be told without vectors.
READY |= {"map": ".plane[data-loaded=true]", "health": ".figures, .card"}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    try:
        return clothes(tmp_path_factory.mktemp("clothes"), N)
    except FewbitsError as error:  # neither the data nor what reads them
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def url(collection):
    with serving(collection) as url:
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_clean_and_accessible(url, new_page, view, scheme):
    address = f"#{view}{ADDRESSES[view]}"
    page = new_page(url, address, color_scheme=scheme, bypass_csp=True)
    page.locator(READY[view]).first.wait_for()
    quiet(page)
    assert page.get_by_role("alert").count() == 0
    assert axe_faults(page) == []
    page.wait_for_function(
        "() => [...document.images].every((x) => x.loading === 'lazy' || x.complete)"
    )
    assert page.locator(".thumb.lacking").count() == 0


def test_a_file_finds_itself(collection, url, new_page):
    path = collection[12]["path"]
    page = new_page(url)
    page.set_input_files("input[type=file]", path)
    first = page.locator(".hits > li:not(.asked)").first
    first.wait_for()
    assert re.search(r"id (\d+)", first.inner_text())[1] == "12"
    page.get_by_text("Copy as code").click()
    assert "--data-binary" in page.locator(".snippets pre").last.inner_text()


def test_a_new_image_is_judged(collection, url, new_page):
    path = collection[7]["path"]
    page = new_page(url, "#teach?part=new")
    page.set_input_files("input[type=file]", path)
    page.get_by_role("button", name="Judge", exact=True).click()
    page.get_by_text("This is known.").wait_for()
    page.get_by_text("of the votes of the 10 nearest items").wait_for()
