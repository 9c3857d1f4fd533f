"""The grid: 64 bits as attributes of items that were not learnt from.

Of known classes and of novel ones. Bits are named by words, and the names are tested on
further items, on classes that they do not come from, and on texts that were swapped.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis.bits import bit_report, rank_bits
from fewbits.codes import hamming_distances, unpack
from fewbits.learners import DBC, ITQ, LSH, DBCWeights, Learner
from research.common.classic import prepared
from research.core.compare import over_seeds
from research.core.record import Metrics, Record
from research.core.runner import Task, task
from research.core.table import markdown, shown
from research.studies.bits.items import N_NOVEL, divide, load_items
from research.studies.bits.names import (
    Sample,
    check_extremes,
    check_halves,
    check_novel,
    check_swapped,
    count_names,
    shuffled,
)

if TYPE_CHECKING:
    from research.core.study import Study

DATA, SEEDS = ("caltech101-1280", "icd10", "caltech101-classic"), (0, 1, 2)
N_BITS = 64
Make = Callable[..., Learner]
METHODS: dict[str, Make] = {
    "DBC": partial(DBC, weights=DBCWeights(gamma=1.0)),
    "DBC, by category": partial(DBC, codes="category", weights=DBCWeights(gamma=1.0)),
    "ITQ": ITQ,
    "LSH": LSH,
}


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    if tiny:
        yield from cells("digits", 0, ("DBC", "LSH"), 3)
        return
    for data in DATA:
        for seed in SEEDS:
            yield from cells(data, seed, METHODS)


def cells(
    data: str, seed: int, methods: Iterable[str], n_novel: int = N_NOVEL
) -> Iterator[Task]:
    """Yield the cells of one division of the items."""
    for method in methods:
        at = {"data": data, "bits": N_BITS, "method": method, "seed": seed}
        measure = partial(attributes, data, seed, n_novel, METHODS[method])
        yield task("attributes", at, measure)


class Problem:
    """Items of known classes to learn from; others, also of novel classes, to look at.

    Held-out items of known classes come first.
    """

    def __init__(self, name: str, seed: int, n_novel: int) -> None:
        self.items, self.seed = load_items(name), seed
        self.rows, known, novel = divide(self.items.classes, seed, n_novel)
        self.held = np.concatenate([known, novel])
        self.classes = self.items.classes[self.held]
        self.n_known, self.n_novel = len(known), len(novel)

    @cached_property
    def X(self) -> NDArray[np.float32]:
        """The rows as learners see them."""
        return prepared(self.items.name, self.items.X, self.rows)

    def learn(self, make: Make, rows: Any, seed: int) -> Any:
        """Return the encoder that some rows make."""
        learner = make(n_bits=N_BITS, random_state=seed)
        return learner.fit(self.X[rows], self.items.classes[rows]).encoder_


@lru_cache(maxsize=1)
def problem_of(*args: Any) -> Problem:
    """Return a division, the same one for all cells of a seed."""
    return Problem(*args)


def attributes(data: str, seed: int, n_novel: int, make: Make) -> Metrics:
    """Learn codes, and say what their bits are worth as attributes."""
    problem = problem_of(data, seed, n_novel)
    learn, classes = problem.rows, problem.classes
    encoder = problem.learn(make, learn, seed)
    X = problem.X[problem.held]
    scores, codes = encoder.project(X), encoder.encode(X)
    # Items are in the order of their classes: every second one is half of each.
    halves = (
        problem.learn(make, learn[i::2], 100 + 2 * seed + i).encode(X) for i in (0, 1)
    )
    sample = Sample(codes, N_BITS, [problem.items.words[r] for r in problem.held])
    return {
        "items": [len(learn), problem.n_known, problem.n_novel],
        "bits": bit_metrics(scores, codes, classes, problem.n_known),
        "again": found_again(*(unpack(each, N_BITS) for each in halves)),
        "distances": _distances(problem, codes),
        **_names(problem, sample, scores),
    }


def _distances(problem: Problem, codes: Any) -> Metrics:
    """Compare items of known classes with each other, and those of novel ones."""
    kinds, n = problem.items.kinds[problem.held], problem.n_known
    parts = {"known": slice(n), "novel": slice(n, None)}
    return {
        name: distance_metrics(codes[part], problem.classes[part], kinds[part])
        for name, part in parts.items()
    }


def _names(problem: Problem, sample: Sample, scores: Any) -> Metrics:
    rng, n_known = np.random.default_rng(problem.seed), problem.n_known
    return {
        "names": count_names(sample),
        "shuffled": count_names(shuffled(sample, rng)),
        "extremes": check_extremes(sample, scores),
        "halves": check_halves(sample, rng),
        "novel": check_novel(sample, n_known),
        "swapped": check_swapped(sample, problem.classes, n_known, rng),
    }


def bit_metrics(
    scores: NDArray[np.float32], codes: Any, classes: NDArray[Any], n_known: int
) -> Metrics:
    """Return means over the bits; the items of known classes come first."""
    report = bit_report(codes, scores.shape[1])
    ranking = rank_bits(scores, classes)
    return {
        "rarer": float(np.minimum(report.balance, 1 - report.balance).mean()),
        "entropy": float(report.entropy.mean()),
        "effective": report.effective_bits,
        "stability": float(ranking.stability.mean()),
        "least_stability": float(ranking.stability.min()),
        "novel_stability": float(rank_bits(scores[n_known:]).stability.mean()),
        "information": float(ranking.reliable_information.mean()),
    }


def found_again(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the mean correlation of a bit with the most like bit of other codes.

    Of absolute values: which side is called 1 does not matter.
    """
    found = np.abs(_standardized(one).T @ _standardized(other)) / len(one)
    return float(found.max(axis=1).mean())


