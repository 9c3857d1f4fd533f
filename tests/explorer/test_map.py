"""Where are groups, outliers and confusions."""

import io
import re

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from fewbits.codes import hamming_distances
from tests.explorer._reading import address_of
from tests.explorer._served import diagnoses, of_signs, serving

LOADED = ".plane[data-loaded=true]"
NEAR = ".near > li"
ON_MAP = 1500
WITHOUT_WEBGL = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind === 'webgl2' ? null : get.call(this, kind, ...more);
};
"""
TOLD = "() => document.getElementById('announcer').textContent"


@pytest.fixture(scope="module")
def sampled():
    """Serve diagnoses of which not all are on the map."""
    with serving(diagnoses(), max_points=ON_MAP) as url:
        yield url


@pytest.fixture
def map_page(new_page):
    """Return a function that opens a page and waits for its map."""

    def open_map(url, address="#map", **options):
        page = new_page(url, address, **options)
        page.locator(LOADED).wait_for()
        page.locator(".legend, .ramp").first.wait_for()
        return page

    return open_map


def seen(page):
    """Return the pixels of the map, (height, width, 3)."""
    image = pytest.importorskip("PIL.Image", reason="needs the extra vision")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    picture = page.locator(".plane").screenshot(animations="disabled")
    return np.asarray(image.open(io.BytesIO(picture)).convert("RGB")).astype(int)


def coloured(page):
    """Return how many pixels are of a colour, not grey."""
    pixels = seen(page)
    return int((pixels.max(axis=2) - pixels.min(axis=2) > 40).sum())


def pick(page):
    """Pick the point in the middle by keyboard."""
    page.locator("canvas.points").focus()
    page.keyboard.press("Enter")
    page.locator(NEAR).first.wait_for()


def lasso(page, half=0.25):
    box = page.locator("canvas.points").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    far = half * box["height"]
    page.mouse.move(x - far, y - far)
    page.mouse.down()
    for across, down in [(far, -far), (far, far), (-far, far), (-far, 9 - far)]:
        page.mouse.move(x + across, y + down, steps=4)
    page.mouse.up()
    page.locator(".mapped tbody tr").first.wait_for()


def n_selected(page):
    heading = page.locator(".mapped h2").inner_text()
    return int(re.match(r"([\d,]+) selected", heading)[1].replace(",", ""))


def ids_in(texts):
    return [int(re.search(r"id (\d+)", text)[1]) for text in texts]


@pytest.mark.parametrize("renderer", ["webgl2", "canvas"])
def test_draws_with_a_legend(texts, map_page, renderer):
    # Software rendering is slower than pixels: WebGL2 is chosen where it is fast.
    page = map_page(texts.url, f"#map?renderer={renderer}")
    assert page.locator("canvas.points").get_attribute("data-renderer") == renderer
    assert page.locator(".plane .status").inner_text() == "2,500 points"
    assert coloured(page) > 2000
    chapters = diagnoses().column("chapter").astype(str)
    names, counts = np.unique(chapters, return_counts=True)
    order = sorted(zip(-counts, names, strict=True))
    shown = page.locator(".legend .entry").all_inner_texts()
    for text, (count, name) in zip(shown[:10], order[:10], strict=True):
        assert text.split("\n") == [name, f"{-count:,}"]
    rest = -sum(count for count, _ in order[10:])
    assert shown[10].split("\n") == [f"{len(order) - 10} other classes", f"{rest:,}"]
    assert "of the 10 nearest are kept" in page.locator("aside").inner_text()


def test_without_webgl_a_canvas_is_drawn(texts, browser, new_page):
    page = new_page(texts.url, "#health")
    page.add_init_script(WITHOUT_WEBGL)
    page.goto(f"{texts.url}#map?renderer=webgl2")
    page.reload()
    page.locator(LOADED).wait_for()
    page.locator(".legend").wait_for()
    assert page.locator("canvas.points").get_attribute("data-renderer") == "canvas"
    assert coloured(page) > 2000


def test_neighbours_that_are_not_on_the_map_are_listed(sampled, map_page):
    page = map_page(sampled, "#map?item=7")
    page.locator(NEAR).nth(9).wait_for()
    codes = diagnoses().codes
    far = hamming_distances(codes[7:8], codes)[0]
    truth = sorted((far[i], i) for i in range(len(far)) if i != 7)[:10]
    ids = ids_in(page.locator(f"{NEAR} .more").all_inner_texts())
    assert ids == [i for _, i in truth]
    points = httpx.get(f"{sampled}v1/map/points").content
    on_map = np.frombuffer(points, "<u4", ON_MAP, 4 * ON_MAP).tolist()
    hidden = [i for i in ids if i not in on_map]
    assert page.locator(NEAR).get_by_text("not on the map").count() == len(hidden)
    assert 0 < len(hidden) < 10
    assert "1,500 of 2,500 items are on the map" in page.locator("aside").inner_text()


def test_a_click_lists_true_neighbours_and_the_address_keeps_it(texts, map_page):
    page = map_page(texts.url)
    pick(page)
    found = page.locator(".chosen .item .more").first.inner_text()
    (id,) = ids_in([found])
    codes = diagnoses().codes
    far = hamming_distances(codes[id : id + 1], codes)[0]
    shown = page.locator(f"{NEAR} > .number").all_inner_texts()
    assert [int(each) for each in shown] == np.sort(far)[1:11].tolist()
    other = map_page(texts.url, address_of(page).removeprefix(texts.url))
    other.locator(NEAR).first.wait_for()
    assert ids_in([other.locator(".chosen .item .more").first.inner_text()]) == [id]
    page.get_by_role("button", name="Close").click()
    assert "item=" not in address_of(page)


def test_hovering_shows_a_card_that_people_can_read(texts, map_page):
    page = map_page(texts.url)
    pick(page)  # centres nothing, but tells where a point is
    place = page.evaluate(
        """async () => {
          const id = new URLSearchParams(location.hash.split('?')[1]).get('item');
          const found = await (await fetch(`v1/map/neighbours?id=${id}`)).json();
          return found.item.place;
        }"""
    )
    box = page.locator("canvas.points").bounding_box()
    side = min(box["width"], box["height"])
    x, y = ((each + 0.5) / 65536 - 0.5 for each in place)
    page.mouse.move(
        box["x"] + box["width"] / 2 + x * side, box["y"] + box["height"] / 2 - y * side
    )
    card = page.locator(".hover")
    card.wait_for(state="visible")
    lead = page.locator(".chosen .item .lead").first.inner_text()
    assert lead in card.inner_text()
    assert "{" not in card.inner_text()


def test_a_lasso_becomes_a_table_and_a_file(texts, map_page):
    page = map_page(texts.url)
    page.get_by_role("button", name="Draw around points").click()
    before = coloured(page)
    lasso(page)
    n = n_selected(page)
    assert 0 < n < 2500
    assert coloured(page) < before  # the others are faint
    assert page.locator(".mapped tbody tr").count() == min(n, 50)
    rows = {}
    for kind, read in {
        "CSV": pa.csv.read_csv,
        "Parquet": pa.parquet.read_table,
    }.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {kind}").click()
        table = read(download.value.path())
        assert table.num_rows == n
        assert {"_x", "_y", "_neighbours", "chapter"} <= set(table.column_names)
        rows[kind] = table["_id"].to_pylist()
    assert rows["CSV"] == rows["Parquet"]
    table = pa.parquet.read_table(download.value.path())
    # The box that was drawn around them, from its middle.
    for name in ("_x", "_y"):
        off = np.abs(table[name].to_numpy().astype(float) / 65536 - 0.5)
        assert off.max() < 0.27
    first = page.locator(".mapped tbody th").first.inner_text()
    assert int(first) == rows["CSV"][0]
    page.get_by_role("button", name="Clear").click()
    assert page.locator(".mapped").count() == 0


def test_all_of_it_by_keyboard(texts, map_page):
    page = map_page(texts.url)
    page.locator("canvas.points").focus()
    page.keyboard.press("s")
    page.locator(".mapped tbody tr").first.wait_for()
    assert n_selected(page) == 2500
    page.wait_for_function(f"() => ({TOLD})().startsWith('2,500 items are selected')")
    for _ in range(4):
        page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("s")
    page.wait_for_function(
        "() => !/^2,500 /.test(document.querySelector('.mapped h2')?.textContent)"
    )
    assert 0 < n_selected(page) < 1500
    page.locator(".mapped tbody tr").first.wait_for()  # comes after its heading
    # The table is reached from the map, and scrolls.
    names = []
    for _ in range(4):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? "
                "document.activeElement.textContent"
            )
        )
    assert names == ["Save as CSV", "Save as Parquet", "Clear", "Selected items"]
    page.locator("canvas.points").focus()
    page.keyboard.press("Escape")
    assert page.locator(".mapped").count() == 0
    page.keyboard.press("0")
    page.keyboard.press("s")
    page.locator(".mapped tbody tr").first.wait_for()
    assert n_selected(page) == 2500


def test_colours_by_bit_distance_and_trust(texts, map_page):
    page = map_page(texts.url, "#map?by=bit:3")
    counts = page.locator(".legend .number").all_inner_texts()
    ones = int(np.unpackbits(diagnoses().codes, axis=1)[:, 3].sum())
    assert [int(each.replace(",", "")) for each in counts] == [2500 - ones, ones]
    by = page.get_by_label("Colour by")
    by.select_option("trust")
    page.locator(".ramp").wait_for()
    by.select_option("distance")
    page.get_by_text("Click a point to measure distances from it.").wait_for()
    page.get_by_label("Distance from").fill("broken wrist")
    page.get_by_role("heading", name="Distance from “broken wrist”").wait_for()
    assert "by=distance&from=broken" in address_of(page)
    page.get_by_label("Distance from").fill("")
    pick(page)
    page.get_by_role("button", name="Colour by distance from it").click()
    lead = page.locator(".chosen .item .lead").first.inner_text()
    page.get_by_role("heading", name=f"Distance from {lead}").wait_for()


def test_a_thousand_classes_are_coloured_sensibly(vectors, map_page):
    page = map_page(vectors.url)
    shown = page.locator(".legend .entry").all_inner_texts()
    assert shown[0].split("\n") == ["class 0000", "40"]
    assert len(shown) == 11
    assert shown[10].startswith("990 other classes")
    both = coloured(page)
    page.locator(".legend .entry").nth(0).click()
    assert 0 < coloured(page) < both
    pressed = page.locator(".legend [aria-pressed=true]")
    assert pressed.all_inner_texts() == [shown[0]]
    pressed.click()
    assert coloured(page) > 0.9 * both


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_classes_stand_out_in_light_and_dark(texts, map_page, scheme):
    page = map_page(texts.url, color_scheme=scheme)
    assert coloured(page) > 2000
    ground = seen(page)[2, 2]
    assert (ground.mean() > 128) == (scheme == "light")


def test_outliers_and_confusions_are_listed_and_shown(texts, map_page):
    page = map_page(texts.url)
    beside = page.get_by_role("region", name="Outliers and confusions")
    found = httpx.get(f"{texts.url}v1/map/outliers?label=chapter").json()
    words = [f"{each['distance']} bits from the nearest" for each in found["outliers"]]
    words += [
        f"{each['votes']} of 10 nearest are {each['other']}; it is {each['class']}"
        for each in found["confusions"]
    ]
    entries = beside.locator("button .soft")
    entries.first.wait_for()
    assert entries.all_inner_texts() == words
    within = f"other item is within {found['nearest_distance_p95']} bits; the farthest:"
    beside.get_by_text(within).wait_for()
    for entry, item in [(0, found["outliers"][0]), (-1, found["confusions"][-1])]:
        beside.get_by_role("button").nth(entry).click()
        chosen = page.locator(".chosen .item .more").first
        chosen.get_by_text(f"id {item['id']}", exact=True).wait_for()
    assert f"item={item['id']}" in address_of(page)


def test_a_new_snapshot_is_told(texts, map_page):
    page = map_page(texts.url)
    page.expected.append("409")  # chromium reports the status
    page.route(
        "**/v1/map/neighbours?*",
        lambda route: route.fulfill(
            status=409,
            json={"error": {"code": "map_changed", "message": "it has changed"}},
        ),
    )
    page.locator("canvas.points").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Load the new map").wait_for()


def test_the_map_stays_while_the_collection_changes(tmp_path, map_page):
    """The page goes on with the map that it has, of the items of that time."""
    small_map(tmp_path / "collection")

    def earlier(route):
        facts = route.fetch().json()
        route.fulfill(json={**facts, "current": False})

    with serving(tmp_path / "collection", writable=True) as url:
        page = map_page(url)
        for id in (3, 5):
            answer = httpx.post(f"{url}v1/delete", json={"ids": [id]})
            assert answer.status_code == 200, answer.text
            page.goto(f"{url}#map?item=7")
            page.get_by_role("heading", name="Nearest codes of all 60 items").wait_for()
            page.locator("canvas.points").focus()
            page.keyboard.press("s")
            page.get_by_text("60 selected").first.wait_for()
            # The table comes after its heading, of the state that the map is of.
            ids = page.locator(".mapped tbody th")
            ids.get_by_text("3", exact=True).wait_for()
        page.route("**/v1/map", earlier)
        page.reload()
        newest = page.get_by_role("button", name="Load the newest map")
        newest.wait_for()
        page.unroute("**/v1/map")
        page.wait_for_function(
            "() => fetch('v1/map').then((x) => x.json()).then((x) => x.current)"
        )
        newest.click()
        page.get_by_text("58 items").first.wait_for()


def small_map(path):
    X = np.random.default_rng(0).normal(size=(60, 16))
    of_signs(X, path, columns={"kind": ["a", "b", "c"] * 20})
