"""The sheet of attributes as one picture: a bit in each row, its sides left and right.

Figure 8 of the DBC paper.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments._cells import Cell

SIDE, GAP, BAR, MARGIN = 56, 2, 14, 8
TEXT_WIDTH, FONT_SIZE = 90, 12
#: Around items of novel classes.
FRAME = (201, 101, 27)


def draw_sheet(path: Path, sheet: Sequence[Cell], images: Mapping[str, Any]) -> None:
    """Draw the most extreme images of both sides of each bit, and their names."""
    from PIL import Image, ImageDraw

    half = len(sheet[0]["items"][0]) * (SIDE + GAP)
    width = 2 * (MARGIN + TEXT_WIDTH + half) + BAR
    step = SIDE + 4 * GAP
    picture = Image.new("RGB", (width, len(sheet) * step + 2 * MARGIN), "white")
    pen = ImageDraw.Draw(picture)
    for i, row in enumerate(sheet):
        top = MARGIN + i * step
        # The most extreme images are outermost, as on an axis.
        sides = [row["items"][0], row["items"][1][::-1]]
        for side, shown in enumerate(sides):
            left = MARGIN + TEXT_WIDTH + side * (half + BAR)
            for j, item in enumerate(shown):
                place = left + j * (SIDE + GAP), top
                picture.paste(_thumbnail(images[item["key"]], item["novel"]), place)
        _write_names(pen, row, top, width)
    middle, height = width // 2, picture.height
    pen.rectangle((middle - 3, MARGIN, middle + 1, height - MARGIN), fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, "JPEG", quality=85, optimize=True)


def _thumbnail(item: Any, novel: bool) -> Any:
    from PIL import Image, ImageOps

    size = SIDE - 4 if novel else SIDE
    image = item.open().convert("RGB")
    image = ImageOps.fit(image, (size, size), Image.Resampling.LANCZOS)
    return ImageOps.expand(image, 2, FRAME) if novel else image


def _write_names(pen: Any, row: Cell, top: int, width: int) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(FONT_SIZE)
    places = {"right": MARGIN + TEXT_WIDTH - 8, "left": width - MARGIN - TEXT_WIDTH + 6}
    for side, (align, x) in enumerate(places.items()):
        words = "\n".join(word for word, *_ in row["names"][side]) or "no name"
        at, anchor = (x, top + SIDE // 2), f"{align[0]}m"
        pen.multiline_text(at, words, "black", font, anchor, align=align)
