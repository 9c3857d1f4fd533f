"""Times of the explorer in a browser: to the first useful paint, and of a flipped bit.

Synthetic codes of 256 bits with a text each, served on this machine. A first useful
paint is when the form of the search can be used, in a browser that has nothing of the
page; a flip ends with the frame after the new neighbours were put on the page.
"""

import json
import shutil
import statistics
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from playwright.sync_api import Browser, Page, sync_playwright

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from tests.explorer._served import serving

N_BITS = 256
TARGETS = {"first useful paint": 1000, "flipped bit": 50}
_PAINT = """() => new Promise((resolve) => {
  const look = () => {
    const there = document.querySelector('form[role=search] button.main');
    if (there) requestAnimationFrame(() => resolve(performance.now()));
    else requestAnimationFrame(look);
  };
  look();
})"""
_FLIP = """(bit) => new Promise((resolve) => {
  const panel = document.querySelector('aside');
  const start = performance.now();
  panel.addEventListener(
    'followed', () => resolve(performance.now() - start), {once: true}
  );
  document.querySelectorAll('.codegrid .cell')[bit].click();
})"""


def main(
    items: Annotated[int, typer.Option(help="Items of the collection.")] = 100_000,
    paints: Annotated[int, typer.Option(help="Pages that are opened.")] = 7,
    flips: Annotated[int, typer.Option(help="Bits that are flipped.")] = 60,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Open pages and flip bits, and print the times."""
    with serving(_collection(items)) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        times = {
            "first useful paint": [_paint(browser, url) for _ in range(paints)],
            "flipped bit": _flips(browser.new_page(), url, flips),
        }
        browser.close()
    rows = [_summary(name, each) for name, each in times.items()]
    for row in rows:
        print(
            f"{row['name']:20s} median {row['median_ms']:6.1f} ms, "
            f"95 % {row['p95_ms']:6.1f} ms, target {row['target_ms']} ms, "
            f"{items:,} items"
        )
    if json_path:
        report = {"items": items, "bits": N_BITS, "rows": rows}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def _collection(n: int) -> Collection:
    codes = np.random.default_rng(0).integers(0, 256, (n, N_BITS // 8), dtype=np.uint8)
    encoder = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))
    texts = [f"item number {i} of a collection" for i in range(n)]
    return Collection.create(
        None, codes=codes, encoder=encoder, columns={"text": texts}
    )


def _paint(browser: Browser, url: str) -> float:
    context = browser.new_context()
    page = context.new_page()
    page.goto(url, wait_until="commit")
    took: float = page.evaluate(_PAINT)
    context.close()
    return took


def _flips(page: Page, url: str, n: int) -> list[float]:
    page.goto(f"{url}#bits?item=7")
    page.locator(".near li").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate(_FLIP, 255)  # warms up
    bits = np.random.default_rng(0).integers(0, N_BITS, n).tolist()
    return [page.evaluate(_FLIP, bit) for bit in bits]


def _summary(name: str, times: list[float]) -> dict[str, Any]:
    return {
        "name": name,
        "median_ms": statistics.median(times),
        "p95_ms": float(np.quantile(times, 0.95)),
        "n": len(times),
        "target_ms": TARGETS[name],
    }


if __name__ == "__main__":
    typer.run(main)
