"""Pages of results with a part for each set of features."""

from collections.abc import Callable, Iterable, Iterator

from experiments._cells import RESULTS, Cell, Cells
from experiments._summary import seeds_of

IMAGES = RESULTS.parent / "images"
TITLES = {
    "icd10": "ICD-10-CM, WordLlama, 256-d",
    "wordnet": "WordNet, nouns and their glosses, WordLlama, 256-d",
    "caltech101-1280": "Caltech-101, EfficientNet-Lite0, 1280-d",
    "caltech101-classic": "Caltech-101, classic descriptors, 22,860-d",
    "caltech101-5120": "Caltech-101, EfficientNet-Lite0 2x2, 5120-d",
    "caltech101-11520": "Caltech-101, EfficientNet-Lite0 3x3, 11520-d",
    "caltech101+cifar10": "Caltech-101 among CIFAR-10, EfficientNet-Lite0, 1280-d",
    "glove": "GloVe, 400,000 words, 50-d",
    "fashion-mnist": "Fashion-MNIST, pixels, 784-d",
    "digits": "Digits, pixels, 64-d",
    "caltech101": "Caltech-101, EfficientNet-Lite0, 1280-d",
    "cifar10": "CIFAR-10, EfficientNet-Lite0 at 96 pixels, 1280-d",
    "cifar10-pixels": "CIFAR-10 from pixels, 5,000 images to train on",
    "cifar10-2-pixels": "CIFAR-10 from pixels, 50,000 images to train on",
    "icd10-words": "ICD-10-CM with words as labels, WordLlama, 256-d",
}


def write_page(
    experiment: str,
    introduction: list[str],
    section: Callable[[list[Cell], str], Iterable[str]],
) -> None:
    """Write the page of an experiment, if anything was measured.

    Parameters
    ----------
    section : callable
        Takes the cells and the name of a set of features; empty parts are left out.
    """
    cells = list(Cells(experiment))
    parts = list(introduction)
    for name, chosen in sets_of(cells):
        parts += [f"## {TITLES[name]}", seeds_of(chosen), *section(chosen, name)]
    if cells:
        text = "\n\n".join(part for part in parts if part)
        (RESULTS / f"{experiment}.md").write_text(text + "\n", "utf-8")


def sets_of(cells: list[Cell]) -> Iterator[tuple[str, list[Cell]]]:
    """Yield the name and the cells of each set of features that has any."""
    for name in TITLES:
        found = [cell for cell in cells if cell["cell"]["data"] == name]
        if found:
            yield name, found
