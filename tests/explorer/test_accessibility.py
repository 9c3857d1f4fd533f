"""Every view by keyboard, and as axe-core and a screen reader find it."""

import pytest

from tests.explorer._reading import quiet

VIEWS = {
    "search": ("What is near, and why?", ".hits > li:not(.asked)", "?text=wrist"),
    "bits": ("What does this bit mean?", ".near li", "?bit=3&flips=5"),
    "map": (
        "Where are groups, outliers and confusions?",
        ".legend",
        "?item=3",
    ),
    "teach": (
        "Can I find more of this, and is this new?",
        ".candidates li",
        "?seed=wrist&good=[3]",
    ),
    "duplicates": ("What is in here twice?", ".groups > li", ""),
    "health": ("Can I trust this collection?", ".recall tbody tr", ""),
}
SERIOUS = ("serious", "critical")
PAPER = "() => getComputedStyle(document.body).backgroundColor"
#: What a reader needs to know where the focus is.
FOCUSED = """() => {
  const found = document.activeElement;
  const style = getComputedStyle(found);
  const shown = found.matches('input[type=radio]') ? found.nextElementSibling : found;
  return {
    tag: found.tagName,
    id: found.id,
    visible: getComputedStyle(shown ?? found).outlineStyle !== 'none',
  };
}"""


def axe_faults(page, *rules):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    answer = axe.Axe().run(page, options={"resultTypes": ["violations"], **only})
    answer = answer.response
    n_looked_at = len(answer["passes"])
    assert n_looked_at == len(rules) if rules else n_looked_at > 15  # it has looked
    found = answer["violations"]
    return [
        (each["id"], node["target"], node.get("failureSummary"))
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("view", [*VIEWS, "new"])
def test_axe_finds_no_serious_fault(texts, new_page, view):
    """Nor colours too near to each other, in the light or the dark."""
    address, ready = "#teach?part=new&text=wrist", ".verdict"
    if view != "new":
        _, ready, state = VIEWS[view]
        address = f"#{view}{state}"
    still = {"color_scheme": "light", "reduced_motion": "reduce"}
    page = new_page(texts.url, address, **still, bypass_csp=True)
    page.locator(ready).first.wait_for()
    if view in VIEWS:
        has_landmarks_and_its_question_as_heading(page, view)
    quiet(page)
    for details in page.locator("details:not([open]) > summary").all()[:2]:
        details.click()
    quiet(page)
    assert axe_faults(page) == []
    light = page.evaluate(PAPER)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(PAPER) != light
    assert axe_faults(page, "color-contrast") == []


def has_landmarks_and_its_question_as_heading(page, view):
    question, _, _ = VIEWS[view]
    assert page.get_by_role("heading", level=1).all_inner_texts() == [question]
    assert page.get_by_role("main").count() == 1
    navigation = page.get_by_role("navigation", name="Views")
    assert navigation.locator("[aria-current]").inner_text().lower() == view


def test_one_goes_through_all_views_by_keyboard(texts, new_page):
    page = new_page(texts.url, "#health")
    page.locator(VIEWS["health"][1]).first.wait_for()
    for view in VIEWS:
        question, _, _ = VIEWS[view]
        page.locator(".brand").focus()
        for _ in range(9):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.hash") == f"#{view}":
                break
        page.keyboard.press("Enter")
        page.get_by_role("heading", level=1, name=question).wait_for()
        page.wait_for_function(
            "wanted => document.getElementById('announcer').textContent !== ''",
            arg=view,
        )


def test_a_search_needs_no_mouse(texts, new_page):
    page = new_page(texts.url)
    field = page.get_by_label("Text to search for")
    field.wait_for()
    # The question has the focus from the start.
    page.wait_for_function("() => document.activeElement.type === 'search'")
    page.keyboard.type("wrist")
    page.keyboard.press("Enter")
    page.locator(".hits > li").nth(3).wait_for()
    page.wait_for_function(
        "() => document.getElementById('announcer').textContent === '10 hits.'"
    )
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
    assert all(each["visible"] for each in seen), seen


def test_bits_are_flipped_by_keyboard(texts, new_page):
    page = new_page(texts.url, "#bits?item=4")
    page.locator(".near li").first.wait_for()
    cells = page.locator(".codegrid .cell")
    assert page.locator(".codegrid .cell[tabindex='0']").count() == 1
    cells.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    before = cells.nth(17).get_attribute("aria-pressed")
    page.keyboard.press("Space")
    page.wait_for_function("() => location.hash.includes('flips=17')")
    assert cells.nth(17).get_attribute("aria-pressed") != before
    assert page.evaluate("() => document.activeElement.className") == "cell flip"


def test_judging_keeps_the_focus(texts, new_page):
    page = new_page(texts.url, "#teach?seed=wrist")
    page.locator(".candidates .good").nth(2).focus()
    page.keyboard.press("Enter")
    page.get_by_text("Good (1)").wait_for()
    page.wait_for_function("() => document.activeElement.matches('.good')")


def test_the_theme_is_chosen_and_kept(texts, new_page):
    page = new_page(texts.url, color_scheme="light")
    button = page.get_by_role("button", name="Theme: system")
    light = page.evaluate(PAPER)
    button.click()
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("button", name="Theme: dark").wait_for()
    page.wait_for_function(f"before => ({PAPER})() !== before", arg=light)
    dark = page.evaluate(PAPER)
    page.reload()
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate(PAPER) == dark


def test_nothing_is_cut_off_on_a_telephone(texts, new_page):
    page = new_page(texts.url, viewport={"width": 360, "height": 800})
    for view, (_, ready, state) in VIEWS.items():
        page.goto(f"{texts.url}#{view}{state}")
        page.locator(f"[data-view={view}] {ready}").first.wait_for()
        width = page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 360, view
        tab = page.locator("#views [aria-current]").bounding_box()
        assert 0 <= tab["x"] <= 360 - tab["width"], view
