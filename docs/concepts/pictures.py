"""Draw the pictures of the concepts: ``python docs/concepts/pictures.py``."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from fewbits.evaluation import exact_neighbours
from fewbits.index import FlatIndex, Int8Vectors
from fewbits.learners import ITQ

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"


def main() -> None:
    """Write every picture beside the pages."""
    mpl.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "fewbits", "font.size": 10}
    )
    X, y = load_digits(return_X_y=True)
    for name, draw in (("cuts", cuts), ("shortlist", shortlist), ("unknown", unknown)):
        figure = Figure(figsize=(6, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes, X, y)
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def cuts(axes: Any, X: Any, y: Any) -> None:
    """Draw points of a plane, three lines, and the code of each region."""
    rng = np.random.default_rng(4)
    points = np.vstack([rng.normal(at, 0.35, (12, 2)) for at in ((-1, 1), (1, 0.6))])
    normals = np.array([[1.0, 0.15], [0.2, 1.0], [0.75, -0.7]])
    bias = np.array([0.0, -0.55, 0.9])
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 161), np.linspace(-1, 2, 121)), -1)
    regions = (grid @ normals.T + bias > 0) @ [4, 2, 1]
    for code in np.unique(regions):
        inside = grid[regions == code]
        if len(inside) > 200:
            axes.text(*inside.mean(0), f"{code:03b}", ha="center", family="monospace")
    for j, (normal, b) in enumerate(zip(normals, bias, strict=True)):
        through = -b * normal / (normal @ normal)
        along = np.array([-normal[1], normal[0]])
        axes.axline(through, through + along, color=BLUE, lw=1, alpha=0.4 + j / 5)
    axes.scatter(*points.T, s=14, color=ORANGE)
    axes.set(xlim=(-2, 2), ylim=(-1, 2), xticks=[], yticks=[])


def shortlist(axes: Any, X: Any, y: Any) -> None:
    """Draw recall@10 of re-ranked 32-bit codes against the shortlist."""
    queries, database = X[:300], X[300:]
    truth = exact_neighbours(queries, database, 10).ids
    encoder = ITQ(n_bits=32, random_state=0).fit(database).encoder_
    index = FlatIndex(encoder.encode(database))
    codes = encoder.encode(queries)
    lengths = [10, 15, 20, 30, 50, 75, 100, 150, 200, 300]
    ways: dict[str, dict[str, Any]] = {
        "float32 vectors": {"vectors": database, "query_vectors": queries},
        "int8 vectors": {
            "vectors": Int8Vectors.from_vectors(database),
            "query_vectors": queries,
        },
        "scores of the query": {"scores": encoder.query_scores(queries)},
    }
    styles = ((BLUE, "-", 3.0), (ORANGE, "--", 1.5), (GREEN, "-", 1.5))
    for (name, way), (colour, style, width) in zip(ways.items(), styles, strict=True):
        recalls = [
            recall(index.search_reranked(codes, 10, shortlist=n, **way).ids, truth)
            for n in lengths
        ]
        axes.plot(lengths, recalls, style, color=colour, lw=width, label=name)
    alone = recall(index.search(codes, 10).ids, truth)
    axes.axhline(alone, color="grey", ls=":", label="codes alone")
    axes.set(xscale="log", xlabel="items on the shortlist", ylabel="recall@10")
    axes.set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"])
    axes.legend(frameon=False)


def recall(found: Any, truth: Any) -> float:
    """Return the share of the true neighbours that was found."""
    pairs = zip(found, truth, strict=True)
    return float(np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in pairs]))


def unknown(axes: Any, X: Any, y: Any) -> None:
    """Draw how far queries of three kinds are from the nearest code."""
    known = (y != 8) & (np.arange(len(y)) % 4 > 0)
    encoder = ITQ(n_bits=64, random_state=0).fit(X[known]).encoder_
    index = FlatIndex(encoder.encode(X[known]))
    kinds = {
        "new images of known digits": X[(y != 8) & ~known],
        "a digit that was left out": X[y == 8],
        "noise": np.random.default_rng(0).permuted(X[:500], axis=1),
    }
    colours = (BLUE, ORANGE, GREEN)
    for (name, items), colour in zip(kinds.items(), colours, strict=True):
        distances = index.search(encoder.encode(items), 1).distances[:, 0]
        shares = np.bincount(distances, minlength=30) / len(distances)
        axes.stairs(shares, np.arange(len(shares) + 1), color=colour, label=name, lw=2)
    axes.set(xlabel="Hamming distance to the nearest code", ylabel="share of queries")
    axes.set_xlim(0, 30)
    axes.legend(frameon=False)


if __name__ == "__main__":
    main()
