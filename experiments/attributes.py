"""Figures 8 and 10 of the DBC paper: what bits mean, and maps of the codes.

    python -m experiments.attributes --data caltech101-1280 --data icd10
    python -m experiments.attributes --data caltech101-classic

Codes are learnt on known classes; everything else is about items that were not learnt
from, of these classes and of novel ones. Bits are named by words, and the names are
tested on further items and on classes that they do not come from.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import typer

from experiments._attribute_bits import bit_figures, distance_figures, found_again
from experiments._attribute_exhibits import maps, sheet
from experiments._attribute_items import Items, divide, load_items
from experiments._attribute_names import (
    Sample,
    check_extremes,
    check_halves,
    check_novel,
    check_swapped,
    count_names,
    shuffled,
)
from experiments._attribute_sheet import draw_sheet
from experiments._cells import Cell, Cells
from experiments._options import Data, Only, Seeds, wanted
from experiments._pages import IMAGES
from experiments._preparation import prepared
from fewbits.learners import DBC, ITQ, LSH, Learner

N_BITS = 64
#: The codes that the sheet and the maps show.
EXHIBITED = "DBC", 0

Make = Callable[..., Learner]
METHODS: dict[str, Make] = {
    "DBC": DBC,
    "DBC, by category": partial(DBC, codes="category"),
    "ITQ": ITQ,
    "LSH": LSH,
}


def main(data: Data, seeds: Seeds = 3, only: Only = None) -> None:
    """Measure every cell that is not measured yet, and draw the sheets of images."""
    cells = Cells("attributes")
    for name in data:
        items = load_items(name)
        for seed in range(seeds):
            problem = Problem(items, seed)
            for cell, make in lineup(name, seed):
                if wanted(cell, only, None):
                    figures = cells.measure(cell, partial(problem.figures, cell, make))
                    draw(name, items, figures)


def lineup(name: str, seed: int) -> Iterator[tuple[Cell, Make]]:
    """Yield a cell, and what makes its learner."""
    for method, make in METHODS.items():
        yield {"data": name, "bits": N_BITS, "method": method, "seed": seed}, make


def draw(name: str, items: Items, figures: Cell) -> None:
    """Draw the sheet of a cell that has one, if its items are images."""
    if "sheet" in figures and items.are_images:
        images = dict(zip(items.keys, items.shown, strict=True))
        path = IMAGES / f"{stem_of(name)}.jpg"
        draw_sheet(path, figures["sheet"], images)


def stem_of(name: str) -> str:
    """Return how the names of pictures of a set of features begin."""
    return f"attributes_{name.removesuffix('-1280')}"


class Problem:
    """Items of known classes to learn from; others, also of novel classes, to look at.

    Held-out items of known classes come first.
    """

    def __init__(self, items: Items, seed: int) -> None:
        self.items, self.seed = items, seed
        self.parts = divide(items.classes, seed)
        self.held = self.parts.held
        self.X = prepared(items.name, items.X, self.parts.learn)
        self.classes = items.classes[self.held]
        self.n_known = len(self.parts.known)

    def figures(self, cell: Cell, make: Make) -> Cell:
        """Learn codes, and say what their bits are worth as attributes."""
        encoder = self._learn(make, self.parts.learn, self.seed)
        X = self.X[self.held]
        scores, codes = encoder.project(X), encoder.encode(X)
        found: Cell = {
            "items": [len(self.parts.learn), self.n_known, len(self.parts.novel)],
            "bits": bit_figures(scores, codes, self.classes, self.n_known),
            "again": self._found_again(make),
            "distances": self._distances(codes),
            **self._names(scores, codes),
        }
        if (cell["method"], cell["seed"]) == EXHIBITED:
            found |= self._exhibits(scores, codes)
        return found

    def _learn(self, make: Make, rows: Any, seed: int) -> Any:
        learner = make(n_bits=N_BITS, random_state=seed)
        return learner.fit(self.X[rows], self.items.classes[rows]).encoder_

    def _found_again(self, make: Make) -> float:
        """Learn from two halves of the items, and compare the bits on others."""
        X = self.X[self.held]
        # Items are in the order of their classes: every second one is half of each.
        one, other = (
            self._learn(make, self.parts.learn[i::2], 100 + 2 * self.seed + i)
            for i in (0, 1)
        )
        return found_again(one.encode(X), other.encode(X), N_BITS)

    def _distances(self, codes: Any) -> Cell:
        """Compare items of known classes with each other, and those of novel ones."""
        kinds = self.items.kinds[self.held]
        parts = {"known": slice(self.n_known), "novel": slice(self.n_known, None)}
        return {
            name: distance_figures(codes[part], N_BITS, self.classes[part], kinds[part])
            for name, part in parts.items()
        }

    def _sample(self, codes: Any) -> Sample:
        return Sample(codes, N_BITS, [self.items.words[row] for row in self.held])

    def _names(self, scores: Any, codes: Any) -> Cell:
        sample = self._sample(codes)
        rng = np.random.default_rng(self.seed)
        found = {
            "names": count_names(sample),
            "shuffled": count_names(shuffled(sample, rng)),
            "extremes": check_extremes(sample, scores),
            "halves": check_halves(sample, rng),
            "novel": check_novel(sample, self.n_known),
            "swapped": check_swapped(sample, self.classes, self.n_known, rng),
        }
        if self.items.are_images:
            classes = sample._replace(texts=self.classes.tolist())
            found["class_names"] = count_names(classes)
        return found

    def _exhibits(self, scores: Any, codes: Any) -> Cell:
        held, n_known = self.held, self.n_known
        return {
            "sheet": sheet(self.items, held, n_known, scores, self._sample(codes)),
            "map": maps(self.items, held, n_known, codes),
        }


if __name__ == "__main__":
    typer.run(main)
