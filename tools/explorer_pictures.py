"""Draw the explorer's pictures in the docs: ``python -m tools.explorer_pictures``.

Each is a page of a real browser, of the demo's collection or of Fashion-MNIST (where
``FEWBITS_DATA`` has it, or `--data`), and is kept with few colours to be small. They
look best where the typeface Inter is installed.
"""

import io
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from fewbits import Collection, backbones, demo
from tests.explorer._reading import COUNTED, quiet
from tests.explorer._served import clothes, serving

TARGET = Path(__file__).parents[1] / "docs/how-to"
N_IMAGES = 3000
COLOURS = 160


class Picture(NamedTuple):
    """A page, and what has to be on it before it is drawn."""

    name: str
    collection: str
    address: str
    ready: str
    scheme: str = "light"


PICTURES = (
    Picture("explore-search", "texts", "#search?text=bitten by a shark", "aside table"),
    Picture(
        "explore-bits",
        "images",
        "#bits?bit=3&item=12&flips=20.41&order=number",
        ".examples img, .bitgrid",
        "dark",
    ),
    Picture("explore-map", "texts", "#map", ".outliers li"),
    Picture(
        "explore-teach",
        "texts",
        "#teach?part=new&text=quarterly earnings report&threshold=70",
        ".verdict",
    ),
    Picture("explore-duplicates", "images", "#duplicates?radius=2", ".groups > li"),
    Picture("explore-health", "texts", "#health", ".recall tbody tr", "dark"),
)


def main(
    texts: Annotated[
        Path | None, typer.Option(help="Collection of the demo; made when not given.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with Fashion-MNIST.")
    ] = None,
    target: Annotated[Path, typer.Option(help="Folder of the pictures.")] = TARGET,
    only: Annotated[str, typer.Option(help="Part of the names to draw.")] = "",
) -> None:
    """Serve both collections, and draw each picture."""
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        sources = {
            "texts": _diagnoses() if texts is None else Collection.open(texts),
            "images": clothes(Path(folder), N_IMAGES, data),
        }
        for name, source in sources.items():
            with serving(source) as url:
                for picture in PICTURES:
                    if picture.collection == name and only in picture.name:
                        _draw(browser, url, picture, target)
        browser.close()


def _diagnoses() -> Collection:
    data = demo.load()
    return demo.build(data, backbones.load(demo.BACKBONE).extract(data.items))


def _draw(browser: Browser, url: str, picture: Picture, target: Path) -> None:
    page = browser.new_page(
        viewport={"width": 1200, "height": 780}, color_scheme=picture.scheme
    )
    page.set_default_timeout(180_000)  # a map may take a minute
    page.add_init_script(COUNTED)
    for _ in range(2):  # again with what the service has computed meanwhile
        page.goto(f"{url}{picture.address}")
        page.reload()
        page.locator(picture.ready).first.wait_for()
        quiet(page)
    page.wait_for_function("() => [...document.images].every((x) => x.complete)")
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = target / f"{picture.name}.png"
    few = shot.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=0)
    few.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")
    page.close()


if __name__ == "__main__":
    typer.run(main)
