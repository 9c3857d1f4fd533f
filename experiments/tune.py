"""What `fewbits tune` chooses, beside every method as it comes.

    python -m experiments.tune --data icd10 --data caltech101-1280

Queries are held out first. The rest is the collection, which the methods learn from
and which is tuned on; seed 0 is left out, since some methods were made while looking at
its queries; of test images, no two seeds share a query. Each method is searched as it
comes, by Hamming distance, and with the 100 nearest codes ranked again by scores, as
`fewbits search --rerank` does, or with 1,000, which tuning never exceeds; the tuned
configuration as it says. Tuning is asked for the best recall within some bytes, also
in half of the time that ITQ takes to encode a vector, for the fewest bytes that reach a
recall of .7, and, where items have labels, for the most accurate votes of neighbours.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Annotated, NamedTuple

import typer

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._machine import machine
from experiments._options import Bits, Data, Only, one_line, wanted
from experiments._projections import SEEDS
from fewbits.encoders import Encoder
from fewbits.inputs import Input
from fewbits.training._methods import make_learner
from fewbits.training.tuning import Configuration, Target, tune
from fewbits.training.tuning._timing import seconds_alone
from fewbits.training.tuning._trial import Trial

K, SHORTLIST, LONGEST = 10, 100, 1000
LENGTHS = (64, 128, 256)  #: Of the defaults.
TUNED_AT = (64, 256)
#: Not those that need labels, nor those whose length cannot be chosen.
FIXED = (
    *("hadamard", "lsh", "pcah", "sh", "bre", "bp", "cbe", "itq", "sp"),
    *("fast-neighbours", "neighbours"),
)
#: Those that learn from labels among the ones that tuning tries, at the lengths of
#: `BY_LABELS` alone: they take minutes, and are not for neighbours by vectors.
SUPERVISED = ("cca-itq", "dbc", "csq", "dch", "llc")
LEAST_RECALL, SHARE_OF_TIME = 0.7, 0.5
MINUTES = 5.0  #: Half of what `fewbits tune` takes unasked.


class Goal(NamedTuple):
    """What tuning is asked for, by bits and the time that ITQ of as many takes."""

    lengths: tuple[int, ...]
    target: Callable[[int, Callable[[], float]], Target]


WITHIN_BYTES, IN_TIME, FEWEST_BYTES, BY_LABELS = (
    "tuned",
    "tuned, in half of ITQ's time",
    f"tuned, for a recall of {LEAST_RECALL:g}",
    "tuned, by labels",
)
GOALS = {
    WITHIN_BYTES: Goal(TUNED_AT, lambda bits, _: Target(max_bytes=bits // 8)),
    IN_TIME: Goal(
        TUNED_AT[-1:],
        lambda bits, itq_us: Target(
            max_bytes=bits // 8, max_encode_us=SHARE_OF_TIME * itq_us()
        ),
    ),
    FEWEST_BYTES: Goal((0,), lambda _, __: Target(at_least=LEAST_RECALL)),
    BY_LABELS: Goal(
        TUNED_AT[:1], lambda bits, _: Target("accuracy", max_bytes=bits // 8)
    ),
}
#: Ways to search that every method has.
SEARCHES = {
    "as it comes": {},
    "re-ranked": {"rerank": "scores", "shortlist": SHORTLIST},
    "re-ranked, most": {"rerank": "scores", "shortlist": LONGEST},
}


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
                problem = Problem(load_features(name, number, unseen=True), number)
            for cell in problem.lineup(name):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(problem.figures, cell))


class Problem:
    """A collection, and queries that nothing has seen."""

    def __init__(self, features: FeatureSet, seed: int) -> None:
        self.features, self.seed = features, seed
        self.labelled = len(features.query_labels) > 0
        self.trial = cache(self._trial)

    def lineup(self, name: str) -> Iterator[Cell]:
        """Yield the cells; there are no more principal components than features."""
        for n_bits in LENGTHS:
            by_labels = self.labelled and n_bits in GOALS[BY_LABELS].lengths
            for method in (*FIXED, *(SUPERVISED if by_labels else ())):
                if method != "pcah" or n_bits <= self.features.database.shape[1]:
                    yield self._cell(name, n_bits, method)
        for goal, (lengths, _) in GOALS.items():
            for n_bits in lengths if self.labelled or goal != BY_LABELS else ():
                yield self._cell(name, n_bits, goal)

    def figures(self, cell: Cell) -> Cell:
        """Tune or take what comes, learn from the collection, and search it."""
        method, n_bits = cell["method"], cell["bits"]
        if method in GOALS:
            return self.tuned(GOALS[method], n_bits)
        chosen = Configuration(method, n_bits, {}, self.seed)
        encoder, seconds = self.learnt(chosen)
        found: Cell = {"fit_seconds": seconds}
        for quality in ("recall", "accuracy") if self.labelled else ("recall",):
            ways = [replace(chosen, **how) for how in SEARCHES.values()]
            measured = self.trial(quality).measure(encoder, ways, seconds)
            for way, each in zip(SEARCHES, measured, strict=True):
                found[f"{quality}, {way}"] = each.quality
                found["encode_us"] = round(each.encode_us, 3)
        return found

    def tuned(self, goal: Goal, n_bits: int) -> Cell:
        """Return the figures of what tuning chooses, and ITQ's time if that matters."""
        itq = cache(lambda: self.learnt(Configuration("itq", n_bits, {}, self.seed))[0])
        target = goal.target(n_bits, lambda: self._encode_us([itq()])[0])
        items = self.features.database
        labels = self.features.database_labels if self.labelled else None
        start = time.perf_counter()
        found = tune(
            Input("vectors", items, labels, "the collection"),
            target,
            k=K,
            minutes=MINUTES,
            max_rows=len(items),
            random_state=self.seed,
        )
        seconds = time.perf_counter() - start
        chosen = found.configuration
        encoder, fit_seconds = self.learnt(chosen)
        trial = self.trial(target.quality)
        (measured,) = trial.measure(encoder, [chosen], fit_seconds)
        # In turn with ITQ: the machine may be slower now than it was then.
        in_turn = [encoder, itq()] if target.max_encode_us else [encoder]
        encode_us, *itq_us = self._encode_us(in_turn)
        return {
            "quality": measured.quality,
            "promised": found.reported.quality,
            "chosen": chosen.described(),
            "bytes": measured.bytes_per_item,
            "encode_us": encode_us,
            "itq_us": itq_us[0] if itq_us else None,
            "untried": found.n_untried,
            "rows": len(items),
            "fit_seconds": fit_seconds,
            "tune_seconds": round(seconds, 1),
            **machine(),
        }

    def learnt(self, chosen: Configuration) -> tuple[Encoder, float]:
        """Return the encoder of a configuration and the seconds it took."""
        learner = make_learner(
            chosen.method, chosen.n_bits, chosen.random_state, chosen.parameters
        )
        start = time.perf_counter()
        labels = self.features.database_labels if learner.needs_labels else None
        encoder = learner.fit(self.features.database, labels).encoder_
        return encoder, round(time.perf_counter() - start, 2)

    def _trial(self, quality: str) -> Trial:
        return Trial(
            self.features.database,
            self.features.database_labels,
            self.features.queries,
            self.features.query_labels,
            quality,
            K,
        )

    def _encode_us(self, encoders: list[Encoder]) -> list[float]:
        seconds = seconds_alone(encoders, self.features.queries)
        return [round(1e6 * each, 3) for each in seconds]

    def _cell(self, name: str, n_bits: int, method: str) -> Cell:
        return {"data": name, "bits": n_bits, "method": method, "seed": self.seed}


if __name__ == "__main__":
    typer.run(main)