def _standardized(bits: NDArray[Any]) -> NDArray[np.float64]:
    """Return columns of mean 0 and variance 1; constant ones become 0."""
    spread = bits.std(axis=0)
    return np.asarray((bits - bits.mean(axis=0)) / np.where(spread > 0, spread, 1))


def distance_metrics(
    codes: Any, classes: NDArray[Any], kinds: NDArray[Any]
) -> dict[str, float]:
    """Return mean distances, as shares of the bits, by what two items have in common.

    They are of one class, of different classes of one kind, or of neither.
    """
    distances = hamming_distances(codes, codes) / N_BITS
    same = classes[:, None] == classes
    akin = (kinds[:, None] == kinds) & (kinds != "") & ~same
    itself = np.eye(len(codes), dtype=bool)
    parts = {"class": same & ~itself, "kind": akin, "other": ~same & ~akin}
    return {
        name: float(distances[pairs].mean())
        for name, pairs in parts.items()
        if pairs.any()
    }


def for_claims(records: Iterable[Record]) -> Iterator[Record]:
    """Yield each record with shares of counts, and what controls fall short of."""
    for each in records:
        found = {**each.metrics}
        for test, counts in (
            ("novel", ("direction", "hold")),
            ("swapped", ("direction", "hold")),
            ("extremes", ("extreme", "all")),
        ):
            n_tested = found[test]["tested"]
            for name in counts if n_tested else ():
                found[f"{test}_{name}"] = found[test][name] / n_tested
        novel = found["distances"]["novel"]
        yield replace(each, metrics=found | _beyond_controls(found, novel))


def _beyond_controls(found: Metrics, novel: Metrics) -> dict[str, float]:
    return {
        "beyond_shuffled": found["names"]["sides"] - found["shuffled"]["sides"],
        "direction_gain": found["novel_direction"] - found["swapped_direction"],
        "hold_gain": found["novel_hold"] - found["swapped_hold"],
        "extreme_gain": found["extremes_extreme"] - found["extremes_all"],
        "kind_gain": novel["other"] - novel["kind"],
    }


#: Of the page.
COLUMNS = {
    "effective bits": ("bits/effective", 1),
    "stability": ("bits/stability", 3),
    "found again": ("again", 3),
    "sides named": ("names/sides", 0),
    "words": ("names/words", 0),
    "direction": ("novel_direction", 3),
    "swapped": ("swapped_direction", 3),
}


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""
    drawn = {
        study.titles[data]: {method: _point(study, data, method) for method in METHODS}
        for data in DATA
    }
    rows = [
        [study.titles[data], method, *_row(study, data, method)]
        for data in DATA
        for method in METHODS
    ]
    return {"drawn": drawn, "table": markdown(["data", "method", *COLUMNS], rows)}


def _mean(study: "Study", data: str, method: str, metric: str) -> Any:
    records = study.select("attributes", data=data, method=method)
    (found,) = over_seeds(records, metric).values()
    return found


def _row(study: "Study", data: str, method: str) -> Iterator[str]:
    for metric, digits in COLUMNS.values():
        yield shown(_mean(study, data, method, metric), digits)


def _point(study: "Study", data: str, method: str) -> list[tuple[float, float, float]]:
    x, y = (
        _mean(study, data, method, metric)
        for metric in ("bits/effective", "novel_direction")
    )
    return [(x.mean, y.mean, y.error)]
