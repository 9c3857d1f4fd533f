"""The explorer's map in a browser: first paint, frames while panning, memory.

Synthetic codes of 256 bits around 50 centres, served on this machine, in a headless
browser without a GPU. The map is made before the page is opened; making it is timed
apart. First paint is the first frame with points, from the navigation on; a frame is
the time between two frames while the pointer drags the map, which draws as many points
meanwhile as there is time for; memory is what the process of the page holds.
"""

import json
import re
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import httpx
import numpy as np
import typer
from playwright.sync_api import Browser, Page, sync_playwright

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from tests.explorer._served import serving

N_BITS, N_CENTRES, FLIPPED = 256, 50, 0.15
PAN_SECONDS, PATIENCE_MS = 4, 600_000
_FRAMES = """window.painted = {};
const look = () => {
  const plane = document.querySelector('.plane');
  const told = plane?.querySelector('.status')?.textContent ?? '';
  if (/^[0-9,]+ (of|points)/.test(told)) painted.first ??= performance.now();
  if (plane?.dataset.loaded) painted.all ??= performance.now();
  if (!painted.all) requestAnimationFrame(look);
};
requestAnimationFrame(look);"""
_RECORD = """() => {
  window.frames_ms = [];
  window.panning = true;
  let last = null;
  const frame = (now) => {
    if (last !== null) frames_ms.push(now - last);
    last = now;
    if (panning) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
_STOP = "() => { window.panning = false; return frames_ms; }"


def main(
    items: Annotated[list[int] | None, typer.Option(help="Collections' sizes.")] = None,
    opened: Annotated[int, typer.Option(help="Pages that are opened.")] = 3,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Open maps, pan them, and print the times."""
    rows = []
    with sync_playwright() as playwright:
        for n in items or (100_000, 1_000_000):
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            rows.append(_measured(browser, n, opened))
            browser.close()
            print(
                "{items:,} items: made in {made_s:.0f} s, first paint "
                "{first_paint_ms:.0f} ms, all points {all_points_ms:.0f} ms, frame "
                "{frame_ms:.0f} ms (95 % {frame_p95_ms:.0f} ms), {memory_mb:.0f} MB "
                "({renderer})".format(**rows[-1])
            )
    if json_path:
        report = {"bits": N_BITS, "rows": rows}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def _collection(n: int) -> Collection:
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 2, (N_CENTRES, N_BITS), dtype=np.uint8)
    groups = rng.integers(0, N_CENTRES, n)
    codes = np.empty((n, N_BITS // 8), np.uint8)
    for start in range(0, n, 50_000):
        part = groups[start : start + 50_000]
        flips = rng.random((len(part), N_BITS)) < FLIPPED
        codes[start : start + 50_000] = np.packbits(centres[part] ^ flips, axis=1)
    names = [f"group {each}" for each in groups]
    encoder = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))
    return Collection.create(
        None, codes=codes, encoder=encoder, columns={"group": names}
    )


def _measured(browser: Browser, n: int, opened: int) -> dict[str, Any]:
    with serving(_collection(n)) as url:
        made = _make(url)
        pages = [_open(browser, url) for _ in range(opened)]
        page = pages[-1]
        frames = _pan(page)
        renderer = page.locator("canvas.points").get_attribute("data-renderer")
        memory = _memory_mb(browser)
        painted = [each.evaluate("() => window.painted") for each in pages]
    return {
        "items": n,
        "made_s": made,
        "first_paint_ms": float(np.median([each["first"] for each in painted])),
        "all_points_ms": float(np.median([each["all"] for each in painted])),
        "frame_ms": float(np.median(frames)),
        "frame_p95_ms": float(np.quantile(frames, 0.95)),
        "n_frames": len(frames),
        "memory_mb": memory,
        "renderer": renderer,
    }


def _make(url: str) -> float:
    start = time.perf_counter()
    while not httpx.get(f"{url}v1/map", timeout=60).json()["ready"]:
        time.sleep(0.2)
    return time.perf_counter() - start


def _open(browser: Browser, url: str) -> Page:
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(_FRAMES)
    page.goto(f"{url}#map")
    page.locator(".legend").wait_for()
    page.wait_for_function("() => window.painted.all")
    return page


def _pan(page: Page) -> list[float]:
    """Return times between frames while the map is dragged in circles."""
    page.locator(".outliers").first.wait_for()  # nothing else is under way
    box = page.locator("canvas.points").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(_RECORD)
    end, turn = time.perf_counter() + PAN_SECONDS, 0.0
    while time.perf_counter() < end:
        turn += 0.1
        page.mouse.move(x + 120 * np.sin(turn), y + 80 * (np.cos(turn) - 1))
    frames: list[float] = page.evaluate(_STOP)
    page.mouse.up()
    return frames


def _memory_mb(browser: Browser) -> float:
    """Return the resident memory of the largest process that draws a page."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    sizes = [
        _resident_mb(each["id"])
        for each in found["processInfo"]
        if each["type"] == "renderer"
    ]
    return max(sizes)


def _resident_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1000


if __name__ == "__main__":
    typer.run(main)
