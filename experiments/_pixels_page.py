"""The page on networks that are trained from pixels."""

from collections.abc import Iterator

from experiments._cells import Cell
from experiments._pages import write_page
from experiments._posterior_page import added, labelled
from experiments._summary import by_method, figure, grid
from experiments.pixels import DECAY, RATE, SIZES, WEIGHT

INTRODUCTION = f"""# Codes from pixels

Made by `python -m experiments.pages` from `pixels.jsonl`, which `python -m
experiments.pixels` writes. Table 2 of LBHash (Zhu et al., NeurIPS 2022) end to end: a
residual network learns CIFAR-10 from pixels, with random crops and mirrored images,
by losses alone and with the posterior control ("D", weight {WEIGHT}), and by LLC
(Kusupati et al., NeurIPS 2021) with several codebooks, whose codes are decoded, too. It
starts from nothing, where the paper's starts from ImageNet: values are not to be
compared with the paper's, differences are. AdamW at {RATE} with a weight decay of
{DECAY}, none of them chosen; the epoch that is kept was chosen on a tenth of the
training images, of real-valued vectors the last. SVD and CCA make their codebook of
another network of the same kind that has learnt to classify these images, as the
paper's had learnt ImageNet. A learnt codebook takes
{SIZES["small"].codebook_epochs} epochs of the small network before those that all get.
mAP over the whole ranking with expected ties; means over seeds ± one standard error,
and differences paired by seed. What an epoch with the control costs is in the
[benchmarks](benchmarks.md), where both ways take turns."""


TABLES = {
    "map": "mAP",
    "predicted": "mAP by the predicted class",
    "rotated": "mAP by rotated principal components of the network's features",
    "accuracy": "accuracy of the classifier of real numbers, else of 100 votes",
    "exact": "the class whose code it is (ED)",
    "nearest": "the class with the nearest code (MHD)",
    "soft": "the class with the nearest code, bits weighed by their scores",
}


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("pixels", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one split of the images."""
    for size, shape in SIZES.items():
        chosen = [cell for cell in cells if cell["cell"]["size"] == size]
        if not chosen:
            continue
        layers = 2 + 2 * sum(shape.blocks)
        yield (
            f"### {size}: {layers} layers, {shape.width} channels at first, "
            f"{shape.n_iter} epochs"
        )
        for key, title in TABLES.items():
            table = by_method(labelled(chosen), figure(key), "bits")
            if table:
                yield f"**{title}**"
                yield grid(table, "{} bits")
        yield "**What the control adds to the mAP**"
        yield added(chosen)
