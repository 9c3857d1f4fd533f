"""The page on retrieval across modalities."""

from collections.abc import Iterator

from experiments._cells import Cell
from experiments._pages import write_page
from experiments._summary import by_method, figure, grid
from experiments.cross_modal import N_LEARN, N_TEST

INTRODUCTION = f"""# Images by texts and texts by images

Made by `python -m experiments.pages` from `cross_modal.jsonl`, which
`python -m experiments.cross_modal` writes. Two linear encoders, of EfficientNet-Lite0's
features of images and of WordLlama's of texts, learn the same codes of classes, phase 2
of LLC without a bias; what differs is where the codes come from. Texts name a class
between a quality and a place, {N_LEARN} of each class to learn from and {N_TEST} to
test by, which share the name and small words only; images are those that nobody trained
on. All classes are known: this is about one code for two kinds of items, not about new
classes. mAP over all test items of the other modality, expected ties; a query of an
item's own modality finds the item itself first. Nothing is chosen, the last epoch is
kept. Means over seeds ± one standard error.

With a codebook *for each*, nothing ties the modalities together: that is chance. The
*predicted class* is one bit for each class, from a linear SVM in each modality."""

DIRECTIONS = {
    "texts to images": "A text asks for images",
    "images to texts": "An image asks for texts",
    "images to images": "An image asks for images",
}


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("cross_modal", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of images."""
    for key, title in DIRECTIONS.items():
        yield f"**{title}, by codes**"
        yield grid(by_method(cells, figure(key), "bits"), "{} bits").replace(
            "| 0 bits |", "| one bit for each class |"
        )
        scores = by_method(
            cells, lambda found, key=key: found.get("scores", {}).get(key), "bits"
        )
        if scores and key != "images to images":
            yield f"**{title}, by the scores behind the bits**"
            yield grid(scores, "{} scores")
