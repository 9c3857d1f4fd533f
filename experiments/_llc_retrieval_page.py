"""The page on retrieval by the codes of LLC."""

from collections.abc import Iterator

from experiments._cells import Cell
from experiments._pages import write_page
from experiments._summary import by_method, figure, grid, shown
from experiments.llc_retrieval import BOOKS, REAL, WHOLE

INTRODUCTION = """# Retrieval by the codes of classes

Made by `python -m experiments.pages` from `llc_retrieval.jsonl`, which
`python -m experiments.llc_retrieval` writes. Tables 3 and 4 of LLC (Kusupati et al.,
NeurIPS 2021) on frozen features and linear heads: LLC with learnt and other codebooks
(without a bias in the projection, as in the paper, but for *LLC with a bias*),
losses made for retrieval, codes that no network learns, and real-valued vectors of as
many numbers, which take 16 times the memory at 16 bits each. Rates and the regulariser
of CCA-ITQ are chosen on items held out from training, at 32 bits, numbers of epochs
at each length, nothing on queries: by how well those items rank the others by what the
method ranks by, real numbers by cosines, or, on CIFAR-10, whose base has no item that
is trained on, one another. In the end all training items are trained on. Settings are
chosen once and are the same for all seeds: standard errors tell nothing of what others
would have done. mAP with expected ties, divided by what can be found: over the first
1,000 of Caltech-101, ICD-10 and WordNet, the first 5,000 of ICD-10's words, over all of
CIFAR-10. SVD has fewer directions than classes, and no codes that are
longer. Means over seeds ± one standard error.

A code of the predicted class, one bit for each class or the bits of its number, ranks
the base as well as a classifier does and tells nothing else; codes of classes that were
trained on have to be read beside it."""

PAPER = """**Of the paper**, ImageNet-100. AlexNet at 10, 16, 32, 48 and 64 bits:
HashNet .200, .282, .430, .527, .512, GreedyHash .286, .425, .541, .572, .590, LLC .309,
.431, .557, .575, .600. ResNet-50: LLC .646 and .677 at 10 and 64 bits, real-valued
vectors .504, .666 and .779 at 8, 10 and 64 numbers."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("llc_retrieval", [INTRODUCTION, PAPER], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of features."""
    table = by_method(cells, figure("map"), "bits")
    references = {method: table.pop(method) for method in WHOLE if method in table}
    real = table.pop(REAL, {})
    if table:
        yield "**mAP (table 3)**"
        yield grid(table, "{} bits")
    if references:
        yield "Without a length: " + "; ".join(
            f"{method} {shown(*found[0][:2])}" for method, found in references.items()
        )
    if real:
        both = {REAL: real, "LLC": table.get("LLC", {})}
        yield "**Bits and as many real numbers (table 4)**"
        yield grid(both, "{} dimensions")
    yield from classes_of_items(cells)
    unique = by_method(cells, figure("unique"), "bits")
    if unique:
        yield "**Different codes of classes**"
        yield grid({book: unique[book] for book in BOOKS if book in unique}, "{} bits")


def classes_of_items(cells: list[Cell]) -> Iterator[str]:
    """Yield how well the classes of items that have several are told."""
    table = by_method(cells, figure("label_ranking"), "bits")
    svm = table.pop(WHOLE[1], {}).get(0)
    if table:
        yield (
            "**Which classes an item has**, label-ranking average precision of soft "
            "decoding" + (f"; of linear SVMs {shown(*svm[:2])}" if svm else "")
        )
        yield grid(table, "{} bits")
