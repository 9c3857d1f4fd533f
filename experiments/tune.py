"""What `fewbits tune` chooses, beside every method as it comes.

    python -m experiments.tune --data icd10 --data caltech101-1280

Queries are held out first. The rest is the collection, which the methods learn from
and which is tuned on; seed 0 is left out, since some methods were made while looking at
its queries; of test images, no two seeds share a query. Each method is searched as it
comes, by Hamming distance, and with the 100 nearest codes ranked again by scores, as
`fewbits search --rerank` does, or with 1,000, the most that tuning tries; the tuned
configuration as it says.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._options import Bits, Data, Only, one_line, wanted
from experiments._projections import SEEDS
from fewbits.encoders import Encoder
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.index import FlatIndex
from fewbits.inputs import Input
from fewbits.training._methods import make_learner
from fewbits.training.tuning import Configuration, Target, tune

K, SHORTLIST, LONGEST = 10, 100, 1000
LENGTHS = (64, 128, 256)
#: Not those that need labels, nor those whose length cannot be chosen.
FIXED = (
    *("hadamard", "lsh", "pcah", "sh", "bre", "bp", "cbe", "itq", "sp"),
    *("fast-neighbours", "neighbours"),
)
TUNED = "tuned"
MINUTES = 30.0


def main(
    data: Data,
    seed: Annotated[list[int] | None, typer.Option(help="1 to 3 if not given.")] = None,
    bits: Bits = None,
    only: Only = None,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("tune")
    for name in data:
        for number in seed or SEEDS:
            with one_line():
                features = load_features(name, number, unseen=True)
            problem = Problem(features, number)
            for cell in lineup(name, number, problem.items.shape[1]):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(problem.figures, cell))


def lineup(name: str, seed: int, n_features: int) -> Iterator[Cell]:
    """Yield the cells of one split; no more principal components than features."""
    for n_bits in LENGTHS:
        for method in (*FIXED, TUNED):
            if method == "pcah" and n_bits > n_features:
                continue
            yield {"data": name, "bits": n_bits, "method": method, "seed": seed}


class Problem:
    """A collection, and queries that nothing has seen."""

    def __init__(self, features: FeatureSet, seed: int) -> None:
        self.items, self.queries, self.seed = features.database, features.queries, seed
        self.nearest = exact_neighbours(self.queries, self.items, K).ids

    def figures(self, cell: Cell) -> Cell:
        """Tune or take what comes, learn from the collection, and search it."""
        if cell["method"] == TUNED:
            return self.tuned(cell["bits"] // 8)
        chosen = Configuration(cell["method"], cell["bits"], {}, self.seed)
        encoder, seconds = self.learnt(chosen)
        return {
            "recall": self.recall(encoder, None),
            "reranked": self.recall(encoder, SHORTLIST),
            "reranked, most": self.recall(encoder, LONGEST),
            "encode_us": self.encode_us(encoder),
            "fit_seconds": seconds,
        }

    def tuned(self, n_bytes: int) -> Cell:
        """Return the figures of what tuning chooses for so many bytes."""
        start = time.perf_counter()
        found = tune(
            Input("vectors", self.items, None, "the collection"),
            Target(max_bytes=n_bytes),
            k=K,
            minutes=MINUTES,
            random_state=self.seed,
        )
        seconds = time.perf_counter() - start
        chosen = found.configuration
        encoder, fit_seconds = self.learnt(chosen)
        return {
            "recall": self.recall(encoder, None),
            "reranked": self.recall(encoder, chosen.shortlist),
            "promised": found.reported.quality,
            "chosen": chosen.described(),
            "bytes": found.best.bytes_per_item,
            "encode_us": self.encode_us(encoder),
            "fit_seconds": fit_seconds,
            "tune_seconds": round(seconds, 1),
        }

    def learnt(self, chosen: Configuration) -> tuple[Encoder, float]:
        """Return the encoder of a configuration and the seconds it took."""
        learner = make_learner(
            chosen.method, chosen.n_bits, chosen.random_state, chosen.parameters
        )
        start = time.perf_counter()
        encoder = learner.fit(self.items).encoder_
        return encoder, round(time.perf_counter() - start, 2)

    def recall(self, encoder: Encoder, shortlist: int | None) -> float:
        """Return the recall of a search, with a shortlist ranked again by scores."""
        index, codes = self._index(encoder), encoder.encode(self.queries)
        found: Any = None
        if shortlist is None:
            found = index.search(codes, K)
        else:
            scores = encoder.project(self.queries)
            found = index.search_reranked(codes, K, scores=scores, shortlist=shortlist)
        return search_recall(found.ids, self.nearest).value

    def encode_us(self, encoder: Encoder) -> float:
        """Return the least time per vector of three batches."""
        times = [_seconds(encoder, self.queries) for _ in range(3)]
        return round(1e6 * min(times) / len(self.queries), 3)

    def _index(self, encoder: Encoder) -> FlatIndex:
        return FlatIndex(encoder.encode(self.items))


def _seconds(encoder: Encoder, rows: NDArray[np.float32]) -> float:
    start = time.perf_counter()
    encoder.encode(rows)
    return time.perf_counter() - start


if __name__ == "__main__":
    typer.run(main)
