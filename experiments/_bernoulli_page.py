"""The page on estimating a joint distribution of bits."""

from collections.abc import Iterator
from typing import Any

from experiments._cells import RESULTS, Cell, Cells
from experiments._pages import IMAGES
from experiments._plots import scatter_plot
from experiments._summary import by_method, figure, grid, markdown, seeds_of
from experiments.bernoulli_toy import DRAWS, N_BITS, N_STEPS, USUAL

INTRODUCTION = f"""# Can a surrogate estimate a joint distribution of bits?

Made by `python -m experiments.pages` from `bernoulli_toy.jsonl`, which
`python -m experiments.bernoulli_toy` writes. Figure 3 of LBHash (Zhu et al., NeurIPS
2022), which gives a divergence of .008 for the surrogate and .538 for the product of
marginals, one distribution, from 10,000 samples of 8 bits. Kullback-Leibler divergence
of the estimate from the real distribution, in nats. The surrogate is that of
`PosteriorControl`, trained for {N_STEPS:,} steps on all samples. The histogram of the
same samples is the floor: its divergence is about `(2^8 - 1) / 2 n`. The paper's
protocol can be read in several ways, and *100 new samples* is what it says; a surrogate
that is fed with a sample and told its value becomes a table, so that its mean is the
histogram of what it is fed with. Means over seeds, each with another distribution, ±
one standard error."""

ROWS = {
    "histogram": "histogram (floor)",
    "constant input": "surrogate, constant input",
    "training samples": "surrogate, mean over the training samples",
    "100 new samples": "surrogate, mean over 100 new samples",
    "marginals": "product of marginals",
}


def write() -> None:
    """Write the page, if anything was measured."""
    cells = list(Cells("bernoulli_toy"))
    parts = [INTRODUCTION]
    for name in DRAWS:
        chosen = [cell for cell in cells if cell["cell"]["data"] == name]
        if chosen:
            parts += [f"## {name.capitalize()}", seeds_of(chosen), *sections(chosen)]
    if cells:
        (RESULTS / "bernoulli_toy.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def sections(cells: list[Cell]) -> Iterator[str]:
    """Yield the parts on one way to draw distributions."""
    whole = [cell for cell in cells if cell["cell"]["block"] == N_BITS]
    yield "**By samples, all bits in one block**"
    yield grid(table(whole, "samples"), "{:,} samples")
    yield floor(sorted({cell["cell"]["samples"] for cell in whole}))
    usual = [cell for cell in cells if cell["cell"]["samples"] == USUAL]
    if usual:
        yield f"**By the bits of a block, {USUAL:,} samples**"
        yield grid(table(usual, "block"), "blocks of {}")
    for cell in whole:
        if "shown" in cell["figures"]:
            yield picture(cell)


def table(cells: list[Cell], column: str) -> dict[str, dict[Any, Any]]:
    """Return the divergences of each way to estimate."""
    return {
        title: by_method(cells, figure(key), column)["surrogate"]
        for key, title in ROWS.items()
    }


def floor(samples: list[int]) -> str:
    """Return what the divergence of a histogram is for many samples."""
    values = [(2**N_BITS - 1) / (2 * n) for n in samples]
    header = ["", *(f"{n:,} samples" for n in samples)]
    return markdown(header, [["(2^8 - 1) / 2 n", *(f"{v:.3f}" for v in values)]])


def picture(cell: Cell) -> str:
    """Draw estimates against the real probabilities."""
    shown = cell["figures"]["shown"]
    groups = {
        ROWS[key]: list(zip(shown["real"], shown[key], strict=True))
        for key in ("marginals", "histogram", "constant input")
    }
    image = IMAGES / f"bernoulli_{cell['cell']['data'].split()[0].lower()}.svg"
    scatter_plot(image, groups, x="real probability", y="estimate", diagonal=True)
    return f"![estimated against real probabilities](../images/{image.name})"
